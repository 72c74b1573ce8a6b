"""Proposals of merges and splits. They are only recorded: a person applies or refuses them.

A merge is proposed for two issues of a partition that are each other's nearest and near enough, and
for an issue and the one that its pattern had with an earlier version of the fingerprint. A split is
proposed for an issue if both halves of a random sample of its failures form the same two groups.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from rt4chart_clustering.description.describe import OnProgress, is_explained
from rt4chart_clustering.description.embedding import Matrix
from rt4chart_clustering.grouping.algorithm import Grouping, centroid_of
from rt4chart_clustering.grouping.identity import without_version
from rt4chart_clustering.grouping.open_proposals import (
    PROPOSED_MERGE,
    PROPOSED_SPLIT,
    REFUSED_MERGE,
    REFUSED_SPLIT,
)
from rt4chart_clustering.grouping.update_issues import UpdatedIssues
from rt4chart_collector.store.engine.columns import Partition
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.issues.failure_samples import sampled_vectors
from rt4chart_collector.store.issues.issue_events import IssueEvent, last_events, record_events
from rt4chart_collector.store.issues.issues import Issue
from rt4chart_collector.store.issues.match_failures import DescriptionWindow

# Failures of an issue that are searched for a split.
SPLIT_SAMPLE = 2_000
# Vectors that one statement reads.
VECTORS_PER_READ = 10_000


@dataclass(frozen=True, slots=True)
class SplitGroups:
    """Two groups within an issue: their centroids, and their sizes in the sample."""

    centroids: tuple[Matrix, Matrix]
    counts: tuple[int, int]


def propose_merges_and_splits(
    client: Client,
    window: DescriptionWindow,
    updated: UpdatedIssues,
    *,
    grouping: Grouping,
    now_ns: int,
    on_progress: OnProgress,
) -> int:
    """Record the proposals that are new, and return their number.

    After an interrupted run, the issues left out are searched at their next growth point.
    """
    last_of = last_events(
        client, (PROPOSED_MERGE, PROPOSED_SPLIT, REFUSED_MERGE, REFUSED_SPLIT, "split")
    )
    events = list(_merge_proposals(updated.issues, window.model, last_of, grouping, now_ns))
    record_events(client, events)
    count, seen = len(events), 0
    due = [
        issue
        for issue in updated.issues
        if issue.id in updated.grown
        and issue.claims >= 4 * grouping.thresholds.min_size
        and not is_explained(issue.fingerprint)
        and may_split(last_of.get(issue.id, {}))
    ]
    for batch in batch_by_vectors(due):
        on_progress("searched for splits", seen)
        ids = [id for issue in batch for id in issue.ids]
        drawn = sampled_vectors(client, window, ids, each=SPLIT_SAMPLE)
        events = []
        for issue in batch:
            vectors = [vector for id in issue.ids for vector in drawn.get(id, ())]
            seen += len(vectors)
            split = find_stable_split(np.array(vectors, dtype=np.float32), grouping)
            if split is not None:
                events.append(
                    IssueEvent(issue.id, now_ns, PROPOSED_SPLIT, _split_json(split, window.model))
                )
        record_events(client, events)
        count += len(events)
    return count


def may_split(last: Mapping[str, IssueEvent]) -> bool:
    """True if no split was proposed yet, or the last proposal was applied.

    `last` has the last event of each kind. A person who refused a split is not asked again.
    """
    proposed, done = last.get(PROPOSED_SPLIT), last.get("split")
    if REFUSED_SPLIT in last:
        return False
    return proposed is None or (done is not None and done.at_ns > proposed.at_ns)


def _merge_proposals(
    issues: Sequence[Issue],
    model: str,
    last_of: Mapping[int, Mapping[str, IssueEvent]],
    grouping: Grouping,
    now_ns: int,
) -> Iterator[IssueEvent]:
    """A proposal for each pair for which it is neither the last proposal nor the last refusal."""
    for one, other, similarity in [*nearest_pairs(issues, model, grouping), *version_pairs(issues)]:
        last = last_of.get(one.id, {})
        before, refused = last.get(PROPOSED_MERGE), last.get(REFUSED_MERGE)
        if refused is not None and refused.value == f"{other.id:016x}":
            continue
        if before is None or json.loads(before.value)["into"] != f"{other.id:016x}":
            value = {"into": f"{other.id:016x}", "likeness": round(similarity, 3)}
            yield IssueEvent(one.id, now_ns, PROPOSED_MERGE, json.dumps(value))


def batch_by_vectors(issues: Sequence[Issue]) -> Iterator[list[Issue]]:
    """The issues in batches whose failures are few enough for one statement."""
    batch: list[Issue] = []
    for issue in issues:
        if (
            batch
            and sum(min(one.claims, SPLIT_SAMPLE) for one in [*batch, issue]) > VECTORS_PER_READ
        ):
            yield batch
            batch = []
        batch.append(issue)
    if batch:
        yield batch


def nearest_pairs(
    issues: Sequence[Issue], model: str, grouping: Grouping
) -> Iterator[tuple[Issue, Issue, float]]:
    """The issues that are each other's nearest, the smaller one first, with their similarity."""
    least = grouping.thresholds.same_similarity
    partitions: defaultdict[Partition, list[Issue]] = defaultdict(list)
    for issue in issues:
        if not is_explained(issue.fingerprint) and issue.model == model and issue.centroid:
            partitions[without_version(issue.partition)].append(issue)
    for partition in sorted(partitions):
        beside = sorted(partitions[partition], key=lambda issue: (issue.claims, issue.id))
        if len(beside) < 2:
            continue
        space = np.array([issue.centroid for issue in beside], dtype=np.float32)
        similarity = space @ space.T
        np.fill_diagonal(similarity, -1)
        nearest = similarity.argmax(axis=1)
        for at, other in enumerate(nearest.tolist()):
            if at < other and nearest[other] == at and similarity[at, other] >= least:
                yield beside[at], beside[other], float(similarity[at, other])


