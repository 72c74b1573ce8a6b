"""The failures of two versions by issue."""

from __future__ import annotations

from dataclasses import replace

from rt4chart_collector.store.answers.verdicts import insert_verdicts
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.scope import QueryScope
from rt4chart_collector.store.engine.version_scope import VersionKind, VersionScope
from rt4chart_collector.store.issues.issue_events import record_merge
from rt4chart_collector.store.issues.issue_figures import HOUR_NS
from rt4chart_collector.store.issues.version_issues import failures_by_issue
from tests.rt4chart_clustering.issues import FIRST, SECOND_ID, store_issue
from tests.rt4chart_clustering.made import NOON, added, numbers, verdict

VERIFIER = verdict(numbers(1)[0]).verifier
SCOPE = QueryScope(NOON - 4 * HOUR_NS, NOON + HOUR_NS, VERIFIER)


def test_each_version_has_its_failures_of_an_issue(any_client: Client) -> None:
    """Weighted by the sampling of the answers; those merged away count for the root issue."""
    old, new = numbers(2), numbers(3, first=50)
    for release, found in (("1", old), ("2", new)):
        verdicts = [replace(verdict(one), sample_rate=0.5) for one in found]
        insert_verdicts(
            any_client,
            [replace(one, candidate=replace(one.candidate, release=release)) for one in verdicts],
        )
    store_issue(any_client, [*old, *new], is_stored=True)

    def counted(*releases: str) -> list[list[tuple[int, str, int, float]]]:
        a, b = (VersionScope(SCOPE, VersionKind.RELEASE, name) for name in releases)
        return [
            [(one.issue, one.route, one.claims, one.weighted) for one in found]
            for found in failures_by_issue(any_client, a, b)
        ]

    one, two = [(FIRST, "billing", 2, 4.0)], [(FIRST, "billing", 3, 6.0)]
    assert counted("1", "2") == [one, two]
    assert counted("2", "3") == [two, []]


def test_an_alias_counts_for_the_issue_that_stands_for_it(client: Client) -> None:
    """Over a span of time, which has no version."""
    store_issue(client, numbers(2))
    store_issue(client, added()[:2], number=SECOND_ID)
    record_merge(client, SECOND_ID, FIRST, actor="ann", at_ns=NOON)

    spans = (SCOPE.before, SCOPE)
    before, found = failures_by_issue(
        client, *(VersionScope(span, VersionKind.TIME, "a span") for span in spans)
    )

    assert before == []
    assert {one.issue for one in found} == {FIRST}
    assert sum(one.claims for one in found) == 4
