"""What a deployment needs at a given load, computed from measured figures.

    python -m benchmarks.service.sizing [--answers-per-minute 1000,50000] [--sampled 0.1]

Prints the table of docs/deploy/layouts.md. Nothing is measured here: each figure below names where
it was. A load beyond what was run is an extrapolation: parts are added, none gets faster or slower.
What is assumed and not measured is listed apart.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence
from dataclasses import dataclass

from rt4chart_collector.pipeline.outcome_saver import FEW_OUTCOMES

DAY_S, MINUTE_S = 86_400, 60


@dataclass(frozen=True, slots=True)
class Measured:
    """Figures of two shared cores; the page or the command that has each."""

    span_bytes: float = 407.0  # on disk, with texts: docs/deploy/layouts.md
    claim_bytes: float = 112.0  # the middle of 75 to 150
    verdict_bytes: float = 50.0
    stored_per_core_s: float = 10_000.0  # spans: 20,000 a second on two cores
    verified_per_core_s: float = 8.7  # `local`: 10 answers a second took 1.15 cores
    decided_per_core_s: float = 450.0  # not sampled: benchmarks.service.scale --sampled 0
    reached: float = (
        0.88  # of the ideal, by 64 threads behind an endpoint: benchmarks.service.scale
    )
    inserts_per_save: float = 3.0  # benchmarks.service.scale --rates


@dataclass(frozen=True, slots=True)
class Assumed:
    """What differs between deployments."""

    spans: int = 6  # of an answer
    claims: int = 5
    endpoint_s: float = 6.0  # an answer takes behind an endpoint: three calls of 2 s
    threads: int = 64  # of a worker process behind an endpoint: fewer processes, fewer INSERTs
    spare: float = 2.0  # twice the capacity: for catching up, merges and reads
    cores_per_shard: int = 8
    days: int = 30


@dataclass(frozen=True, slots=True)
class Size:
    """What one load needs."""

    answers_per_minute: int
    spans_per_s: float
    local_cores: int
    endpoint_processes: int
    partitions: int
    shards: int
    gib_per_day: float
    tib_kept: float
    inserts_per_s: int
    verifying_share: float
    """Of the cores of workers and shards, those that judge."""

    @property
    def inserts_per_1000(self) -> float:
        """Of verdicts, for 1,000 answers."""
        return self.inserts_per_s / (self.answers_per_minute / MINUTE_S) * 1000


def size(
    answers_per_minute: int,
    sampled: float,
    measured: Measured = Measured(),
    assumed: Assumed = Assumed(),
) -> Size:
    """The parts for so many answers a minute, of which the share `sampled` is verified."""
    answers = answers_per_minute / MINUTE_S
    spans, verified = answers * assumed.spans, answers * sampled
    deciding = answers / measured.decided_per_core_s
    cores = math.ceil((verified / measured.verified_per_core_s + deciding) * assumed.spare)
    waiting = verified * assumed.endpoint_s / assumed.threads / measured.reached
    processes = math.ceil(max(waiting, deciding) * assumed.spare)
    stored = spans / measured.stored_per_core_s * assumed.spare
    bytes_per_s = (
        spans * measured.span_bytes
        + answers * measured.verdict_bytes
        + verified * assumed.claims * measured.claim_bytes
    )
    workers = max(cores, processes)
    verifying = verified / measured.verified_per_core_s
    return Size(
        answers_per_minute,
        spans_per_s=spans,
        local_cores=cores,
        endpoint_processes=processes,
        partitions=max(24, 2 * workers),
        shards=math.ceil(stored / assumed.cores_per_shard),
        gib_per_day=bytes_per_s * DAY_S / 2**30,
        tib_kept=bytes_per_s * DAY_S * assumed.days / 2**40,
        inserts_per_s=math.ceil(workers * inserts_per_s(answers / workers, measured)),
        verifying_share=verifying / (verifying + deciding + spans / measured.stored_per_core_s),
    )


def inserts_per_s(answers_per_s: float, measured: Measured) -> float:
    """The INSERTs of a process: it saves every two seconds where many answers come.

    Else it saves every second, or each answer where they come more slowly.
    """
    saves = 0.5 if answers_per_s > FEW_OUTCOMES else min(answers_per_s, 1.0)
    return saves * measured.inserts_per_save


def table(sizes: Sequence[Size]) -> str:
    """The sizes in Markdown, a column each."""
    rows = (
        ("answers a minute", [f"{one.answers_per_minute:,}" for one in sizes]),
        ("spans a second", [f"{one.spans_per_s:,.0f}" for one in sizes]),
        ("cores of workers, judge `local`", [f"{one.local_cores:,}" for one in sizes]),
        ("or worker processes, an endpoint", [f"{one.endpoint_processes:,}" for one in sizes]),
        ("partitions", [f"{one.partitions:,}" for one in sizes]),
        ("ClickHouse shards of 8 cores", [f"{one.shards:,}" for one in sizes]),
        ("INSERTs of verdicts a second, about", [f"{one.inserts_per_s:,}" for one in sizes]),
        ("INSERTs per 1,000 answers", [f"{one.inserts_per_1000:,.0f}" for one in sizes]),
        ("GiB a day", [f"{one.gib_per_day:,.0f}" for one in sizes]),
        ("TiB for 30 days", [f"{one.tib_kept:,.1f}" for one in sizes]),
        ("of all cores, judging takes", [f"{one.verifying_share:.0%}" for one in sizes]),
    )
    (head, first), *rest = rows
    lines = [f"| {head} | {' | '.join(first)} |", "|---" * (1 + len(sizes)) + "|"]
    return "\n".join([*lines, *(f"| {name} | {' | '.join(row)} |" for name, row in rest)])


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--answers-per-minute", default="1000,10000,50000,500000")
    parser.add_argument("--sampled", type=float, default=0.1, help="share of answers verified")
    options = parser.parse_args()
    loads = [int(written) for written in options.answers_per_minute.split(",")]
    print(table([size(load, options.sampled) for load in loads]))


if __name__ == "__main__":
    main()