def version_pairs(issues: Sequence[Issue]) -> Iterator[tuple[Issue, Issue, float]]:
    """Issues of one explained pattern, each with the first one, by version and time."""
    former: dict[Partition, Issue] = {}
    for issue in sorted(issues, key=_by_version):
        if is_explained(issue.fingerprint):
            before = former.setdefault(without_version(issue.partition), issue)
            if before.fingerprint != issue.fingerprint:
                yield issue, before, 1.0


def _by_version(issue: Issue) -> tuple[str, int, int]:
    return (issue.fingerprint.partition(":")[0], issue.first_ns, issue.id)


def find_stable_split(vectors: Matrix, grouping: Grouping) -> SplitGroups | None:
    """The two groups that both halves of the rows form, the larger first; None if they differ."""
    if len(vectors) < 4 * grouping.thresholds.min_size:
        return None
    # Any sample can be cut in two. A cut that two disjoint halves agree on is in the failures.
    found = [_two_largest(vectors[start::2], grouping) for start in (0, 1)]
    first, second = found
    if first is None or second is None:
        return None
    similarity = np.stack(first.centroids) @ np.stack(second.centroids).T
    straight, crossed = similarity.diagonal().min(), similarity[::-1].diagonal().min()
    if max(straight, crossed) < grouping.thresholds.stable_similarity:
        return None
    at = (0, 1) if straight >= crossed else (1, 0)
    pairs = sorted(
        (
            (first.counts[one] + second.counts[other], one, other)
            for one, other in zip((0, 1), at, strict=True)
        ),
        key=lambda pair: (-pair[0], pair[1]),
    )
    joined = [
        centroid_of(np.stack([first.centroids[one], second.centroids[other]]))[0]
        for _, one, other in pairs
    ]
    return SplitGroups((joined[0], joined[1]), (pairs[0][0], pairs[1][0]))


def _two_largest(vectors: Matrix, grouping: Grouping) -> SplitGroups | None:
    """The two largest groups of some rows, unless they are the same issue."""
    limits = grouping.thresholds
    groups = grouping.group(vectors, min_size=len(vectors) // limits.subgroup_parts)
    if len(groups) < 2:
        return None
    large, small = sorted(groups, key=lambda group: -len(group.rows))[:2]
    if large.centroid @ small.centroid >= limits.same_similarity:
        return None
    return SplitGroups((large.centroid, small.centroid), (len(large.rows), len(small.rows)))


def _split_json(split: SplitGroups, model: str) -> str:
    centroids = [[round(number, 4) for number in one.tolist()] for one in split.centroids]
    return json.dumps({"model": model, "drawn": list(split.counts), "middles": centroids})
