"""What the monitor finds wrong with issues."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rt4chart_collector.core.alerts.facts import GrowingIssueFacts, IssueFacts, NewIssueFacts
from rt4chart_collector.core.settings import AlertSettings
from rt4chart_collector.detect.drift.policy import DAY_NS
from rt4chart_collector.detect.monitor.issue_alerts import (
    is_growing,
    is_new,
    issue_alerts,
    seen_today,
    traffic_growth,
)
from rt4chart_collector.notify.alerting import Alerting
from rt4chart_collector.store.answers.verdicts import insert_verdicts
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.issues.issue_events import IssueEvent, record_events
from rt4chart_collector.store.issues.issue_figures import DayWeight
from rt4chart_collector.store.issues.issues import WatchedIssue
from tests.rt4chart_clustering.issues import FIRST, SECOND_ID, store_issue
from tests.rt4chart_clustering.made import NOON, SECOND, added, numbers, verdict
from tests.rt4chart_collector.notify.reply_server import Reply, ReplyServer

NOW = NOON + 600 * SECOND
OLD = WatchedIssue(
    id=1,
    title="Number differs",
    service="shop",
    route="billing",
    first_ns=NOW - 9 * DAY_NS,
    born_ns=NOW - 9 * DAY_NS,
    state="open",
    state_ns=NOW - 9 * DAY_NS,
)


def test_new_and_regressed_issues_are_alerts(client: Client) -> None:
    """With the issue's id, title, service and route."""
    store_issue(client, numbers(3))
    back = store_issue(client, added(), number=SECOND_ID, state="regressed")

    new, regressed = issue_alerts(client, now_ns=NOW)

    assert (new.rule, new.issue_id, new.route) == ("new_issue", FIRST, "billing")
    assert (regressed.rule, regressed.issue_id) == ("regressed_issue", SECOND_ID)
    assert regressed.severity == "error"
    assert regressed.facts == IssueFacts(
        issue=f"{SECOND_ID:016x}", title=back.title, since_ns=regressed.starts_ns
    )
    assert back.title in regressed.title


def test_an_issue_that_somebody_has_seen_is_new_no_more(client: Client) -> None:
    """The alert then has nothing that speaks for it."""
    store_issue(client, numbers(3))
    record_events(client, [IssueEvent(FIRST, NOW, "state", "acknowledged", actor="ann")])

    assert issue_alerts(client, now_ns=NOW) == []


