"""Issues that are ignored until something comes, and linked tickets."""

from __future__ import annotations

from dataclasses import replace

import pytest

from otel_rt4chart.core.errors import InputError
from rt4chart_clustering.grouping.ignore_until import IGNORED_UNTIL, IgnoreUntil
from rt4chart_clustering.grouping.issue_state import IssueAction
from rt4chart_clustering.grouping.update_issues import end_ignoring
from rt4chart_clustering.triage.actions import change_state, conditions, link_ticket
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.issues.issue_events import events_of, last_events
from rt4chart_collector.store.issues.issue_tickets import RecordedTicket, recorded_tickets
from rt4chart_collector.store.issues.issues import find_issue
from tests.rt4chart_clustering.issues import FIRST, store_issue
from tests.rt4chart_clustering.made import NOON, SECOND, numbers

LATER = NOON + 3600 * SECOND


@pytest.mark.parametrize(
    ("until", "is_over"),
    [
        (IgnoreUntil(), False),
        (IgnoreUntil(at_ns=LATER), True),
        (IgnoreUntil(at_ns=LATER + 1), False),
        (IgnoreUntil(claims=8), True),
        (IgnoreUntil(at_ns=LATER + 1, claims=9), False),
        (IgnoreUntil(claims=9, a_day=3), True),
        (IgnoreUntil(a_day=4), False),
    ],
)
def test_the_first_condition_ends_it(until: IgnoreUntil, is_over: bool) -> None:
    """A time that has come, enough claims, or enough of them within a day."""
    assert until.is_over(now_ns=LATER, claims=8, today=3) is is_over


def test_an_ignored_issue_opens_when_its_condition_holds(client: Client) -> None:
    """After two more failures, by the software; a decision without conditions is for ever."""
    known = numbers(8)
    store_issue(client, known[:6])
    issue = find_issue(client, FIRST)
    assert issue is not None
    until = conditions(issue, now_ns=LATER, failures=2)
    ignored = change_state(client, issue, IssueAction.IGNORE, actor="ann", at_ns=LATER, until=until)

    def opened(claims: int) -> list[str]:
        found = replace(issue, state=ignored, claims=claims)
        last = last_events(client, ("state", IGNORED_UNTIL))
        return [one.note for one in end_ignoring(client, [found], last, now_ns=LATER + 1)]

    assert [opened(7), opened(8)] == [[], ["was ignored until 8 claims"]]
    assert [one.kind for one in events_of(client, FIRST)][-2:] in (
        ["state", IGNORED_UNTIL],
        [IGNORED_UNTIL, "state"],
    )
    change_state(
        client, replace(issue, state="open"), IssueAction.IGNORE, actor="ann", at_ns=LATER + 2
    )
    assert opened(100) == []


def test_linked_tickets_stand_beside_the_filed_ones(client: Client) -> None:
    """Each address once, until it is removed; other texts are refused."""
    issue = store_issue(client, numbers(5))
    first, second = "https://tracker.example/7", "https://tracker.example/8"
    for at, url in enumerate((first, second, second)):
        link_ticket(client, issue, url, actor="ann", at_ns=LATER + at)
    link_ticket(client, issue, first, actor="bob", at_ns=LATER + 9, is_removed=True)

    assert recorded_tickets(events_of(client, FIRST)) == [
        RecordedTicket("link", "", second, 5, LATER + 2)
    ]
    for wrong in ("javascript:alert(1)", "tracker.example/7", "https://me:secret@tracker.example"):
        with pytest.raises(InputError):
            link_ticket(client, issue, wrong, actor="ann", at_ns=LATER)
