"""Reads two versions from the store and compares them: rates, issues, answers to one question."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from typing import TypeAlias

from otel_rt4chart.verify.core.rates import Measure
from rt4chart_collector.comparison.figures import (
    ComparedRate,
    ComparedRates,
    MatchedRoute,
    compare_rates,
    part_compared,
)
from rt4chart_collector.store.answers.question_pairs import QuestionPairs, question_pairs
from rt4chart_collector.store.engine.concurrent_reads import ConcurrentReads
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.version_scope import VersionKind, VersionScope
from rt4chart_collector.store.issues.issues import watched_issues
from rt4chart_collector.store.issues.version_issues import IssueFailures, failures_by_issue
from rt4chart_collector.store.rates.version_rates import rates_of_versions

MAX_PAIRS = 20
NO_QUESTIONS = QuestionPairs()
_ReadIssues: TypeAlias = tuple[list[IssueFailures], list[IssueFailures], dict[int, str]]


class IssueTurn(StrEnum):
    """What became of an issue from version a to version b, in the order of a list."""

    ONLY_IN_B = "only in b"
    GROWN = "grown"
    ONLY_IN_A = "only in a"
    SHRUNK = "shrunk"
    SIMILAR = "similar"


@dataclass(frozen=True, slots=True)
class ComparedIssue:
    """An issue with its failures in both versions, and their share of the claims.

    `is_told` if the difference of the shares is more than chance explains.
    """

    id: int
    title: str
    claims: tuple[int, int]
    share: ComparedRate

    @property
    def turn(self) -> IssueTurn:
        """Gone, new, or by the difference of the shares."""
        if 0 in self.claims:
            return IssueTurn.ONLY_IN_B if self.claims[1] else IssueTurn.ONLY_IN_A
        if not self.is_told:
            return IssueTurn.SIMILAR
        return IssueTurn.GROWN if self.share.difference.is_rise else IssueTurn.SHRUNK

    @property
    def is_told(self) -> bool:
        """True if chance does not explain the difference."""
        return self.share.difference.is_rise or self.share.difference.is_fall


@dataclass(frozen=True, slots=True)
class VersionComparison:
    """Two versions side by side; `has_issues` is False where issues say nothing of the versions.

    Without details, the rates alone were read.
    """

    a: VersionScope
    b: VersionScope
    rates: ComparedRates
    issues: tuple[ComparedIssue, ...] = ()
    questions: QuestionPairs = NO_QUESTIONS

    @property
    def has_issues(self) -> bool:
        """Judges have no issues of their own: failures are grouped by the last verdict."""
        return self.a.kind is not VersionKind.VERIFIER


def begin_comparison(
    reads: ConcurrentReads,
    a: VersionScope,
    b: VersionScope,
    *,
    measure: Measure | None,
    pairs: int = MAX_PAIRS,
) -> Callable[[], VersionComparison]:
    """Begin to read both versions; the call returns them compared.

    `measure` counts the claims of answers to one question; None is without details, of which the
    sums are read, however many claims there are.
    """
    if measure is None:
        rates = reads.start(partial(rates_of_versions, a=a, b=b))
        return lambda: VersionComparison(a, b, compare_rates(*rates.result()))
    questions = reads.start(partial(question_pairs, a=a, b=b, measure=measure, limit=pairs))
    issues = reads.start(partial(_read_issues, a=a, b=b))
    rates = reads.start(partial(rates_of_versions, a=a, b=b))

    def compared() -> VersionComparison:
        found = compare_rates(*rates.result())
        listed = _issues(found.matched, *issues.result())
        return VersionComparison(a, b, found, tuple(listed), questions.result())

    return compared


def _read_issues(client: Client, a: VersionScope, b: VersionScope) -> _ReadIssues:
    """The failures of both by issue, and the titles of the issues."""
    if a.kind is VersionKind.VERIFIER:
        return [], [], {}
    sides = failures_by_issue(client, a, b)
    titles = {issue.id: issue.title for issue in watched_issues(client)} if any(sides) else {}
    return *sides, titles


def _issues(
    matched: Sequence[MatchedRoute],
    a: Sequence[IssueFailures],
    b: Sequence[IssueFailures],
    titles: Mapping[int, str],
) -> list[ComparedIssue]:
    """The issues with failures on the matched routes, by turn and then by the most claims."""
    routes = {(route.service, route.route) for route in matched}
    sides = [[row for row in rows if (row.service, row.route) in routes] for rows in (a, b)]
    found = compared_issues(matched, sides[0], sides[1], titles)
    order = list(IssueTurn)
    return sorted(found, key=lambda one: (order.index(one.turn), -max(one.claims), one.id))


def compared_issues(
    matched: Sequence[MatchedRoute],
    a: Sequence[IssueFailures],
    b: Sequence[IssueFailures],
    titles: Mapping[int, str],
) -> list[ComparedIssue]:
    """Each issue with a failure in a or b."""
    counts: defaultdict[int, list[int]] = defaultdict(lambda: [0, 0])
    weights: defaultdict[int, dict[tuple[str, str], tuple[float, float]]] = defaultdict(dict)
    for side, rows in enumerate((a, b)):
        for row in rows:
            counts[row.issue][side] += row.claims
            key = row.service, row.route
            before = weights[row.issue].get(key, (0.0, 0.0))
            added = (0.0, row.weighted) if side else (row.weighted, 0.0)
            weights[row.issue][key] = before[0] + added[0], before[1] + added[1]
    return [
        ComparedIssue(
            issue,
            titles.get(issue, ""),
            (claims[0], claims[1]),
            part_compared(matched, weights[issue]),
        )
        for issue, claims in counts.items()
    ]
