"""Alerting as the monitor calls it: the store, real targets, and what happens when one is away."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest

from otel_rt4chart.core.errors import InputError
from otel_rt4chart.core.settings import load
from rt4chart_collector.core.alerts.alert import Alert
from rt4chart_collector.core.alerts.silence import Silence
from rt4chart_collector.core.alerts.state import AlertEventKind
from rt4chart_collector.core.settings import AlertSettings
from rt4chart_collector.notify.alerting import MOST_MESSAGES, Alerting
from rt4chart_collector.store.alerts.alert_events import (
    acknowledge,
    alert_states,
    alert_trail,
    open_alerts,
    snooze,
)
from rt4chart_collector.store.alerts.silences import add_silence
from rt4chart_collector.store.engine.connect import Client
from tests.rt4chart_collector.notify.reply_server import Came, Reply, ReplyServer
from tests.rt4chart_collector.notify.world import DRIFT, HOUR, ISSUE, MINUTE, START


def alerting(server: ReplyServer, **more: str) -> Alerting:
    """One that tells a webhook, and whatever else is asked for, at the server."""
    environ = {"RT4CHART_ALERTS_WEBHOOK": f"{server.url}/hook"}
    environ |= {f"RT4CHART_ALERTS_{name}": value for name, value in more.items()}
    return Alerting(load(AlertSettings, environ=environ))


def events(server: ReplyServer) -> list[str]:
    """What the webhook was told, in order."""
    return [one.body["rt4chart"]["event"] for one in server.came if one.path == "/hook"]


def test_an_alert_fires_is_told_once_and_ends(any_client: Client) -> None:
    """Also where each round is another process."""
    with ReplyServer(lambda _: Reply({})) as server:
        for minute, wrong in ((0, [DRIFT]), (1, [DRIFT]), (2, []), (33, []), (34, [])):
            alerting(server).process(any_client, wrong, now_ns=START + minute * MINUTE)

    assert events(server) == ["fired", "resolved"]
    (state,) = alert_states(any_client, now_ns=START + HOUR)
    assert (state.state, state.resolved_by) == ("resolved", "rt4chart")
    assert [one.kind for one in reversed(alert_trail(any_client, DRIFT.id))] == [
        *(
            AlertEventKind.FIRED,
            AlertEventKind.NOTIFIED,
            AlertEventKind.QUIET,
            AlertEventKind.RESOLVED,
            AlertEventKind.NOTIFIED,
        )
    ]


def test_what_people_do_is_heeded(client: Client) -> None:
    """An acknowledgement, a snooze, a maintenance window."""
    window = Silence(START, START + HOUR, {"rule": "new_issue"})
    add_silence(client, window, now_ns=START)
    with ReplyServer(lambda _: Reply({})) as server:
        one = alerting(server)
        one.process(client, [DRIFT, ISSUE], now_ns=START)
        acknowledge(client, DRIFT.id, actor="ann", now_ns=START + MINUTE)
        one.process(client, [DRIFT, ISSUE], now_ns=START + 2 * MINUTE)
        snooze(client, DRIFT.id, until_ns=START + HOUR, actor="ann", now_ns=START + 3 * MINUTE)
        one.process(client, [ISSUE], now_ns=START + 4 * MINUTE)
        one.process(client, [ISSUE], now_ns=START + 40 * MINUTE)
        assert events(server) == ["fired", "acknowledged"]
        one.process(client, [ISSUE], now_ns=START + HOUR)

    assert events(server)[:2] == ["fired", "acknowledged"]
    assert sorted(events(server)[2:]) == ["fired", "resolved"]


def test_a_target_that_is_away_is_told_later_and_holds_nobody_up(client: Client) -> None:
    """The failure stands in the trail with its reason."""
    is_away = [True]

    def answer(one: Came) -> Reply:
        return Reply({}, 503 if is_away[0] and one.path == "/hook" else 200)

    with ReplyServer(answer) as server:
        one = alerting(server, PAGERDUTY="key", PAGERDUTY_URL=f"{server.url}/pd")
        one.process(client, [DRIFT], now_ns=START)
        (state,) = open_alerts(client, now_ns=START + 1)
        assert (state.deliveries["webhook"].failures, state.deliveries["pagerduty"].what) == (
            1,
            "fired",
        )
        assert "503" in state.deliveries["webhook"].error
        one.process(client, [DRIFT], now_ns=START + MINUTE // 2)
        assert len(server.came) == 2
        is_away[0] = False
        one.process(client, [DRIFT], now_ns=START + MINUTE)

    assert events(server) == ["fired", "fired"]
    assert [came.headers.get("webhook-id") for came in server.came].count(None) == 1
    assert len({came.headers.get("webhook-id") for came in server.came}) == 2


def test_receivers_that_hang_do_not_delay_one_that_works(client: Client) -> None:
    """It is asked while they are: the first of seven, and the last, in the order of settings."""
    hanging = threading.Barrier(7)

    def answer(_: Came) -> Reply:
        hanging.wait(30)
        return Reply({})

    with ReplyServer(answer) as server:
        addresses = " ".join(f"json://{server.place}/{number}" for number in range(6))
        one = alerting(server, APPRISE=addresses)
        one.process(client, [DRIFT], now_ns=START)

    (state,) = open_alerts(client, now_ns=START + 1)
    assert len(state.deliveries) == 7
    assert {each.what for each in state.deliveries.values()} == {"fired"}
    kinds = [event.kind for event in alert_trail(client, DRIFT.id)]
    assert kinds.count(AlertEventKind.NOTIFIED) == 7


def test_many_alerts_at_once_are_told_over_several_rounds_the_worst_first(client: Client) -> None:
    """A target that fails is asked once a round, not once an alert."""
    flood = [Alert("new_issue", "warning", "shop", "r", number) for number in range(1, 30)]
    flood.append(Alert("no_data", "critical", "shop", "r"))
    with ReplyServer(lambda _: Reply({})) as server:
        one = alerting(server)
        one.process(client, flood, now_ns=START)
        assert len(events(server)) == MOST_MESSAGES
        assert server.came[0].body["commonLabels"]["severity"] == "critical"
        one.process(client, flood, now_ns=START + MINUTE)
        assert len(events(server)) == 30
    with ReplyServer(lambda _: Reply({}, 500)) as server:
        alerting(server).process(client, [], now_ns=START + 2 * HOUR)
        alerting(server).process(client, [], now_ns=START + 4 * HOUR)

    assert len(server.came) == 1


def test_a_round_has_an_end(client: Client) -> None:
    """What it did not come to is due in the next."""
    moments = iter([0.0, 0.0, 59.0, 61.0, 61.0])
    with ReplyServer(lambda _: Reply({})) as server:
        settings = load(AlertSettings, environ={"RT4CHART_ALERTS_WEBHOOK": f"{server.url}/hook"})
        slow: Callable[[], float] = lambda: next(moments)  # noqa: E731
        one = Alerting(settings, clock=slow)
        wrong = [Alert("new_issue", "warning", "shop", "r", number) for number in (1, 2, 3)]
        one.process(client, wrong, now_ns=START)
        assert len(server.came) == 2
        alerting(server).process(client, wrong, now_ns=START + MINUTE)

    assert events(server) == ["fired"] * 3


def test_alertmanager_is_told_again_each_round(client: Client) -> None:
    """As it forgets what it is not told; that is no event. A silence does not end it there."""
    with ReplyServer(lambda _: Reply(None)) as server:
        one = alerting(server, ALERTMANAGER=server.url)
        one.process(client, [DRIFT], now_ns=START)
        snooze(client, DRIFT.id, until_ns=START + HOUR, actor="ann", now_ns=START + 1)
        for minute in (1, 2):
            one.process(client, [DRIFT], now_ns=START + minute * MINUTE)

    pushed = [came for came in server.came if came.path == "/api/v2/alerts"]
    assert [came.body[0]["endsAt"][11:19] for came in pushed] == [
        *("18:01:40", "18:01:40", "18:02:40", "18:03:40")
    ]
    kinds = [event.kind for event in alert_trail(client, DRIFT.id)]
    assert kinds.count(AlertEventKind.NOTIFIED) == 2


def test_without_targets_alerts_stand_in_the_history(client: Client) -> None:
    """The console shows them."""
    Alerting(load(AlertSettings, environ={})).process(client, [DRIFT], now_ns=START)

    (state,) = open_alerts(client, now_ns=START + 1)
    assert (state.state, dict(state.deliveries)) == ("firing", {})


def test_a_rule_that_there_is_not_is_refused(client: Client) -> None:
    """The message lists those that there are."""
    with pytest.raises(InputError, match=r"expected one of route_drift, .* got 'else'"):
        Alerting(load(AlertSettings, environ={})).process(
            client, [Alert("else", "info")], now_ns=START
        )
