"""Issues and documents that are in more failures than before."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.scope import QueryScope
from rt4chart_collector.store.issues.issue_events import record_merge
from rt4chart_collector.store.issues.issue_figures import HOUR_NS, issue_growth
from rt4chart_collector.store.issues.issues import watched_issues
from tests.rt4chart_clustering.issues import FIRST, SECOND_ID, store_issue
from tests.rt4chart_clustering.made import NOON, added, numbers, verdict

VERIFIER = verdict(numbers(1)[0]).verifier
SCOPE = QueryScope(NOON - 4 * HOUR_NS, NOON + HOUR_NS, VERIFIER, "shop", "billing")


def test_an_issue_with_more_failures_an_hour_has_grown(any_client: Client) -> None:
    """Failures before are spread over four hours; what they stand for counts."""
    earlier = [replace(one, time_ns=NOON - HOUR_NS) for one in numbers(4)]
    store_issue(any_client, [*earlier, *numbers(3, first=10)], sample_rate=0.5)
    store_issue(
        any_client,
        [replace(one, time_ns=NOON - HOUR_NS) for one in added()],
        number=SECOND_ID,
    )

    (found,) = issue_growth(any_client, SCOPE, at_ns=NOON).issues

    assert (found.id, found.claims) == (FIRST, 3)
    assert (found.before, found.after) == pytest.approx((2.0, 6.0))


def test_an_alias_counts_in_the_issue_that_stands_for_it(client: Client) -> None:
    """And it is not among the issues that are watched."""
    store_issue(client, numbers(2))
    store_issue(client, added()[:2], number=SECOND_ID)
    record_merge(client, SECOND_ID, FIRST, actor="ann", at_ns=NOON)

    (found,) = issue_growth(client, SCOPE, at_ns=NOON).issues
    (watched,) = watched_issues(client)

    assert (found.id, found.claims) == (FIRST, 4)
    assert (watched.id, watched.aliases) == (FIRST, (SECOND_ID,))


def test_of_too_many_issues_those_are_watched_that_failed_last(client: Client) -> None:
    """Not those with the lowest ids, among which a new one need not be."""
    store_issue(client, [replace(one, time_ns=NOON - HOUR_NS) for one in numbers(2)])
    store_issue(client, added()[:2], number=SECOND_ID)
    assert [one.id for one in watched_issues(client)] == sorted((FIRST, SECOND_ID))

    (watched,) = watched_issues(client, limit=1)

    assert watched.id == SECOND_ID


def test_a_document_that_the_judge_named_has_grown(any_client: Client) -> None:
    """As often as the failures that it is evidence in."""
    store_issue(any_client, numbers(3))

    (found,) = issue_growth(any_client, SCOPE, at_ns=NOON).documents

    assert (found.id, found.before, found.after, found.claims) == ("p1", 0.0, 3.0, 3)


def test_watched_issues_have_their_state_and_when_it_began(client: Client) -> None:
    """What an alert on an issue goes by."""
    made = store_issue(client, numbers(2), state="regressed")

    (found,) = watched_issues(client)

    assert (found.title, found.service, found.route) == (made.title, "shop", "billing")
    assert (found.state, found.born_ns, found.state_ns - found.born_ns) == (
        "regressed",
        made.first_ns,
        1,
    )