def test_what_a_grouping_finds_in_old_failures_is_no_news() -> None:
    """Nor is what was found more than a day ago."""
    young = replace(OLD, state="new", first_ns=NOW - DAY_NS // 2, born_ns=NOW)

    assert is_new(young, NOW)
    assert not is_new(replace(young, first_ns=NOW - 3 * DAY_NS), NOW)
    assert not is_new(young, NOW + DAY_NS)


def test_the_first_run_is_one_message_and_later_ones_are_not(client: Client) -> None:
    """With the number of issues, the five with the most failures, and where they are listed."""
    sizes = (1, 2, 3, 4, 5, 6, 7)
    for number, size in enumerate(sizes, 1):
        store_issue(client, numbers(size, first=number * 10), number=number, title=f"Kind {number}")

    (digest,) = issue_alerts(client, now_ns=NOW)
    failures = numbers(1, first=200)
    later = store_issue(client, failures, number=99, title="Later", at_ns=NOW + 3600 * SECOND)
    alerts = issue_alerts(client, now_ns=NOW + 3600 * SECOND)
    record_events(client, [IssueEvent(7, NOW, "state", "acknowledged", actor="ann")])
    seen = issue_alerts(client, now_ns=NOW + 3600 * SECOND)

    assert (digest.rule, digest.severity, digest.issue_id, digest.route) == (
        "new_issue",
        "warning",
        0,
        "",
    )
    assert digest.title == "7 new issues in the first grouping run"
    assert isinstance(digest.facts, NewIssueFacts)
    assert [(one.title, round(one.share, 3)) for one in digest.facts.largest] == [
        (f"Kind {number}", round(number / 28, 3)) for number in (7, 6, 5, 4, 3)
    ]
    assert [alert.title for alert in alerts] == [digest.title, f"New issue: {later.title}"]
    assert alerts[0].id == seen[0].id == digest.id

    with ReplyServer(lambda _: Reply({})) as server:
        settings = AlertSettings(alerts_webhook=f"{server.url}/hook", alerts_console="http://c")
        Alerting(settings).process(client, [digest], now_ns=NOW)
    (came,) = server.came
    told = came.body["rt4chart"]
    assert [link["url"] for link in told["links"]] == [
        "http://c/issues",
        *(f"http://c/issues/{number:016x}" for number in (7, 6, 5, 4, 3)),
    ]
    assert told["links"][1]["text"] == "25% Kind 7 (shop/billing)"


@pytest.mark.parametrize(
    ("daily", "expected"),
    [
        ((30.0, *(10.0,) * 7), True),
        ((29.0, *(10.0,) * 7), False),
        ((9.0, *(0.0,) * 7), False),
        ((10.0, *(0.0,) * 7), True),
    ],
)
def test_three_times_the_usual_and_ten_at_least_is_growth(
    daily: tuple[float, ...], expected: bool
) -> None:
    """Of an issue that is two days old, and that nobody ignores."""
    assert is_growing(OLD, daily, NOW) is expected
    assert not is_growing(replace(OLD, first_ns=NOW - DAY_NS), daily, NOW)
    assert not is_growing(replace(OLD, state="ignored"), daily, NOW)


def test_more_traffic_alone_is_no_growth() -> None:
    """Three times the failures of three times the claims are the usual share; fewer are more."""
    daily = (30.0, *(10.0,) * 7)

    assert not is_growing(OLD, daily, NOW, traffic_growth((3000.0, *(1000.0,) * 7)))
    assert is_growing(OLD, (10.0, *(5.0,) * 7), NOW, traffic_growth((500.0, *(1000.0,) * 7)))
    assert traffic_growth((500.0, 0.0, 1000.0, 0.0)) == 0.5
    assert traffic_growth((500.0, 0.0)) == traffic_growth((0.0, 500.0)) == traffic_growth(()) == 1.0


def test_a_growing_issue_says_by_how_much(client: Client) -> None:
    """Failures of today and a day before, as they stand for others."""
    earlier = [replace(one, time_ns=NOON - 4 * DAY_NS) for one in numbers(2)]
    store_issue(client, [*earlier, *numbers(12, first=20)], state="open")
    sound = [replace(one, time_ns=NOON - 4 * DAY_NS) for one in numbers(10, first=40)]
    insert_verdicts(client, [verdict(one) for one in sound])

    (alert,) = issue_alerts(client, now_ns=NOW)

    assert alert.rule == "growing_issue"
    assert isinstance(alert.facts, GrowingIssueFacts)
    assert (alert.facts.failures_today, alert.facts.seen_today) == (12.0, 12)
    assert alert.facts.claims_today_over_before == 1.0
    assert alert.facts.failures_a_day_before == pytest.approx(2 / 3, rel=0.01)


@pytest.mark.parametrize(("today", "expected"), [(9, 0), (10, 1)])
def test_a_failure_that_stands_for_many_is_still_one(
    client: Client, today: int, expected: int
) -> None:
    """Ten failures are to be seen: at a low sampling rate each is a hundred by weight."""
    earlier = [replace(one, time_ns=NOON - 4 * DAY_NS) for one in numbers(11)]
    sound = [replace(verdict(one), sample_rate=0.01) for one in earlier[1:]]
    insert_verdicts(client, sound)
    failures = [earlier[0], *numbers(today, first=20)]
    store_issue(client, failures, state="open", sample_rate=0.01)

    assert len(issue_alerts(client, now_ns=NOW)) == expected


def test_failures_of_an_alias_are_its_issues() -> None:
    """Those of today alone are seen."""
    known = [replace(OLD, aliases=(7,))]
    weights = [
        DayWeight(1, "baseless", 0, 40.0, 4),
        DayWeight(7, "baseless", 0, 50.0, 5),
        DayWeight(7, "baseless", 1, 60.0, 6),
        DayWeight(8, "baseless", 0, 70.0, 7),
    ]

    assert seen_today(known, weights) == {1: 9}
