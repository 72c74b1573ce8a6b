"""Failures into known issues: by partition, then by the nearest middle; the rest stays unplaced."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

from rt4chart_clustering.description.described import Between, is_explained
from rt4chart_clustering.grouping.engine import MAX_ROWS, RADIUS
from rt4chart_clustering.grouping.pool import Pool
from rt4chart_collector.store.engine.columns import Partition
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.issues.assignments import MATCH, Assignment, insert_assignments
from rt4chart_collector.store.issues.match_failures import (
    DescriptionWindow,
    UnplacedFailure,
    trace_ranges,
    unplaced,
)

# Descriptions that a statement lays beside issues; what comes back is keys and distances.
PAGE = 50_000
# Of an explained pattern a few are enough for a middle, for a name and to show.
FEW = 200


@dataclass(frozen=True, slots=True)
class Placed:
    """How many failures found a place, in which issues, and those that found none."""

    failures: int
    issues: frozenset[int]
    pool: Pool


def place(
    client: Client,
    window: DescriptionWindow,
    roots: Mapping[int, int],
    *,
    seed: int,
    min_size: int,
    between: Between,
) -> Placed:
    """Put each failure of the window that has no place in the issue it matches.

    `roots` has what stands for each alias. Writing the same place twice changes nothing.
    """
    pool = Pool(partial(room, min_size=min_size))
    count, issues = 0, set[int]()
    for traces in trace_ranges(client, window, page=PAGE):
        between("placed", count)
        found = unplaced(client, window, traces, seed=seed)
        chosen = [(one, roots.get(issue, issue)) for one in found if (issue := match(one))]
        insert_assignments(client, [assigned(one, issue) for one, issue in chosen])
        pool.put(one for one in found if not match(one))
        count += len(chosen)
        issues |= {issue for _, issue in chosen}
    return Placed(count, frozenset(issues), pool)


def match(one: UnplacedFailure) -> int:
    """The issue that a failure belongs to, 0 for none: where it was, or the nearest near enough.

    An explained pattern is its issue, however far its middle.
    """
    if one.held:
        return one.held
    is_near = one.distance <= RADIUS or is_explained(one.partition[2])
    return one.issue if is_near else 0


def assigned(
    one: UnplacedFailure, issue: int, *, by: str = MATCH, distance: float = -1
) -> Assignment:
    """The failure's row, at the distance that was found unless another is given."""
    far = one.distance if distance < 0 else distance
    return Assignment(one.key, one.time_ns, issue, one.partition, far, by, one.version)


def room(partition: Partition, *, min_size: int) -> int:
    """How many failures of a partition are kept to make issues from, of which one needs so many."""
    return max(FEW, min_size) if is_explained(partition[2]) else MAX_ROWS
