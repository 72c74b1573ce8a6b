"""Issues by failure family: one pattern across routes, labels and kinds."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from otel_rt4chart.verify.core.failure_kinds import FailureFamily, FailureKind, kind_of_fingerprint
from rt4chart_clustering.triage.overview import Standing


@dataclass(frozen=True, slots=True)
class IssueFamily:
    """The issues of a family, the worst first; `claims` and `weighted` are totals.

    `daily` are weighted failures per day, the oldest day first.
    """

    family: FailureFamily
    issues: tuple[Standing, ...]
    routes: tuple[str, ...]
    claims: int
    weighted: float
    daily: tuple[float, ...]


def family_of(fingerprint: str) -> FailureFamily:
    """The family of a fingerprint; an unknown kind is one that no rule explains."""
    return (kind_of_fingerprint(fingerprint) or FailureKind.OTHER).family


def by_family(known: Iterable[Standing]) -> list[IssueFamily]:
    """The families of issues given worst first; the family with the most weighted claims first."""
    found: defaultdict[FailureFamily, list[Standing]] = defaultdict(list)
    for one in known:
        found[family_of(one.issue.fingerprint)].append(one)
    families = [
        IssueFamily(
            family=family,
            issues=tuple(members),
            routes=tuple(sorted({one.issue.route for one in members})),
            claims=sum(one.issue.claims for one in members),
            weighted=sum(one.issue.weighted for one in members),
            daily=tuple(map(sum, zip(*(one.traffic.daily for one in members), strict=True))),
        )
        for family, members in found.items()
    ]
    return sorted(families, key=lambda one: (-one.weighted, one.family))
