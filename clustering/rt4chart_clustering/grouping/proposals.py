"""Merges and splits that a person may apply: they are put on record, and nothing else is done.

A merge is proposed of two issues of a partition that are each other's nearest and near enough, and
of an issue and the one that its pattern had by an earlier version of the fingerprint. A split is
proposed of an issue whose failures, in two halves drawn by chance, fall into the same two groups.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from rt4chart_clustering.description.described import Between, is_explained
from rt4chart_clustering.description.embedding import Matrix
from rt4chart_clustering.grouping.engine import NOISE, cluster, middle
from rt4chart_clustering.grouping.identity import NEAR, unversioned
from rt4chart_clustering.grouping.update_issues import Settled
from rt4chart_collector.store.engine.columns import Partition
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.issues.issue_events import Event, last_events, record
from rt4chart_collector.store.issues.issue_samples import sampled_vectors
from rt4chart_collector.store.issues.issues import Issue
from rt4chart_collector.store.issues.match_failures import DescriptionWindow

# How near (cosine) a half's group must be to the other half's to be the same group.
SAME = 0.9
# Failures that a split is looked for among, and groups that are too small a share of them.
DRAWN, SHARE = 2_000, 10
# Vectors that are read in one statement.
TOGETHER = 10_000
MERGE, SPLIT = "proposed_merge", "proposed_split"
NO_MERGE, NO_SPLIT = "refused_merge", "refused_split"


@dataclass(frozen=True, slots=True)
class Halves:
    """Two groups within an issue: their middles, and how many of those drawn are in each."""

    middles: tuple[Matrix, Matrix]
    counts: tuple[int, int]


def propose(
    client: Client,
    window: DescriptionWindow,
    settled: Settled,
    *,
    min_size: int,
    now_ns: int,
    between: Between,
) -> int:
    """Record what is proposed and was not before; how many proposals that is.

    A split that was not looked for, as the run was broken off, is at the next growth point.
    """
    said = last_events(client, (MERGE, SPLIT, NO_MERGE, NO_SPLIT, "split"))
    events = list(_merges(settled.issues, window.model, said, now_ns))
    record(client, events)
    count, seen = len(events), 0
    due = [
        issue
        for issue in settled.issues
        if issue.id in settled.grown
        and issue.claims >= 4 * min_size
        and not is_explained(issue.fingerprint)
        and may_split(said.get(issue.id, {}))
    ]
    for batch in batches(due):
        between("read for splits", seen)
        ids = [id for issue in batch for id in issue.ids]
        drawn = sampled_vectors(client, window, ids, each=DRAWN)
        events = []
        for issue in batch:
            lying = [vector for id in issue.ids for vector in drawn.get(id, ())]
            seen += len(lying)
            halves = stable_halves(np.array(lying, dtype=np.float32), min_size=min_size)
            if halves is not None:
                events.append(Event(issue.id, now_ns, SPLIT, _written(halves, window.model)))
        record(client, events)
        count += len(events)
    return count


def may_split(said: Mapping[str, Event]) -> bool:
    """True where no split was proposed of an issue, or the last one that was proposed was done.

    `said` are the last events of each kind; a person who refused one is not asked again.
    """
    proposed, done = said.get(SPLIT), said.get("split")
    if NO_SPLIT in said:
        return False
    return proposed is None or (done is not None and done.at_ns > proposed.at_ns)


def standing_merge(issue: Issue, trail: Iterable[Event]) -> Event | None:
    """The last merge that was proposed of an issue or an alias of it, neither done nor refused."""
    into, standing = {f"{one:016x}" for one in issue.ids}, dict[tuple[int, str], Event]()
    for event in trail:
        if event.kind == MERGE and (other := json.loads(event.value)["into"]) not in into:
            standing[event.issue, other] = event
        elif event.kind == NO_MERGE:
            standing.pop((event.issue, event.value), None)
    return max(standing.values(), key=lambda event: (event.at_ns, event.id), default=None)


def standing_split(issue: Issue, trail: Iterable[Event]) -> Event | None:
    """The split that was proposed last, unless it was done or refused; an alias's cannot be."""
    last = None
    for event in trail:
        if event.issue == issue.id and event.kind in (SPLIT, "split", NO_SPLIT):
            last = event
    return last if last is not None and last.kind == SPLIT else None


