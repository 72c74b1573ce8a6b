"""Assigns failures to known issues; the others wait in a pool."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

from rt4chart_clustering.description.describe import OnProgress, is_explained
from rt4chart_clustering.grouping.algorithm import Thresholds
from rt4chart_clustering.grouping.pool import UnassignedPool
from rt4chart_collector.store.engine.columns import Partition
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.issues.assignments import BY_MATCH, Assignment, insert_assignments
from rt4chart_collector.store.issues.match_failures import (
    DescriptionWindow,
    UnassignedFailure,
    trace_ranges,
    unassigned_failures,
)

# Descriptions that one statement compares with issues. It returns keys and distances, not vectors.
PAGE = 50_000
# A sample of an explained pattern is enough for its centroid, its title and its examples.
PATTERN_SAMPLE = 200


@dataclass(frozen=True, slots=True)
class AssignedFailures:
    """How many failures were assigned, to which issues, and the failures that were not."""

    failures: int
    issues: frozenset[int]
    pool: UnassignedPool


def assign_failures(
    client: Client,
    window: DescriptionWindow,
    roots: Mapping[int, int],
    *,
    seed: int,
    thresholds: Thresholds,
    on_progress: OnProgress,
) -> AssignedFailures:
    """Assign each unassigned failure of the window to the issue that it matches.

    `roots` maps an alias to its issue. Writing the same assignment twice changes nothing.
    """
    pool = UnassignedPool(partial(pool_limit, thresholds=thresholds))
    count, issues = 0, set[int]()
    for traces in trace_ranges(client, window, page=PAGE):
        on_progress("assigned", count)
        assigned = []
        for failure in unassigned_failures(client, window, traces, seed=seed):
            if issue := matching_issue(failure, thresholds):
                assigned.append(assignment_of(failure, roots.get(issue, issue)))
            else:
                pool.put([failure])
        insert_assignments(client, assigned)
        count += len(assigned)
        issues |= {one.issue for one in assigned}
    return AssignedFailures(count, frozenset(issues), pool)


def matching_issue(failure: UnassignedFailure, thresholds: Thresholds) -> int:
    """The id of the failure's issue, 0 for none: the former one, or the nearest within reach.

    An explained pattern is one issue, whatever the distance from its centroid.
    """
    if failure.previous_issue:
        return failure.previous_issue
    is_near = failure.distance <= thresholds.member_distance
    return failure.issue if is_near or is_explained(failure.partition[2]) else 0


def assignment_of(
    failure: UnassignedFailure, issue: int, *, by: str = BY_MATCH, distance: float = -1
) -> Assignment:
    """The failure's assignment, at the distance that was found unless another one is given."""
    far = failure.distance if distance < 0 else distance
    return Assignment(
        failure.key, failure.time_ns, issue, failure.partition, far, by, failure.version
    )


def pool_limit(partition: Partition, *, thresholds: Thresholds) -> int:
    """How many of a partition's failures the pool keeps."""
    is_pattern = is_explained(partition[2])
    return max(PATTERN_SAMPLE, thresholds.min_size) if is_pattern else thresholds.max_rows
