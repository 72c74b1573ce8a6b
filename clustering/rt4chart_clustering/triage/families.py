"""Issues grouped by failure family, across routes, labels and kinds."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from otel_rt4chart.verify.findings.failure_kinds import (
    FailureFamily,
    FailureKind,
    kind_of_fingerprint,
)
from rt4chart_clustering.triage.ranking import RankedIssue


@dataclass(frozen=True, slots=True)
class IssueFamily:
    """The issues of a family, the worst first; `claims` and `weighted` are totals.

    `daily` are weighted failures per day, the oldest day first.
    """

    family: FailureFamily
    issues: tuple[RankedIssue, ...]
    routes: tuple[str, ...]
    claims: int
    weighted: float
    daily: tuple[float, ...]


def family_of(fingerprint: str) -> FailureFamily:
    """The family of a fingerprint; an unknown kind counts as unexplained."""
    return (kind_of_fingerprint(fingerprint) or FailureKind.OTHER).family


def group_by_family(known: Iterable[RankedIssue]) -> list[IssueFamily]:
    """The families, that with the most weighted claims first; issues keep their order."""
    found: defaultdict[FailureFamily, list[RankedIssue]] = defaultdict(list)
    for ranked in known:
        found[family_of(ranked.issue.fingerprint)].append(ranked)
    families = [
        IssueFamily(
            family=family,
            issues=tuple(members),
            routes=tuple(sorted({ranked.issue.route for ranked in members})),
            claims=sum(ranked.issue.claims for ranked in members),
            weighted=sum(ranked.issue.weighted for ranked in members),
            daily=tuple(map(sum, zip(*(ranked.traffic.daily for ranked in members), strict=True))),
        )
        for family, members in found.items()
    ]
    return sorted(families, key=lambda family: (-family.weighted, family.family))
