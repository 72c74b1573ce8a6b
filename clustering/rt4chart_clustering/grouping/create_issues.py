"""Issues from failures that match none: whole patterns, and what HDBSCAN finds in the rest."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from rt4chart_clustering.description.described import Between, is_explained
from rt4chart_clustering.description.embedding import Matrix
from rt4chart_clustering.grouping.assignment import assigned
from rt4chart_clustering.grouping.engine import NOISE, cluster, middle
from rt4chart_clustering.grouping.identity import NEAR, nearest, new_id, unversioned
from rt4chart_clustering.grouping.pool import Pool
from rt4chart_collector.store.engine.columns import Key, Partition
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.issues.assignments import BIRTH, MATCH, Assignment, insert_assignments
from rt4chart_collector.store.issues.issue_events import Event, record
from rt4chart_collector.store.issues.issues import Issue, insert_issues
from rt4chart_collector.store.issues.match_failures import (
    DescriptionWindow,
    UnplacedFailure,
    vectors,
)

Vectors = Callable[[Partition, int], Mapping[Key, Sequence[float]]]


@dataclass(frozen=True, slots=True)
class Born:
    """An issue and the failures that made it; `is_new` is False where it was known after all."""

    issue: Issue
    members: tuple[Assignment, ...]
    is_new: bool


def bear(
    client: Client,
    window: DescriptionWindow,
    pool: Pool,
    known: Sequence[Issue],
    *,
    seed: int,
    min_size: int,
    now_ns: int,
    between: Between,
) -> list[Born]:
    """Make issues of what is in the pool; known ones take what is near them after all.

    An issue is there before its failures are in it: broken off in between, the next run matches
    them.
    """
    found: list[Born] = []
    for partition in pool.partitions(min_size):
        between("grouped", sum(len(one.members) for one in found))
        rows = pool.kept(partition)
        most = max(row.draw for row in rows)
        lying = vectors(client, window, partition, seed=seed, most=most)
        beside = [
            one
            for one in (*known, *(one.issue for one in found if one.is_new))
            if unversioned(one.partition) == unversioned(partition)
            and (one.model in (window.model, "") or is_explained(partition[2]))
        ]
        made = born(rows, lying, beside, model=window.model, min_size=min_size, now_ns=now_ns)
        new = [one.issue for one in made if one.is_new]
        insert_issues(client, new, version=now_ns)
        record(client, [event for issue in new for event in events_at_birth(issue, now_ns)])
        insert_assignments(client, [member for one in made for member in one.members])
        found += made
    return found


def born(
    rows: Sequence[UnplacedFailure],
    lying: Mapping[Key, Sequence[float]],
    known: Sequence[Issue],
    *,
    model: str,
    min_size: int,
    now_ns: int,
) -> list[Born]:
    """The issues of a partition's failures, given in order; pure, so the same rows give the same.

    A group whose middle is near a known issue's is that issue, and so is a whole pattern that was
    born of another version of the fingerprint.
    """
    rows = [row for row in rows if row.key in lying]
    if len(rows) < min_size:
        return []
    is_pattern = is_explained(rows[0].partition[2])
    space = np.array([lying[row.key] for row in rows], dtype=np.float32)
    labels = np.zeros(len(rows)) if is_pattern else cluster(space, min_size=min_size)
    found: list[Born] = []
    for label in sorted(set(labels.tolist()) - {NOISE}):
        at = np.flatnonzero(labels == label)
        members = [rows[place] for place in at]
        centroid, away = middle(space[at])
        before = known[0] if is_pattern and known else _near(centroid, known)
        is_new = before is None
        issue = before or _issue(members, centroid, model, now_ns, is_pattern=is_pattern)
        by = BIRTH if is_new else MATCH
        placed = (
            assigned(row, issue.id, by=by, distance=max(round(float(far), 6), 0.0))
            for row, far in zip(members, away, strict=True)
        )
        found.append(Born(issue, tuple(placed), is_new))
    return found


def _near(centroid: Matrix, known: Sequence[Issue]) -> Issue | None:
    near = nearest(tuple(centroid.tolist()), known)
    return near[1] if near is not None and near[0] >= NEAR else None


def events_at_birth(issue: Issue, at_ns: int) -> list[Event]:
    """What is recorded of a new issue, in this order; its title follows."""
    return [
        Event(issue.id, at_ns, "born", issue.fingerprint),
        Event(issue.id, at_ns + 1, "state", "new"),
    ]


def _issue(
    members: Sequence[UnplacedFailure],
    centroid: Matrix,
    model: str,
    now_ns: int,
    *,
    is_pattern: bool,
) -> Issue:
    partition = members[0].partition
    service, route, fingerprint = partition
    times = [member.time_ns for member in members]
    seed = () if is_pattern else min(member.key for member in members)
    return Issue(
        id=new_id(partition, *seed),
        title="",
        fingerprint=fingerprint,
        service=service,
        route=route,
        first_ns=min(times),
        last_ns=max(times),
        claims=len(members),
        centroid=tuple(centroid.tolist()),
        run=str(now_ns),
        model=model,
    )
