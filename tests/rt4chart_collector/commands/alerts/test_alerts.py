"""`rt4chart alerts` on a stored database: what it does, and what it says."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable
from dataclasses import replace

import pytest

from otel_rt4chart.cli import main
from rt4chart_collector.core.alerts.state import AlertEvent, AlertEventKind
from rt4chart_collector.notify.prometheus_rules import rule_file
from rt4chart_collector.store.alerts.alert_events import open_alerts, record_alert_events
from rt4chart_collector.store.alerts.silences import silences
from rt4chart_collector.store.engine.connect import Client
from tests.rt4chart_collector.notify.channels.made import ALERT, EVIL
from tests.rt4chart_collector.notify.reply_server import Came, Reply, ReplyServer
from tests.rt4chart_collector.notify.world import HOUR, ISSUE

Run = Callable[..., int]
TICK_S = 300
COLUMNS = (
    *("ServiceName", "Route", "VerifierId", "Tick", "Environment", "Model", "PromptVersion"),
    *("Release", "Decision", "SampleRate", "Decided", "Unfaithful", "Answers", "Contradicted"),
    *("Baseless", "Undecided"),
)


@pytest.fixture
def run(dsn: str) -> Run:
    """`rt4chart alerts` on the test's database."""
    return lambda *argv: main(["alerts", "--dsn", dsn, *argv])


def fire(client: Client) -> int:
    """Two alerts of an hour ago; the time now."""
    now = time.time_ns()
    record_alert_events(
        client, [AlertEvent(one, now - HOUR, AlertEventKind.FIRED) for one in (ALERT, ISSUE)]
    )
    return now


