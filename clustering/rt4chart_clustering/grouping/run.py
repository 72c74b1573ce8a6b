"""The main path of grouping: describe failures, assign them, create and update issues."""

from __future__ import annotations

from dataclasses import dataclass

from rt4chart_clustering.description.describe import OnProgress, describe_new_failures
from rt4chart_clustering.description.embedding import TextEmbedder
from rt4chart_clustering.description.enrichers import NO_ENRICHERS, Enrichers
from rt4chart_clustering.grouping.algorithm import Grouping
from rt4chart_clustering.grouping.assign_failures import assign_failures
from rt4chart_clustering.grouping.create_issues import create_issues
from rt4chart_clustering.grouping.measure_memberships import measure_memberships
from rt4chart_clustering.grouping.proposals import propose_merges_and_splits
from rt4chart_clustering.grouping.update_issues import move_centroids, update_issues
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.issues.failures import MAX_TIME_NS
from rt4chart_collector.store.issues.issue_events import aliases
from rt4chart_collector.store.issues.issues import stored_issues
from rt4chart_collector.store.issues.match_failures import DescriptionWindow

# A pool larger than its sample is sampled again, at most this often in a run.
MAX_DRAWS = 3


@dataclass(frozen=True, slots=True)
class GroupingResult:
    """The counts of a run. The field names are those of `rt4chart cluster --json`.

    `failures` were seen for the first time, `unexplained` of them have a pattern that no rule
    explains, `grouped` were assigned to an issue, `waiting` belong to none yet. Issues are `new`,
    `known` with further failures, or `regressed`; merges and splits are `proposed`.
    """

    failures: int
    grouped: int
    waiting: int
    unexplained: int
    new: int
    known: int
    regressed: int
    proposed: int


def ignore_progress(what: str, count: int) -> None:
    """For runs that nobody watches."""


def group_failures(
    client: Client,
    embedder: TextEmbedder,
    grouping: Grouping,
    *,
    since_ns: int,
    now_ns: int,
    on_progress: OnProgress = ignore_progress,
    enrichers: Enrichers = NO_ENRICHERS,
) -> GroupingResult:
    """Group the failures of answers since `since_ns`; everything written gets the time `now_ns`.

    Only one run at a time may work on a database: hold `cluster_lock`. An exception that
    `on_progress` raises ends the run after a complete page, and the next run continues there.
    """
    window = DescriptionWindow(embedder.id, embedder.width, since_ns, MAX_TIME_NS)
    seen, unexplained = describe_new_failures(
        client, embedder, window, on_progress=on_progress, enrichers=enrichers
    )
    move_centroids(client, window, now_ns=now_ns)
    placed = _place_failures(client, window, grouping, now_ns=now_ns, on_progress=on_progress)
    updated = update_issues(
        client,
        embedder,
        window,
        placed.gained,
        now_ns=now_ns,
        on_progress=on_progress,
        enrichers=enrichers,
    )
    if seen or placed.gained:
        measure_memberships(client, window, grouping, now_ns=now_ns, on_progress=on_progress)
    proposed = propose_merges_and_splits(
        client, window, updated, grouping=grouping, now_ns=now_ns, on_progress=on_progress
    )
    return GroupingResult(
        failures=seen,
        grouped=placed.grouped,
        waiting=placed.waiting,
        unexplained=unexplained,
        new=len(placed.new),
        known=len(placed.gained - placed.new),
        regressed=len(updated.regressed),
        proposed=proposed,
    )


@dataclass(frozen=True, slots=True)
class _Placed:
    """Failures that got an issue, failures still without one, and the issues with new failures."""

    grouped: int
    waiting: int
    gained: frozenset[int]
    new: frozenset[int]


def _place_failures(
    client: Client,
    window: DescriptionWindow,
    grouping: Grouping,
    *,
    now_ns: int,
    on_progress: OnProgress,
) -> _Placed:
    """Assign failures to issues and create issues from the rest, until no new issue appears."""
    grouped, gained, new = 0, set[int](), set[int]()
    for draw in range(MAX_DRAWS + 1):
        known = stored_issues(client)
        roots, seed, limits = aliases(client), len(known), grouping.thresholds
        assigned = assign_failures(
            client, window, roots, seed=seed, thresholds=limits, on_progress=on_progress
        )
        grouped += assigned.failures
        gained |= assigned.issues
        if draw == MAX_DRAWS:
            break
        created = create_issues(
            client,
            window,
            assigned.pool,
            known,
            seed=seed,
            grouping=grouping,
            now_ns=now_ns,
            on_progress=on_progress,
        )
        grouped += sum(len(one.members) for one in created)
        gained |= {one.issue.id for one in created}
        new |= {one.issue.id for one in created if one.is_new}
        if not created:
            break
    return _Placed(grouped, len(assigned.pool), frozenset(gained), frozenset(new))
