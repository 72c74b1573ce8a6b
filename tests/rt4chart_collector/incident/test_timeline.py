"""What happened about an alert, in words."""

from __future__ import annotations

from rt4chart_collector.core.alerts.state import AlertEvent, AlertEventKind, states_of
from rt4chart_collector.incident.changes import FirstSeen
from rt4chart_collector.incident.timeline import Timeline, timeline
from rt4chart_collector.incident.wording import notified_words
from tests.rt4chart_collector.notify.world import DRIFT, HOUR, MINUTE, START

SLACK = {"target": "slack", "message": "m", "what": "fired"}


def event(kind: AlertEventKind, minutes: int, actor: str = "", **body: object) -> AlertEvent:
    """An event so many minutes after the start."""
    who = {"actor": actor} if actor else {}
    return AlertEvent(DRIFT, START + minutes * MINUTE, kind, body, **who)


def told(*events: AlertEvent) -> Timeline:
    """The timeline of these events."""
    state = states_of(events)[DRIFT.id]
    return timeline(state, events[::-1], began_ns=START - HOUR)


FIRED = event(AlertEventKind.FIRED, 0)


def test_each_act_is_a_line_with_who_did_it() -> None:
    """In order, the beginning of the rise first."""
    found = told(
        FIRED,
        event(AlertEventKind.NOTIFIED, 1, **SLACK),
        event(AlertEventKind.ACKNOWLEDGED, 2, "ann"),
        event(AlertEventKind.ASSIGNED, 3, "ann", owner="ben"),
        event(AlertEventKind.LINKED, 4, "ben", url="https://t.example.com/1"),
        event(AlertEventKind.SNOOZED, 5, "ben", until_ns=START + 3 * HOUR),
        event(AlertEventKind.ACCEPTED, 6, "cleo"),
        event(AlertEventKind.RETRACTED, 7, "cleo"),
    )

    assert [(one.what, one.detail, one.actor) for one in found.entries] == [
        ("the rise begins", "", ""),
        ("detected", "critical", ""),
        ("slack notified", "that it fired", ""),
        ("acknowledged", "", "ann"),
        ("assigned to ben", "", "ann"),
        ("ticket linked", "https://t.example.com/1", "ben"),
        ("snoozed", "until 2030-03-17 20:46", "ben"),
        ("accepted as the usual rate", "", "cleo"),
        ("acceptance undone", "", "cleo"),
    ]


def test_it_says_whom_no_message_reached() -> None:
    """Until one does; and that nobody was notified where there was none."""
    failed = event(AlertEventKind.FAILED, 1, **SLACK, error="503")
    late = event(AlertEventKind.NOTIFIED, 2, **SLACK)
    page = event(AlertEventKind.NOTIFIED, 2, **{**SLACK, "target": "pagerduty"})

    assert told(FIRED, failed).entries[-1].error == "503"
    assert notified_words(told(FIRED)) == "Nobody was notified: no message about it was sent."
    assert notified_words(told(FIRED, failed)) == "No message reached slack."
    assert notified_words(told(FIRED, failed, late)) == "Notified: slack."
    assert (
        notified_words(told(FIRED, failed, page))
        == "Notified: pagerduty. No message reached slack."
    )


def test_earlier_episodes_are_apart() -> None:
    """What was sent about them notified nobody of this one."""
    found = told(
        FIRED,
        event(AlertEventKind.NOTIFIED, 1, **SLACK),
        event(AlertEventKind.RESOLVED, 60),
        event(AlertEventKind.FIRED, 90),
    )

    assert [one.what for one in found.entries] == ["the rise begins", "detected"]
    assert [one.what for one in found.earlier] == [
        "resolved: the evidence is gone",
        "slack notified",
        "detected",
    ]
    assert found.arrived == ()


def test_of_many_releases_the_nearest_to_the_rise_are_lines() -> None:
    """The chart has all of them."""
    state = states_of([FIRED])[DRIFT.id]
    seen = [FirstSeen(START - n * MINUTE, "release", str(n)) for n in range(40)]
    found = timeline(state, [FIRED], began_ns=START - 20 * MINUTE, changes=seen)

    releases = [one.what for one in found.entries if "release" in one.what]
    assert releases == [f"release {n} first seen" for n in (22, 21, 20, 19, 18)]


def test_an_event_of_a_later_version_keeps_its_name() -> None:
    """Nothing breaks on what this version does not know."""
    unknown = AlertEvent(DRIFT, START + 1, "escalated", {"target": 3, "until_ns": "x"}, "ann")

    assert told(FIRED, unknown).entries[-1].what == "escalated"
