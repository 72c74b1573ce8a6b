"""Who takes care of an alert, and its tickets."""

from __future__ import annotations

from rt4chart_collector.core.alerts.state import AlertEvent, AlertEventKind, AlertState, states_of
from tests.rt4chart_collector.notify.world import DRIFT, HOUR, START

A, B = "https://t.example.com/1", "https://t.example.com/2"


def event(kind: AlertEventKind, hours: int, **body: object) -> AlertEvent:
    """An event so many hours after the start."""
    return AlertEvent(DRIFT, START + hours * HOUR, kind, body, "ann")


def state(*events: AlertEvent) -> AlertState:
    """The state after them."""
    return states_of([event(AlertEventKind.FIRED, 0), *events])[DRIFT.id]


def test_the_last_owner_counts() -> None:
    """An empty name removes the owner."""
    ann = event(AlertEventKind.ASSIGNED, 1, owner="ann")

    assert state().owner == ""
    assert state(ann, event(AlertEventKind.ASSIGNED, 2, owner="ben")).owner == "ben"
    assert state(ann, event(AlertEventKind.ASSIGNED, 2, owner="")).owner == ""


def test_a_ticket_is_linked_once_and_removed() -> None:
    """In the order in which they were linked."""
    first, second = (event(AlertEventKind.LINKED, 1 + n, url=url) for n, url in enumerate((A, B)))

    assert state(first, second, first).tickets == (B, A)
    assert state(first, second, event(AlertEventKind.LINKED, 3, url=A, removed=True)).tickets == (
        B,
    )


def test_both_stay_while_an_alert_comes_and_goes() -> None:
    """For a day; an alert that fires after that is a new matter."""
    acts = (
        event(AlertEventKind.ASSIGNED, 1, owner="ann"),
        event(AlertEventKind.LINKED, 1, url=A),
        event(AlertEventKind.RESOLVED, 2),
    )
    again = state(*acts, event(AlertEventKind.FIRED, 20))
    later = state(*acts, event(AlertEventKind.FIRED, 30))

    assert (again.owner, again.tickets) == ("ann", (A,))
    assert (later.owner, later.tickets) == ("", ())
