"""Slack, PagerDuty, Alertmanager and webhooks: what arrives at a real server."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from collections.abc import Callable

import pytest

from otel_rt4chart.core.errors import NotifyError
from rt4chart_collector.core.alerts.alert import Alert
from rt4chart_collector.core.alerts.stored_facts import facts_from_json
from rt4chart_collector.notify.channels.alertmanager import Alertmanager
from rt4chart_collector.notify.channels.message import ALERT_KINDS, Channel, Message, MessageKind
from rt4chart_collector.notify.channels.pagerduty import PagerDuty
from rt4chart_collector.notify.channels.slack import SlackBot, SlackWebhook
from rt4chart_collector.notify.channels.webhook import Webhook
from tests.rt4chart_collector.notify.channels.made import ALERT, EVIL, EVIL_TEXT, told
from tests.rt4chart_collector.notify.reply_server import Came, Reply, ReplyServer

SECRET = "hush-hush-1"  # noqa: S105 - no password
TARGETS: dict[str, Callable[[str], Channel]] = {
    "slack webhook": lambda url: SlackWebhook(f"{url}/services/{SECRET}"),
    "slack bot": lambda url: SlackBot(SECRET, "C1", url=url),
    "pagerduty": lambda url: PagerDuty(SECRET, url=url),
    "alertmanager": lambda url: Alertmanager(url, token=SECRET),
    "webhook": lambda url: Webhook(f"{url}/{SECRET}", "another"),
}


def sent(name: str, *messages: Message, reply: object = None) -> list[Came]:
    """What the target sends for these messages."""
    with ReplyServer(lambda _: Reply(reply or {"ok": True, "ts": "17.5"})) as server:
        target = TARGETS[name](server.url)
        for message in messages:
            target.send(message)
        return server.came


@pytest.mark.parametrize("name", TARGETS)
@pytest.mark.parametrize("what", sorted(ALERT_KINDS))
def test_every_message_arrives_whole(name: str, what: MessageKind) -> None:
    """One request with JSON that is not too long, also of texts that are meant to do harm."""
    (one,) = sent(name, told(EVIL, what, with_texts=True))

    assert one.method == "POST"
    assert one.headers["content-type"] == "application/json"
    assert json.loads(one.raw) == one.body
    assert len(one.body) > 0
    assert len(one.raw) < 40_000
    assert b"\\u001b" not in one.raw
    assert "\u202e".encode() not in one.raw


@pytest.mark.parametrize("name", TARGETS)
def test_a_refusal_is_told_without_the_secret(name: str) -> None:
    """The one that is in the address too; what the service said is quoted."""

    def answer(one: Came) -> Reply:
        return Reply(
            {"error": f"no {one.headers.get('authorization')} {one.path} {one.raw!r}"}, 403
        )

    with ReplyServer(answer) as server, pytest.raises(NotifyError, match="403") as raised:
        TARGETS[name](server.url).send(told())

    assert SECRET not in str(raised.value)
    assert len(str(raised.value)) < 300


@pytest.mark.parametrize(
    "make", [lambda url: Webhook(url), lambda url: SlackWebhook(url)], ids=["webhook", "slack"]
)
def test_a_part_of_an_address_is_secret_too(make: Callable[[str], Channel]) -> None:
    """A segment or a value of the query that the other end says back, escaped or not."""

    def answer(_: Came) -> Reply:
        return Reply({"error": "no hook T0PS3CRET, key s3cr3t/key or s3cr3t%2Fkey"}, 404)

    with ReplyServer(answer) as server, pytest.raises(NotifyError, match="404") as raised:
        make(f"{server.url}/hooks/T0PS3CRET/x?key=s3cr3t%2Fkey").send(told())

    assert "3CR" not in str(raised.value).upper()


def test_slack_reads_no_markup_of_ours() -> None:
    """Its control characters are escaped, and the blocks are of plain text but the last."""
    (one,) = sent("slack webhook", told(EVIL))
    *blocks, last = [block["text"] for block in one.body["blocks"]]
    texts = [one.body["text"], *(block["text"] for block in blocks)]

    assert all("<" not in text and ">" not in text for text in texts)
    assert {block["type"] for block in blocks} == {"plain_text"}
    address = f"https://rt4chart.example/alerts/{EVIL.id}"
    assert last["text"] == f"<{address}|Open the alert in the console>"
    assert len(one.body["blocks"][0]["text"]["text"]) <= 150


def test_slack_links_the_alert_and_its_worst_answers() -> None:
    """A claim that is quoted there is no markup, mention or link of its own."""
    claim = f"*<!channel>* https://evil.example|x> {EVIL_TEXT}"
    rows = [{"trace_id": "a", "span_id": "b", "claim": claim, "unfaithful": 1, "decided": 2}]
    facts = facts_from_json("route_drift", {"worst_answers": rows})
    alert = Alert("route_drift", "error", facts=facts)
    (one,) = sent("slack webhook", told(alert, with_texts=True))
    text = one.body["blocks"][-1]["text"]

    assert text["type"] == "mrkdwn"
    answer, console = text["text"].split("\n")
    assert answer.startswith("<https://rt4chart.example/answers/a/b|1 of 2 claims unfaithful, “")
    assert answer.count("<") == answer.count(">") == answer.count("|") == 1
    assert not set("*`@!") & set(answer.partition("|")[2].replace("!channel", ""))
    assert console.startswith("<https://rt4chart.example/alerts/")


def test_a_slack_bot_keeps_an_alert_in_one_thread() -> None:
    """Its key is the first message's time; the channel itself is told what has to be seen."""
    with ReplyServer(lambda _: Reply({"ok": True, "ts": "17.5"})) as server:
        bot = SlackBot(SECRET, "C1", url=server.url)
        key = bot.send(told())
        for what in (MessageKind.REMINDED, MessageKind.WORSE, MessageKind.RESOLVED):
            assert bot.send(told(what=what, thread=key)) == key

    assert key == "17.5"
    assert [one.path for one in server.came] == ["/chat.postMessage"] * 4
    assert [one.body.get("thread_ts") for one in server.came] == [None, key, key, key]
    assert [one.body.get("reply_broadcast") for one in server.came] == [None, False, True, True]


