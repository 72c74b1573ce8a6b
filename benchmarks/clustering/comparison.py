"""One way to group failures on one set of rows: its setting, its figures and the tables of them."""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import adjusted_rand_score
from sklearn.neighbors import NearestNeighbors

from benchmarks.clustering.agreement import (
    against_pattern,
    at_most,
    interval,
    route_by_route,
    within_routes,
)
from benchmarks.clustering.rows import Failing
from benchmarks.clustering.systems import SYSTEMS, Grouping, System, apart
from otel_rt4chart.verify.findings.failure_kinds import UNEXPLAINED, FailureKind

NEIGHBOURS = 10
Words = NDArray[np.str_]


@dataclass(frozen=True, slots=True)
class Measured:
    """One way on one set of rows; `setting` is the one chosen on the other split."""

    system: str
    setting: float
    groups: int
    noise: float
    ari_pattern: float
    interval: tuple[float, float]
    within: float
    ari_topic: float
    near_pattern: float
    near_topic: float
    cpu_s: float


def choose(system: System, rows: Sequence[Failing]) -> float:
    """The setting with the highest ARI against the pattern; the first one of equals."""
    return _best(system, lambda one: against_pattern(system.group(rows, one).labels, rows))


def choose_routed(system: System, rows: Sequence[Failing]) -> float:
    """The setting with the highest mean ARI within routes; the first one of equals."""
    return _best(system, lambda one: within_routes(route_by_route(system, rows, one).labels, rows))


def _best(system: System, score: Callable[[float], float]) -> float:
    found = {setting: score(setting) for setting in system.settings}
    sys.stderr.write(f"{system.name}: {found}\n")
    return max(system.settings, key=lambda setting: found[setting])


def measure(system: System, rows: Sequence[Failing], setting: float) -> Measured:
    """Group the rows and hold the groups against pattern and topic."""
    return _measured(system, rows, setting, system.group)


def measure_routed(system: System, rows: Sequence[Failing], setting: float) -> Measured:
    """The same of the rows of each topic alone; neighbours are not looked for."""
    return _measured(system, rows, setting, partial(route_by_route, system))


def _measured(
    system: System,
    rows: Sequence[Failing],
    setting: float,
    group: Callable[[Sequence[Failing], float], Grouping],
) -> Measured:
    began = time.process_time()
    grouping = group(rows, setting)
    cpu_s = time.process_time() - began
    patterns = np.array([one.pattern for one in rows])
    topics = np.array([one.topic for one in rows])
    labels, has_space = grouping.labels, grouping.space.shape[1] > 0
    everywhere = np.ones(len(rows), dtype=np.bool_)
    return Measured(
        system=system.name,
        setting=setting,
        groups=len(set(labels.tolist()) - {-1}),
        noise=float((labels == -1).mean()),
        ari_pattern=against_pattern(labels, rows),
        interval=interval(labels, rows),
        within=within_routes(labels, rows),
        ari_topic=float(adjusted_rand_score(topics, labels)),
        near_pattern=_near(grouping, patterns, patterns != "") if has_space else 0.0,
        near_topic=_near(grouping, topics, everywhere) if has_space else 0.0,
        cpu_s=cpu_s,
    )


def _near(grouping: Grouping, words: Words, among: NDArray[np.bool_]) -> float:
    """The share of the nearest rows that have a row's own word, itself left out."""
    space, told = grouping.space[among], words[among]
    number = min(NEIGHBOURS, len(told) - 1)
    found = NearestNeighbors(n_neighbors=number).fit(space).kneighbors(return_distance=False)
    return float((told[found] == told[:, None]).mean())


def shares(rows: Sequence[Failing]) -> dict[str, float]:
    """The share of each primary operation, the commonest first."""
    counts = Counter(str(one.kind) for one in apart(rows))
    return {op: count / len(rows) for op, count in counts.most_common()}


def described(rows: Sequence[Failing]) -> str:
    """How many rows, what is known of them, what chance gives, and what is unexplained."""
    known = Counter(one.pattern for one in rows if one.pattern)
    total = known.total()
    topics = Counter(one.topic for one in rows)
    by_chance = [sum((n / of.total()) ** 2 for n in of.values()) for of in (known, topics)]
    found, alone = shares(rows), Counter(one.kind for one in apart(rows, is_marked=False))
    pool = sum(found.get(op, 0.0) for op in UNEXPLAINED)
    bare = sum(alone[op] for op in UNEXPLAINED) / len(rows)
    listed = ", ".join(f"{name} {count}" for name, count in known.most_common())
    ops = ", ".join(f"{op} {share:.0%}" for op, share in found.items())
    return (
        f"{len(rows)} failures; the pattern is known of {total}: {listed}. Neighbours agree by "
        f"chance for {by_chance[0]:.2f} (pattern) and {by_chance[1]:.2f} (topic). Unexplained "
        f"(`addition`, `other`): {pool:.0%}, {bare:.0%} without marks; another word (`term`): "
        f"{found.get(FailureKind.TERM, 0.0):.0%}. All: {ops}. Whoever knew "
        f"the pattern and divided it by operation would get an ARI of {at_most(rows):.3f}."
    )


def table(measured: Sequence[Measured]) -> str:
    """A Markdown table."""
    head = (
        "| | setting | groups | noise | ARI pattern (90%) | ARI topic | 10-NN pattern "
        "| 10-NN topic | CPU s |"
    )
    lines = [head, "|" + "---|" * 9]
    lines += [
        f"| {one.system} | {one.setting:g} | {one.groups} | {one.noise:.2f} | "
        f"{one.ari_pattern:.3f} ({one.interval[0]:.2f} to {one.interval[1]:.2f}) | "
        f"{one.ari_topic:.3f} | {one.near_pattern:.3f} | {one.near_topic:.3f} | {one.cpu_s:.1f} |"
        for one in measured
    ]
    return "\n".join(lines)


def routed_table(measured: Sequence[Measured]) -> str:
    """The same of groups that end at a route's border."""
    lines = [
        "| | setting | groups | noise | ARI pattern within routes | over all | ARI topic |",
        "|" + "---|" * 7,
    ]
    lines += [
        f"| {one.system} | {one.setting:g} | {one.groups} | {one.noise:.2f} | {one.within:.3f} | "
        f"{one.ari_pattern:.3f} | {one.ari_topic:.3f} |"
        for one in measured
    ]
    return "\n".join(lines)


def compared(measured: Sequence[Measured]) -> str:
    """Our pattern's ARI beside the best of the others."""
    ours = {system.name for system in SYSTEMS if system.is_ours}
    best = max(one.ari_pattern for one in measured if one.system not in ours)
    told = ", ".join(
        f"{one.system.removeprefix('ours')} {one.ari_pattern:.3f}".lstrip(": ")
        for one in measured
        if one.system in ours
    )
    return f"Best of the others against the pattern: {best:.3f}. Ours: {told}."