def test_open_alerts_are_listed(
    client: Client, run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    """With or without the word; as JSON with their facts."""
    assert run() == 0
    assert capsys.readouterr().out == "No open alerts.\n"
    fire(client)

    assert run() == run("list") == 0
    once, again = capsys.readouterr().out.rstrip().split("\n")[:3], ALERT.id[:8]
    assert any(again in line and "route_drift" in line and "1 h 0 min" in line for line in once)
    assert run("--json") == run("list", "--json") == 0
    text = capsys.readouterr().out
    first, _ = json.JSONDecoder().raw_decode(text)
    assert {one["id"]: one["state"] for one in first} == {ALERT.id: "firing", ISSUE.id: "firing"}
    assert next(one for one in first if one["id"] == ALERT.id)["facts"]["after"]["claims"] == 400


def test_one_alert_is_shown_with_its_facts_and_its_trail(
    client: Client, run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    """By the first digits of its id."""
    fire(client)

    assert run("ack", ALERT.id[:6], "--by", "ann", "--note", "on it") == 0
    assert run("show", ALERT.id[:6]) == 0

    told = capsys.readouterr().out
    assert "6.1% (5.5% to 6.7%), 8000 claims in 1600 answers" in told
    assert "acknowledged by ann on it" in told
    assert run("show", ALERT.id, "--json") == 0
    assert len(json.loads(capsys.readouterr().out)["trail"]) == 2


def test_a_message_that_failed_says_when_it_is_tried_next(
    client: Client, run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    """And a list calls the time of firing so, and says all that an alert is."""
    now = fire(client)
    body = {"target": "slack", "message": "m", "what": "fired"}
    record_alert_events(
        client, [AlertEvent(ALERT, now, AlertEventKind.FAILED, {**body, "error": "away"})]
    )

    assert run("show", ALERT.id) == 0
    assert re.search(r"to slack +failed 1 time, tried next at ", capsys.readouterr().out)
    assert run("ack", ALERT.id, "--by", "ann") == run("snooze", ALERT.id, "--for", "4h") == 0
    assert run("show", ALERT.id) == 0
    assert "tried next when the silence is over, at" in capsys.readouterr().out
    assert run("list") == 0
    told = capsys.readouterr().out
    assert "silenced, acknowledged" in told
    assert " fired " in told
    assert " since " not in told


def test_texts_of_strangers_steer_no_terminal(
    client: Client, run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    """In no table and on no page."""
    record_alert_events(client, [AlertEvent(EVIL, time.time_ns() - HOUR, AlertEventKind.FIRED)])

    assert run("list") == run("show", EVIL.id) == run("history") == 0

    told = capsys.readouterr().out
    assert "\x1b" not in told
    assert "\u202e" not in told


def test_people_resolve_and_snooze(
    client: Client, run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    """And are told what that means, with how to undo it."""
    now = fire(client)

    assert run("resolve", ALERT.id, "--by", "ann") == 0
    assert "it fires again once it has gone and come back" in capsys.readouterr().out
    assert run("accept", ALERT.id, "--by", "ann") == 0
    assert run("snooze", ISSUE.id, "--for", "4h", "--by", "ann") == 0

    (state,) = open_alerts(client, now_ns=time.time_ns())
    assert (state.id, state.state) == (ISSUE.id, "silenced")
    (kept,) = silences(client, now)
    assert 0 <= kept.ends_ns - now - 4 * HOUR < HOUR
    told = capsys.readouterr().out
    assert "is the route's usual one from now on, and only a further rise fires" in told
    assert run("accept", ALERT.id, "--undo", "--by", "ann") == 0
    assert run("accept", ISSUE.id) == 2
    assert f"rt4chart alerts maintenance --end {kept.id}" in told
    assert run("maintenance", "--end", "x") == 2
    assert run("maintenance", "--end", kept.id[:6]) == 0
    assert open_alerts(client, now_ns=time.time_ns())[0].state == "firing"


def test_maintenance_needs_to_know_of_what(
    client: Client, run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    """Everything has to be said."""
    assert run("maintenance") == 0
    assert capsys.readouterr().out == "No silences.\n"
    assert run("maintenance", "--for", "2h", "--by", "ann") == 2
    assert "--everything" in capsys.readouterr().err
    assert run("maintenance", "--for", "2h", "--everything", "--by", "ann") == 0
    assert (
        run(
            *("maintenance", "--for", "1h", "--in", "30m", "--service", "shop", "--route", ""),
            *("--rule", "no_data", "--by", "bob", "--note", "a release", "--json"),
        )
        == 0
    )

    found = silences(client, time.time_ns())
    assert [one.matchers for one in found] == [
        *({}, {"rule": "no_data", "service": "shop", "route": ""})
    ]
    assert found[1].ends_ns - found[1].starts_ns == HOUR


def test_history_goes_by_pages(
    client: Client, run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    """And says which page is next."""
    fire(client)

    assert run("history", "--limit", "1") == 0
    assert "1 of 2: --page 2" in capsys.readouterr().out
    assert run("history", "--limit", "1", "--page", "2", "--json") == 0
    (one,) = json.loads(capsys.readouterr().out)
    assert one["ended_ns"] == 0
    assert run("history", "--rule", "backlog") == 0
    assert capsys.readouterr().out == "No alert fired in that time.\n"


@pytest.mark.parametrize("words", [("ack", "00"), ("show", "zz"), ("snooze", "", "--for", "1h")])
def test_an_alert_that_is_not_there_is_told(
    client: Client, run: Run, capsys: pytest.CaptureFixture[str], words: tuple[str, ...]
) -> None:
    """And one that is meant in two ways, which nothing is begun by."""
    fire(client)

    assert run(*words) == 2
    assert "expected one alert whose id begins with" in capsys.readouterr().err


def test_a_test_alert_says_per_target_what_came_back(
    run: Run, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that refuses is a failure, with its reason; the others are told nevertheless."""

    def answer(one: Came) -> Reply:
        return Reply({}, 403 if one.path.startswith("/pd") else 200)

    with ReplyServer(answer) as server:
        monkeypatch.setenv("RT4CHART_ALERTS_WEBHOOK", f"{server.url}/hook")
        monkeypatch.setenv("RT4CHART_ALERTS_PAGERDUTY", "key")
        monkeypatch.setenv("RT4CHART_ALERTS_PAGERDUTY_URL", f"{server.url}/pd")
        assert run("test", "--json") == 1
        told = {one["target"]: one for one in json.loads(capsys.readouterr().out)}
        assert run("test", "--target", "webhook") == 0
        assert run("test", "--target", "slack") == 2

    assert told["webhook"]["is_told"]
    assert "403" in told["pagerduty"]["said"]
    hooks = [one.body["rt4chart"] for one in server.came if one.path == "/hook"]
    assert [one["event"] for one in hooks] == ["fired", "resolved"] * 2
    assert hooks[0]["title"] == "info: This is a test"


def test_without_a_target_it_is_said_what_to_set(
    run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each variable that names one."""
    assert run("test") == 2
    assert "RT4CHART_ALERTS_SLACK" in capsys.readouterr().err


def test_rules_for_prometheus_are_printed(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    """The file itself, or its rules."""
    assert run("rules", "--threshold", "0.15") == 0
    assert capsys.readouterr().out == rule_file(threshold=0.15)
    assert run("rules", "--json") == 0
    assert len(json.loads(capsys.readouterr().out)) == 6


def test_backtest_says_what_would_have_been(
    client: Client, run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    """Per rule and per alarm; nothing is written."""
    assert run("backtest") == 0
    assert "no verified answer" in capsys.readouterr().out
    now = int(time.time()) // TICK_S * TICK_S
    rows = []
    for hour in range(1, 18 * 24):
        bad = 20 if hour < 48 else 4 + hour % 3
        at = now - hour * 3600
        names = ("shop", "pay", "v", at, "", "m", "p", "r", "verified", 1.0)
        rows += [(*names, 5, 0, 40 - bad, 0, 0, 0), (*names, 5, 2, bad, 2 * bad, 0, 0)]
    client.insert("rt4chart_route_5m", rows, COLUMNS)

    assert run("backtest", "--days", "4") == 0
    told = capsys.readouterr().out
    assert run("backtest", "--days", "4", "--rule", "evidence", "--json") == 0
    measured = json.loads(capsys.readouterr().out)
    assert run("backtest", "--days", "4", "--measure", "misleading") == 0
    misleading = capsys.readouterr().out

    assert "no verified answer" in misleading
    assert all(word in told for word in ("evidence", "threshold", "window", "rise began"))
    (one,) = measured
    (alarm,) = one["alarms"]
    assert one["measure"] == "unfaithful"
    assert abs(alarm["began_ns"] / 1e9 - (now - 48 * 3600)) < 3 * 3600
    assert alarm["before"]["low"] < 0.05 < alarm["before"]["high"] < alarm["after"]["low"]
    assert open_alerts(client, now_ns=time.time_ns()) == []


def test_alerts_of_a_name_are_told_apart(client: Client, run: Run) -> None:
    """A digit that two ids begin with is neither."""
    now = time.time_ns()
    many = [replace(ISSUE, issue_id=number) for number in range(1, 18)]
    record_alert_events(client, [AlertEvent(one, now - HOUR, AlertEventKind.FIRED) for one in many])
    digits = [one.id[0] for one in many]

    assert run("ack", next(one for one in digits if digits.count(one) > 1), "--by", "ann") == 2
