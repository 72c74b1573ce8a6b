"""Slack, PagerDuty and a webhook of one's own: the requests that their documentation asks for.

docs.slack.dev/reference/methods/chat.postMessage and conversations.history,
developer.pagerduty.com/docs/events-api-v2/trigger-events, and standardwebhooks.com with the body
of prometheus.io/docs/alerting/latest/configuration ("webhook_config").
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json

import pytest

from otel_rt4chart.core.errors import TicketError
from rt4chart_clustering.tickets.channels import ChannelTickets, SlackTickets
from rt4chart_clustering.tickets.ticket import FiledTicket, Ticket
from rt4chart_collector.notify.channels.pagerduty import PagerDuty
from rt4chart_collector.notify.channels.slack import SlackBot
from rt4chart_collector.notify.channels.webhook import Webhook
from tests.rt4chart_clustering.tickets.made import EVIL, GROWN, LONG, REGRESSED, TICKET
from tests.rt4chart_collector.notify.reply_server import Came, Reply, ReplyServer


def slack(one: Came) -> Reply:
    """A channel without messages."""
    if one.path.endswith("history"):
        return Reply({"ok": True, "messages": []})
    return Reply({"ok": True, "channel": "C1", "ts": "17.1"})


def test_slack_gets_a_message_with_its_metadata() -> None:
    """Blocks, one line for notifications, and which issue it is of."""
    with ReplyServer(slack) as server:
        filed = SlackTickets(SlackBot("xoxb-1", "C1", url=server.url)).create(TICKET)

    (one,) = server.came
    assert filed == FiledTicket("17.1")
    assert (one.path, one.headers["authorization"]) == ("/chat.postMessage", "Bearer xoxb-1")
    assert one.body["channel"] == "C1"
    assert one.body["text"] == f"high: {TICKET.title}"
    assert one.body["blocks"][0]["type"] == "header"
    assert one.body["metadata"] == {
        "event_type": "rt4chart_issue",
        "event_payload": {"issue": TICKET.id},
    }


def test_slack_finds_its_message_and_answers_in_the_thread() -> None:
    """By the metadata, among the last messages of the channel."""
    mine = {"event_type": "rt4chart_issue", "event_payload": {"issue": TICKET.id}}
    other = {"event_type": "rt4chart_issue", "event_payload": {"issue": "ff"}}
    messages = [{"ts": "3"}, {"ts": "2", "metadata": other}, {"ts": "1", "metadata": mine}]
    with ReplyServer(lambda _: Reply({"ok": True, "messages": messages})) as server:
        system = SlackTickets(SlackBot("t", "C1", url=server.url))
        filed = system.find(TICKET)
        assert filed == FiledTicket("1")
        assert system.update(filed, TICKET, GROWN)

    looked, told = server.came
    assert looked.query == {"channel": "C1", "limit": "200", "include_all_metadata": "true"}
    assert (told.body["thread_ts"], told.body["text"]) == ("1", GROWN.text)


def test_slack_says_with_status_200_that_it_refuses() -> None:
    """What it lacks is told."""
    reply = {"ok": False, "error": "missing_scope", "needed": "channels:history"}
    told = r"missing_scope \(needs channels:history\)"
    with ReplyServer(lambda _: Reply(reply)) as server, pytest.raises(TicketError, match=told):
        SlackTickets(SlackBot("t", "C1", url=server.url)).find(TICKET)


@pytest.mark.parametrize("ticket", [EVIL, LONG], ids=["evil", "long"])
def test_slack_reads_no_mention_in_a_text_and_its_limits_are_kept(ticket: Ticket) -> None:
    """Header 150 characters, a text object 3,000."""
    with ReplyServer(slack) as server:
        SlackTickets(SlackBot("t", "C1", url=server.url)).create(ticket)

    body = server.came[0].body
    assert len(body["blocks"][0]["text"]["text"]) <= 150
    assert all(len(one["text"]["text"]) <= 3_000 for one in body["blocks"])
    assert {one["text"]["type"] for one in body["blocks"]} == {"plain_text"}
    assert not {"<", ">"} & set(json.dumps([body["text"], body["blocks"]]))
    assert len(body["blocks"]) <= 50


def accepted(_: Came) -> Reply:
    """What PagerDuty answers."""
    return Reply({"status": "success", "message": "Event processed", "dedup_key": "k"}, 202)


def test_pagerduty_gets_a_trigger_under_the_issues_own_key() -> None:
    """So the same twice is one alert."""
    with ReplyServer(accepted) as server:
        filed = ChannelTickets(PagerDuty("r" * 32, url=server.url)).create(TICKET)

    event = server.came[0].body
    assert filed == FiledTicket("rt4chart:issue:ab00000000000001")
    assert event["routing_key"] == "r" * 32
    assert (event["event_action"], event["dedup_key"]) == ("trigger", filed.key)
    payload = event["payload"]
    assert (payload["summary"], payload["source"]) == (TICKET.title, "shop")
    assert (payload["severity"], payload["component"]) == ("error", "billing")
    assert payload["custom_details"]["claims"] == "8 in 8 answers"


def test_pagerduty_is_told_of_a_regression_alone_and_under_a_key_of_its_own() -> None:
    """An event under the first key would open again what a person has resolved."""
    with ReplyServer(accepted) as server:
        system = ChannelTickets(PagerDuty("k", url=server.url))
        assert not system.update(FiledTicket("k"), TICKET, GROWN)
        assert system.update(FiledTicket("k"), TICKET, REGRESSED)

    (one,) = server.came
    assert one.body["dedup_key"] == "rt4chart:issue:ab00000000000001:regressed:7"
    assert one.body["payload"]["summary"] == REGRESSED.text


@pytest.mark.parametrize("ticket", [EVIL, LONG], ids=["evil", "long"])
def test_pagerduty_keeps_to_its_limits(ticket: Ticket) -> None:
    """A summary has 1,024 characters, a key 255."""
    with ReplyServer(accepted) as server:
        ChannelTickets(PagerDuty("k", url=server.url)).create(ticket)

    event = server.came[0].body
    assert 0 < len(event["payload"]["summary"]) <= 1_024
    assert len(event["dedup_key"]) <= 255
    assert "\x1b" not in event["payload"]["summary"]


@pytest.mark.parametrize("secret", ["a plain secret", "whsec_" + base64.b64encode(b"k").decode()])
def test_a_webhook_is_signed_as_the_standard_says(secret: str) -> None:
    """HMAC-SHA256 over id, time and body; the id is the same when it is sent again."""
    with ReplyServer(lambda _: Reply(code=204)) as server:
        system = ChannelTickets(Webhook(server.url, secret, clock=lambda: 1_700_000_000.9))
        filed = system.create(TICKET)
        system.create(TICKET)
        assert system.update(filed, TICKET, GROWN)

    first, again, told = server.came
    name, at = first.headers["webhook-id"], first.headers["webhook-timestamp"]
    assert (name, at) == ("rt4chart:issue:ab00000000000001", "1700000000")
    key = b"k" if secret.startswith("whsec_") else secret.encode()
    wanted = hmac.new(key, f"{name}.{at}.".encode() + first.raw, hashlib.sha256).digest()
    assert first.headers["webhook-signature"] == "v1," + base64.b64encode(wanted).decode()
    assert again.headers["webhook-id"] == name
    assert told.headers["webhook-id"] == f"{name}:grown:25"


def test_a_webhook_has_the_shape_of_alertmanagers_and_more() -> None:
    """What receives that can receive this; without a secret nothing is signed."""
    with ReplyServer(lambda _: Reply(code=204)) as server:
        ChannelTickets(Webhook(server.url)).create(EVIL)

    (one,) = server.came
    assert "webhook-signature" not in one.headers
    assert (one.body["version"], one.body["status"]) == ("4", "firing")
    (alert,) = one.body["alerts"]
    assert alert["labels"]["issue_id"] == TICKET.id
    assert alert["startsAt"] == "2026-11-21T00:00:00Z"
    assert alert["endsAt"] == "0001-01-01T00:00:00Z"
    assert one.body["rt4chart"]["event"] == "created"
    assert one.body["rt4chart"]["examples"][0]["label"] == "contradicted"
