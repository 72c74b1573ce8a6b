"""How often an issue changes its id, and how many ids a true issue costs.

    python -m benchmarks.clustering.identity [--seeds 3] [--turn 1] [--loose 0] [--json]

A simulated world of 21 days and 30 patterns (issue_world.py) goes day by day through the real run
over a real temporary database, one process a seed; beside it HDBSCAN on the same seven days, whose
labels are taken as ids. A true issue's id on a day is the one that most of its failures of the last
seven days have, where it has five; an issue-day changes id where that of the day before is another.
Minted are the ids that stand in the registry in the end, for each true issue that ever had five
failures within seven days. --turn is how many degrees a pattern drifts a day, --loose by how much
the cosine of its failures is lower than in the default world.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np

from benchmarks.clustering.issue_world import (
    DAY,
    NOISE,
    START,
    Seen,
    WordEmbedder,
    verdict_of,
    world,
)
from rt4chart_clustering.grouping.engine import HdbscanGrouping
from rt4chart_clustering.grouping.run import group_failures
from rt4chart_collector.store.answers.verdicts import insert_verdicts
from rt4chart_collector.store.engine.connect import Client, connect
from rt4chart_collector.store.issues.assignments import assignments_of
from rt4chart_collector.store.issues.issues import list_issues, stored_issues
from rt4chart_collector.store.schema.migrate import migrate

WINDOW, MIN_SIZE = 7, 5
Ids = dict[int, int]


def main() -> None:
    """A process a seed, and the means."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--turn", type=float, default=1.0)
    parser.add_argument("--loose", type=float, default=0.0)
    parser.add_argument("--seed", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    if options.seed is not None:
        print(json.dumps(measured(options.seed, turn=options.turn, loose=options.loose)))
        return
    kind = ["--turn", str(options.turn), "--loose", str(options.loose)]
    found = [_in_a_process(seed, kind) for seed in range(options.seeds)]
    if options.json:
        print(json.dumps(found, indent=2))
        return
    names = list(found[0])
    print(f"{'':30}" + "".join(f"{f'seed {at}':>10}" for at in range(len(found))) + "      mean")
    for name in names:
        row = [one[name] for one in found]
        shown = "".join(f"{value:10.3f}" for value in [*row, sum(row) / len(row)])
        print(f"{name:30}{shown}")


def _in_a_process(seed: int, kind: Sequence[str]) -> dict[str, float]:
    command = [sys.executable, "-m", "benchmarks.clustering.identity", "--seed", str(seed), *kind]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def measured(seed: int, *, turn: float, loose: float) -> dict[str, float]:
    """The figures of one world."""
    embedder = WordEmbedder()
    with (
        tempfile.TemporaryDirectory() as folder,
        connect(f"chdb://{Path(folder) / 'db'}") as client,
    ):
        migrate(client)
        seen: list[Seen] = []
        ours, raw = [], []
        for day, new in enumerate(world(seed, turn=turn, loose=loose)):
            seen += new
            embedder.learn(new)
            insert_verdicts(client, [verdict_of(one) for one in new])
            now_ns = START + (day + 1) * DAY
            since_ns = now_ns - WINDOW * DAY
            group_failures(
                client, embedder, HdbscanGrouping(MIN_SIZE), since_ns=since_ns, now_ns=now_ns
            )
            window = [one for one in seen if one.day > day - WINDOW]
            ours.append(majority(window, _placed(client)))
            vectors = np.stack([one.vector for one in window])
            labels = HdbscanGrouping(MIN_SIZE).labels(vectors).tolist()
            kept = zip(window, labels, strict=True)
            raw.append(majority(window, {one.number: id for one, id in kept if id != NOISE}))
        return _figures(seen, ours, raw, _placed(client), len(stored_issues(client)))


def _placed(client: Client) -> Ids:
    """The issue of each failure that has one."""
    numbers = {}
    for issue in list_issues(client):
        for one in assignments_of(client, issue.ids, limit=100_000):
            numbers[int(one.key[1], 16)] = issue.id
    return numbers


def majority(window: Sequence[Seen], ids: Mapping[int, int]) -> Ids:
    """The id of each true issue that has enough failures, where one of them has an id."""
    sizes = Counter(one.pattern for one in window if one.pattern != NOISE)
    found: dict[int, Counter[int]] = {}
    for one in window:
        if one.pattern != NOISE and sizes[one.pattern] >= MIN_SIZE and one.number in ids:
            found.setdefault(one.pattern, Counter())[ids[one.number]] += 1
    return {
        pattern: min(counts.items(), key=lambda pair: (-pair[1], pair[0]))[0]
        for pattern, counts in found.items()
    }


def changed(days: Sequence[Ids]) -> float:
    """The share of issue-days on which the id is not that of the day before."""
    pairs = [
        (before[pattern], after[pattern])
        for before, after in pairwise(days)
        for pattern in before.keys() & after.keys()
    ]
    return sum(one != other for one, other in pairs) / max(len(pairs), 1)


def _figures(
    seen: Sequence[Seen], ours: Sequence[Ids], raw: Sequence[Ids], placed: Ids, minted: int
) -> dict[str, float]:
    true = {pattern for ids in ours for pattern in ids} | set(_large(seen))
    by_issue: dict[int, Counter[int]] = {}
    for one in seen:
        if one.number in placed:
            by_issue.setdefault(placed[one.number], Counter())[one.pattern] += 1
    pure = sum(max(counts.values()) for counts in by_issue.values()) / max(len(placed), 1)
    inside = [one.number in placed for one in seen if one.pattern != NOISE]
    noise = [one.number in placed for one in seen if one.pattern == NOISE]
    return {
        "issue-days that change id": changed(ours),
        "the same, raw labels": changed(raw),
        "ids minted": float(minted),
        "true issues": float(len(true)),
        "ids minted per true issue": minted / len(true),
        "purity of issues": pure,
        "failures in an issue": sum(inside) / len(inside),
        "noise in an issue": sum(noise) / max(len(noise), 1),
        "failures": float(len(seen)),
    }


def _large(seen: Sequence[Seen]) -> set[int]:
    """The patterns that had enough failures within a window."""
    days = Counter((one.pattern, one.day) for one in seen if one.pattern != NOISE)
    return {
        pattern
        for pattern, day in days
        if sum(days[pattern, day - back] for back in range(WINDOW)) >= MIN_SIZE
    }


if __name__ == "__main__":
    main()
