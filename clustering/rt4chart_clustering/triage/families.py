"""Issues of one family: the pattern across routes, labels and kinds of words."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from rt4chart_clustering.description.operations import FAMILIES, Family, Op
from rt4chart_clustering.triage.overview import Standing

TITLES = {
    Family.REPLACED: "Something else in the place of what the source says",
    Family.NEGATED: "Negation added or dropped",
    Family.REVERSED: "The opposite, or the other way round",
    Family.UNLIMITED: "Wider or surer than the source",
    Family.ADDED: "Beyond the source",
    Family.UNTOLD: "Otherwise than the source, in no way that the rules know",
}


@dataclass(frozen=True, slots=True)
class Kindred:
    """The issues of a family, the worst first; `claims` and `weighted` are those of all of them.

    `daily` are weighted failures a day, the oldest first, today's last.
    """

    family: Family
    issues: tuple[Standing, ...]
    routes: tuple[str, ...]
    claims: int
    weighted: float
    daily: tuple[float, ...]


def family_of(fingerprint: str) -> Family:
    """The family of a fingerprint's operation, whatever its version and label."""
    return FAMILIES[Op(fingerprint.rpartition(":")[2])]


def by_family(known: Iterable[Standing]) -> list[Kindred]:
    """The families of issues given worst first; the one with the most weighted claims first."""
    found: defaultdict[Family, list[Standing]] = defaultdict(list)
    for one in known:
        found[family_of(one.issue.fingerprint)].append(one)
    kindred = [
        Kindred(
            family=family,
            issues=tuple(members),
            routes=tuple(sorted({one.issue.route for one in members})),
            claims=sum(one.issue.claims for one in members),
            weighted=sum(one.issue.weighted for one in members),
            daily=tuple(map(sum, zip(*(one.traffic.daily for one in members), strict=True))),
        )
        for family, members in found.items()
    ]
    return sorted(kindred, key=lambda one: (-one.weighted, one.family))