@pytest.mark.parametrize("reply", [{"ok": False, "error": "not_in_channel"}, [1]])
def test_slack_refuses_with_200_too(reply: object) -> None:
    """Which is no success."""
    with pytest.raises(NotifyError, match=r"slack: expected ok, got (not_in_channel|another)"):
        sent("slack bot", told(), reply=reply)


def test_pagerduty_has_one_incident_for_an_alert() -> None:
    """Triggered, acknowledged and resolved under one key."""
    whats = (MessageKind.FIRED, MessageKind.WORSE, MessageKind.ACKNOWLEDGED, MessageKind.RESOLVED)
    came = [one.body for one in sent("pagerduty", *(told(what=what) for what in whats))]

    assert [one["event_action"] for one in came] == [
        *("trigger", "trigger", "acknowledge", "resolve")
    ]
    assert {one["dedup_key"] for one in came} == {f"rt4chart:alert:{ALERT.id}"}
    assert {one["routing_key"] for one in came} == {SECRET}
    payload = came[0]["payload"]
    assert (payload["severity"], payload["source"], payload["component"]) == (
        *("critical", "shop", "billing"),
    )
    assert payload["custom_details"]["unfaithful claims"].startswith("6.1%")
    assert [one["href"] for one in came[0]["links"]] == [
        f"https://rt4chart.example/alerts/{ALERT.id}",
        f"https://rt4chart.example/answers/{'a' * 32}/{'b' * 16}#claim-2",
    ]


def test_alertmanager_knows_an_alert_by_its_labels_alone() -> None:
    """No number that changes is among them; while it stands it ends in a quarter of an hour."""
    with ReplyServer(lambda _: Reply(None)) as server:
        manager = Alertmanager(f"{server.url}/am/")
        manager.send(told())
        manager.refresh([told(what=MessageKind.REMINDED), told(EVIL)])
        manager.refresh([])
        manager.send(told(what=MessageKind.RESOLVED))

    assert [one.path for one in server.came] == ["/am/api/v2/alerts"] * 3
    first, kept, over = (one.body for one in server.came)
    assert [len(one) for one in (first, kept, over)] == [1, 2, 1]
    assert first[0]["labels"] == kept[0]["labels"] == over[0]["labels"]
    assert first[0]["labels"] == {
        "alertname": "Rt4chartRouteDrift",
        "severity": "critical",
        "service": "shop",
        "route": "billing",
    }
    assert kept[1]["labels"]["issue_id"] == f"{7:016x}"
    assert [one[0]["endsAt"] for one in (first, over)] == [
        *("2030-03-17T19:01:40Z", "2030-03-17T18:46:40Z")
    ]


def test_a_webhook_sends_what_alertmanagers_receivers_take() -> None:
    """Version 4, with what else is known beside it."""
    firing, over = (one.body for one in sent("webhook", told(), told(what=MessageKind.RESOLVED)))

    assert (firing["version"], firing["status"], over["status"]) == ("4", "firing", "resolved")
    assert firing["groupKey"] == over["groupKey"]
    assert firing["alerts"][0]["labels"] == firing["commonLabels"]
    assert firing["alerts"][0]["endsAt"] == "0001-01-01T00:00:00Z"
    assert over["alerts"][0]["endsAt"] == "2030-03-17T18:46:40Z"
    assert firing["rt4chart"]["event"] == "fired"


@pytest.mark.parametrize("secret", [SECRET, "whsec_" + base64.b64encode(b"bytes").decode()])
def test_a_webhook_is_signed_with_its_id_and_time(secret: str) -> None:
    """As Standard Webhooks says; the same message has the same id, so it is known again."""
    with ReplyServer(lambda _: Reply(None)) as server:
        hook = Webhook(server.url, secret, clock=lambda: 1_900_000_000.7)
        hook.send(told())
        hook.send(told())

    one, again = server.came
    headers = one.headers
    signed = f"{headers['webhook-id']}.1900000000.".encode() + one.raw
    key = b"bytes" if secret.startswith("whsec_") else secret.encode()
    expected = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    assert headers["webhook-signature"] == f"v1,{expected}"
    assert headers["webhook-timestamp"] == "1900000000"
    assert again.headers["webhook-id"] == headers["webhook-id"]


def test_without_a_secret_nothing_is_signed() -> None:
    """The body is the same."""
    with ReplyServer(lambda _: Reply(None)) as server:
        Webhook(server.url).send(told())

    assert "webhook-signature" not in server.came[0].headers
    assert json.loads(server.came[0].raw)["version"] == "4"