def _merges(
    issues: Sequence[Issue], model: str, said: Mapping[int, Mapping[str, Event]], now_ns: int
) -> Iterator[Event]:
    """A proposal for each pair of which it is not the last thing that was said."""
    for one, other, likeness in [*near_pairs(issues, model), *renamed_pairs(issues)]:
        last = said.get(one.id, {})
        before, refused = last.get(MERGE), last.get(NO_MERGE)
        if refused is not None and refused.value == f"{other.id:016x}":
            continue
        if before is None or json.loads(before.value)["into"] != f"{other.id:016x}":
            value = {"into": f"{other.id:016x}", "likeness": round(likeness, 3)}
            yield Event(one.id, now_ns, MERGE, json.dumps(value))


def batches(issues: Sequence[Issue]) -> Iterator[list[Issue]]:
    """The issues in parts whose failures are few enough to be read in one statement."""
    batch: list[Issue] = []
    for issue in issues:
        if batch and sum(min(one.claims, DRAWN) for one in [*batch, issue]) > TOGETHER:
            yield batch
            batch = []
        batch.append(issue)
    if batch:
        yield batch


def near_pairs(issues: Sequence[Issue], model: str) -> Iterator[tuple[Issue, Issue, float]]:
    """The issues that are each other's nearest, the smaller first, and how near they are."""
    partitions: defaultdict[Partition, list[Issue]] = defaultdict(list)
    for issue in issues:
        if not is_explained(issue.fingerprint) and issue.model == model and issue.centroid:
            partitions[unversioned(issue.partition)].append(issue)
    for partition in sorted(partitions):
        beside = sorted(partitions[partition], key=lambda issue: (issue.claims, issue.id))
        if len(beside) < 2:
            continue
        space = np.array([issue.centroid for issue in beside], dtype=np.float32)
        likeness = space @ space.T
        np.fill_diagonal(likeness, -1)
        nearest = likeness.argmax(axis=1)
        for at, other in enumerate(nearest.tolist()):
            if at < other and nearest[other] == at and likeness[at, other] >= NEAR:
                yield beside[at], beside[other], float(likeness[at, other])


def renamed_pairs(issues: Sequence[Issue]) -> Iterator[tuple[Issue, Issue, float]]:
    """Whole patterns of the fingerprint's version, each with its issue of the version before."""
    former: dict[Partition, Issue] = {}
    for issue in sorted(issues, key=lambda issue: (issue.fingerprint, issue.first_ns, issue.id)):
        if is_explained(issue.fingerprint):
            before = former.get(unversioned(issue.partition))
            if before is not None and before.fingerprint != issue.fingerprint:
                yield issue, before, 1.0
            former[unversioned(issue.partition)] = issue


def stable_halves(vectors: Matrix, *, min_size: int) -> Halves | None:
    """The two groups that both halves of the rows fall into, the larger first; None where not."""
    if len(vectors) < 4 * min_size:
        return None
    found = [_two(vectors[start::2], min_size) for start in (0, 1)]
    first, second = found
    if first is None or second is None:
        return None
    likeness = np.stack(first.middles) @ np.stack(second.middles).T
    straight, crossed = likeness.diagonal().min(), likeness[::-1].diagonal().min()
    if max(straight, crossed) < SAME:
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
        middle(np.stack([first.middles[one], second.middles[other]]))[0] for _, one, other in pairs
    ]
    return Halves((joined[0], joined[1]), (pairs[0][0], pairs[1][0]))


def _two(vectors: Matrix, min_size: int) -> Halves | None:
    """The two largest groups of some rows, where they are apart."""
    labels = cluster(vectors, min_size=max(min_size, len(vectors) // SHARE))
    sizes = [(int((labels == one).sum()), one) for one in sorted(set(labels.tolist()) - {NOISE})]
    if len(sizes) < 2:
        return None
    (count, one), (less, other) = sorted(sizes, key=lambda size: (-size[0], size[1]))[:2]
    middles = (middle(vectors[labels == one])[0], middle(vectors[labels == other])[0])
    return Halves(middles, (count, less)) if middles[0] @ middles[1] < NEAR else None


def _written(halves: Halves, model: str) -> str:
    middles = [[round(number, 4) for number in one.tolist()] for one in halves.middles]
    return json.dumps({"model": model, "drawn": list(halves.counts), "middles": middles})
