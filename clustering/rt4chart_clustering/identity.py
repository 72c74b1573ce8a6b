"""Which issue a group is: known ones first, so that an issue keeps its id from run to run."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rt4chart_clustering.group import Group
from rt4chart_collector.store.issues import Issue

# Two groups of one pattern and route are one issue where their middles are this near (cosine).
NEAR = 0.75


@dataclass(frozen=True, slots=True)
class Identified:
    """A group under its issue's id; `known` is the issue as it was stored, None for a new one."""

    id: int
    group: Group
    known: Issue | None


def identify(groups: Sequence[Group], known: Sequence[Issue]) -> tuple[Identified, ...]:
    """Give every group an id; a stored issue is matched once, the nearest group first."""
    pairs = sorted(
        (
            (_nearness(group, issue), -place, group, issue)
            for place, group in enumerate(groups)
            for issue in known
            if _same_pattern(group, issue)
        ),
        key=lambda pair: (-pair[0], -pair[1], pair[3].id),
    )
    matched: dict[int, Issue] = {}
    taken: set[int] = set()
    for nearness, _, group, issue in pairs:
        if nearness >= NEAR and id(group) not in matched and issue.id not in taken:
            matched[id(group)] = issue
            taken.add(issue.id)
    return tuple(
        Identified(issue.id if issue else new_id(group), group, issue)
        for group in groups
        for issue in [matched.get(id(group))]
    )


def new_id(group: Group) -> int:
    """An id that the same failures get in every run: of the pattern, or of its first member."""
    seed: tuple[object, ...] = (group.service, group.route, group.fingerprint)
    if not group.is_whole_pattern:
        seed += min(failure.key for failure in group.failures)
    digest = hashlib.sha256("\x1f".join(map(str, seed)).encode()).digest()
    return int.from_bytes(digest[:8], "big")


def _same_pattern(group: Group, issue: Issue) -> bool:
    return (group.service, group.route, group.fingerprint) == (
        issue.service,
        issue.route,
        issue.fingerprint,
    )


def _nearness(group: Group, issue: Issue) -> float:
    if group.is_whole_pattern:
        return 1.0
    if len(issue.centroid) != len(group.centroid):
        return 0.0
    return float(np.dot(group.centroid, issue.centroid))
