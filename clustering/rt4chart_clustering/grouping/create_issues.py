"""Creates issues from failures that match none: explained patterns, and groups of the others."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from otel_rt4chart.verify.findings.failure_kinds import broader_fingerprint
from rt4chart_clustering.description.describe import OnProgress, is_explained
from rt4chart_clustering.description.embedding import Matrix
from rt4chart_clustering.grouping.algorithm import Grouping, group_of
from rt4chart_clustering.grouping.assign_failures import assignment_of
from rt4chart_clustering.grouping.identity import derive_issue_id, nearest_issue, without_version
from rt4chart_clustering.grouping.pool import UnassignedPool
from rt4chart_collector.store.engine.columns import ClaimKey, Partition
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.issues.assignments import (
    BY_BIRTH,
    BY_MATCH,
    Assignment,
    insert_assignments,
)
from rt4chart_collector.store.issues.issue_events import IssueEvent, record_events
from rt4chart_collector.store.issues.issues import Issue, insert_issues
from rt4chart_collector.store.issues.match_failures import (
    DescriptionWindow,
    UnassignedFailure,
    unassigned_vectors,
)


@dataclass(frozen=True, slots=True)
class FoundIssue:
    """An issue and the failures that belong to it; `is_new` is False for a known issue."""

    issue: Issue
    members: tuple[Assignment, ...]
    is_new: bool


def create_issues(
    client: Client,
    window: DescriptionWindow,
    pool: UnassignedPool,
    known: Sequence[Issue],
    *,
    seed: int,
    grouping: Grouping,
    now_ns: int,
    on_progress: OnProgress,
) -> list[FoundIssue]:
    """Create issues from the failures in the pool; a group near a known issue joins that one.

    Patterns that are too rare on a route for an issue of their own share the one of their status.
    """
    found: list[FoundIssue] = []
    for partition, parts in _partitions(pool, known, grouping.thresholds.min_size):
        on_progress("grouped", sum(len(one.members) for one in found))
        rows, vectors_by_key = _read_parts(client, window, pool, parts, seed=seed)
        same_partition = [
            issue
            for issue in (*known, *(one.issue for one in found if one.is_new))
            if without_version(issue.partition) == without_version(partition)
            and (issue.model in (window.model, "") or is_explained(partition[2]))
        ]
        page = find_issues(
            partition,
            rows,
            vectors_by_key,
            same_partition,
            model=window.model,
            grouping=grouping,
            now_ns=now_ns,
        )
        new = [one.issue for one in page if one.is_new]
        # The issues are written before their members: if the run stops in between, the next run
        # assigns the failures to them.
        insert_issues(client, new, version=now_ns)
        record_events(client, [event for issue in new for event in creation_events(issue, now_ns)])
        insert_assignments(client, [member for one in page for member in one.members])
        found += page
    return found


def _partitions(
    pool: UnassignedPool, known: Sequence[Issue], min_size: int
) -> Iterator[tuple[Partition, Sequence[Partition]]]:
    """Partitions with enough failures, each alone; then the rare ones by their broader pattern."""
    common = pool.partitions(min_size)
    yield from ((one, [one]) for one in common)
    rare: defaultdict[Partition, list[Partition]] = defaultdict(list)
    for one in pool.partitions(1):
        service, route, fingerprint = one
        broader = broader_fingerprint(fingerprint)
        if broader and one not in common:
            rare[service, route, broader].append(one)
    before = {without_version(issue.partition) for issue in known}
    for broad, parts in sorted(rare.items()):
        if without_version(broad) in before or sum(map(pool.count, parts)) >= min_size:
            yield broad, parts


def _read_parts(
    client: Client,
    window: DescriptionWindow,
    pool: UnassignedPool,
    parts: Sequence[Partition],
    *,
    seed: int,
) -> tuple[list[UnassignedFailure], dict[ClaimKey, Sequence[float]]]:
    """The failures that the pool keeps of these partitions, and their vectors."""
    rows: list[UnassignedFailure] = []
    vectors: dict[ClaimKey, Sequence[float]] = {}
    for part in parts:
        kept = pool.kept(part)
        most = max(row.draw for row in kept)
        vectors |= unassigned_vectors(client, window, part, seed=seed, max_draw=most)
        rows += kept
    return sorted(rows, key=lambda one: one.key), vectors


def find_issues(
    partition: Partition,
    rows: Sequence[UnassignedFailure],
    vectors_by_key: Mapping[ClaimKey, Sequence[float]],
    known: Sequence[Issue],
    *,
    model: str,
    grouping: Grouping,
    now_ns: int,
) -> list[FoundIssue]:
    """The issues among one partition's failures; the same rows in order give the same issues.

    A group is a known issue if their centroids are near. An explained pattern is the known issue
    that was created with another version of the fingerprint, or for the rare patterns of a status.
    """
    rows = [row for row in rows if row.key in vectors_by_key]
    is_pattern = is_explained(partition[2])
    is_known = is_pattern and known
    if not rows or (len(rows) < grouping.thresholds.min_size and not is_known):
        return []
    space = np.array([vectors_by_key[row.key] for row in rows], dtype=np.float32)
    groups = [group_of(space, np.arange(len(rows)))] if is_pattern else grouping.group(space)
    found: list[FoundIssue] = []
    for group in groups:
        members = [rows[at] for at in group.rows]
        # Matching by centroid would miss a pattern whose descriptions changed with the version.
        before = known[0] if is_pattern and known else _same_issue(group.centroid, known, grouping)
        is_new = before is None
        issue = before or _new_issue(
            partition, members, group.centroid, model, now_ns, is_pattern=is_pattern
        )
        by = BY_BIRTH if is_new else BY_MATCH
        assignments = (
            assignment_of(row, issue.id, by=by, distance=max(round(float(distance), 6), 0.0))
            for row, distance in zip(members, group.distances, strict=True)
        )
        found.append(FoundIssue(issue, tuple(assignments), is_new))
    return found


def creation_events(issue: Issue, at_ns: int) -> list[IssueEvent]:
    """The first events of a new issue, in this order; the event of its title follows."""
    return [
        IssueEvent(issue.id, at_ns, "born", issue.fingerprint),
        IssueEvent(issue.id, at_ns + 1, "state", "new"),
    ]


def _same_issue(centroid: Matrix, known: Sequence[Issue], grouping: Grouping) -> Issue | None:
    nearest = nearest_issue(tuple(centroid.tolist()), known)
    if nearest is None or nearest[0] < grouping.thresholds.same_similarity:
        return None
    return nearest[1]


def _new_issue(
    partition: Partition,
    members: Sequence[UnassignedFailure],
    centroid: Matrix,
    model: str,
    now_ns: int,
    *,
    is_pattern: bool,
) -> Issue:
    service, route, fingerprint = partition
    times = [member.time_ns for member in members]
    seed = () if is_pattern else min(member.key for member in members)
    return Issue(
        id=derive_issue_id(partition, *seed),
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
