"""Figures of issues that are kept for a while."""

from __future__ import annotations

import threading
from collections.abc import Callable

from rt4chart_clustering.console.ranking_cache import FRESH_NS, MAX_AGE_NS, RankingCache
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.issues.issue_events import IssueEvent, record_events, record_merge
from tests.rt4chart_clustering.console.web import LATER
from tests.rt4chart_clustering.issues import FIRST, SECOND_ID, store_issue
from tests.rt4chart_clustering.made import added, numbers


def claims(ranking: RankingCache, client: Client, now_ns: int) -> dict[int, int]:
    """What each issue counts."""
    return {one.issue.id: one.issue.claims for one in ranking.ranked_issues(client, now_ns)}


def beside(name: str, call: Callable[[], None]) -> None:
    """A thread as the console starts it."""
    threading.Thread(target=call, name=name, daemon=True).start()


def wait_for_threads() -> None:
    """Until nothing counts beside any more."""
    for one in threading.enumerate():
        if one.name == "issue figures":
            one.join(30)


def test_figures_are_kept_and_counted_anew_beside_what_is_shown(client: Client) -> None:
    """Whoever asks late gets the old ones once; much later they are counted first."""
    ranking = RankingCache(client.sibling, beside)
    store_issue(client, numbers(2))
    assert claims(ranking, client, LATER) == {FIRST: 2}
    store_issue(client, added()[:3])

    assert claims(ranking, client, LATER + FRESH_NS) == {FIRST: 2}
    assert claims(ranking, client, LATER + FRESH_NS + 1) == {FIRST: 2}
    wait_for_threads()
    assert claims(ranking, client, LATER + FRESH_NS + 2) == {FIRST: 5}

    store_issue(client, numbers(1, first=50))
    late = LATER + FRESH_NS + MAX_AGE_NS + 2
    assert claims(ranking, client, late) == {FIRST: 6}


def test_the_issues_of_a_new_grouping_are_shown_at_once(client: Client) -> None:
    """Nobody waits for them after `rt4chart cluster`."""
    ranking = RankingCache(client.sibling, beside)
    store_issue(client, numbers(2))
    assert claims(ranking, client, LATER) == {FIRST: 2}

    store_issue(client, added()[:3], number=SECOND_ID)

    assert claims(ranking, client, LATER + 1) == {FIRST: 2, SECOND_ID: 3}


def test_states_and_merges_are_those_of_now(client: Client) -> None:
    """Whoever wrote them."""
    ranking = RankingCache(client.sibling, beside)
    store_issue(client, numbers(2))
    store_issue(client, added()[:3], number=SECOND_ID)
    ranking.ranked_issues(client, LATER)

    record_events(client, [IssueEvent(FIRST, LATER, "state", "resolved")])
    found = {one.issue.id: one.issue.state for one in ranking.ranked_issues(client, LATER + 1)}
    record_merge(client, SECOND_ID, FIRST, actor="ann", at_ns=LATER + 1)

    assert found == {FIRST: "resolved", SECOND_ID: "new"}
    assert claims(ranking, client, LATER + 2) == {FIRST: 5}
