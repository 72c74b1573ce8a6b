"""What grouping costs as failures grow: CPU seconds and memory of a first run and of the next.

    python -m benchmarks.clustering.scale [--sizes 1000 10000 100000] [--json]

The failures are made in the engine, a process a size: over seven days and four routes, 60% of them
numbers that differ from the source (an explained pattern), 30% additions that say one of 60 things
in their own words, 10% additions that say nothing twice. The first run describes, matches, clusters
and names all of them, the second finds a hundredth more. The exponent is the slope of the logarithm
of the CPU seconds, less those of a run over nothing, from size to size: 1 is linear.
"""

from __future__ import annotations

import argparse
import json
import math
import resource
import subprocess
import sys
import tempfile
import time
from itertools import pairwise
from pathlib import Path

from rt4chart_clustering.description.embedding import HashingEmbedder
from rt4chart_clustering.grouping.engine import HdbscanGrouping
from rt4chart_clustering.grouping.run import GroupingResult, group_failures
from rt4chart_collector.store.engine.connect import Client, connect
from rt4chart_collector.store.schema.migrate import migrate

DAY = 86_400_000_000_000
# Far ahead: what is older than the tables keep is dropped, at a moment of the engine's choosing.
START = 4_000_000_000_000_000_000 // DAY * DAY
LATER = START + 8 * DAY
# A word of a hundred thousand, by chance that is the same for the same number and place.
LETTERS = "translate(hex({}), '0123456789ABCDEF', 'abcdefghijklmnop')"
WORD = "concat('w', " + LETTERS.format("cityHash64(number, {place}) % 100000") + ")"
ROW = """
    fromUnixTimestamp64Nano(toInt64({start:Int64} + cityHash64(number) % (7 * 86400000000000)))
        AS Timestamp,
    lower(leftPad(hex(cityHash64(number, 1)), 32, '0')) AS TraceId,
    lower(leftPad(hex(number), 16, '0')) AS SpanId,
    'shop' AS ServiceName, concat('route-', toString(number % 4)) AS Route,
    'scale/1' AS VerifierId, {start:Int64} AS Version, 0 AS IsDeleted
"""
CLAIMS = f"""
INSERT INTO rt4chart_claims (Timestamp, TraceId, SpanId, ServiceName, Route, VerifierId, Version,
    IsDeleted, ClaimIndex, Label, Claim, Nearest, Evidence.DocId, Evidence.Start, Evidence.End,
    Evidence.Relation, Evidence.Text)
WITH cityHash64(number, 3) % 10 AS kind, {LETTERS.format("cityHash64(number, 2) % 60")} AS said
SELECT {ROW}, 0 AS ClaimIndex, if(kind < 6, 'contradicted', 'baseless') AS Label,
    multiIf(
        kind < 6, concat('The ', {WORD.format(place=4)}, ' plan lasts ',
            toString(15 + number % 80), ' days.'),
        kind < 9, concat('It also has the alpha', said, ' beta', said, ' gamma', said, ' delta',
            said, ' ', {WORD.format(place=5)}, ' service.'),
        concat('It ', {WORD.format(place=5)}, ' ', {WORD.format(place=6)}, ' ',
            {WORD.format(place=7)}, ' ', {WORD.format(place=8)}, '.')
    ) AS Claim,
    'Nothing like it stands here.' AS Nearest,
    if(kind < 6, ['p1'], []) AS DocId, if(kind < 6, [0], []) AS Start, if(kind < 6, [9], []) AS End,
    if(kind < 6, ['contradicts'], []) AS Relation,
    if(kind < 6, [concat('The ', {WORD.format(place=4)}, ' plan lasts 14 days.')], []) AS Text
FROM numbers({{first:UInt64}}, {{count:UInt64}})
"""  # noqa: S608 - our own words
VERIFICATIONS = f"""
INSERT INTO rt4chart_verifications (Timestamp, TraceId, SpanId, ServiceName, Route, VerifierId,
    Version, IsDeleted, Decision, Label, SampleRate, ClaimCount, Question)
SELECT {ROW}, 'verified' AS Decision,
    if(cityHash64(number, 3) % 10 < 6, 'contradicted', 'baseless') AS Label, 1 AS SampleRate,
    1 AS ClaimCount, 'How long does it last?' AS Question
FROM numbers({{first:UInt64}}, {{count:UInt64}})
"""  # noqa: S608 - our own words


def main() -> None:
    """A process a size, a line a size, the exponents."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--sizes", type=int, nargs="+", default=[1_000, 10_000, 100_000])
    parser.add_argument("--size", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    if options.size is not None:
        print(json.dumps(measured(options.size)))
        return
    found = []
    for size in options.sizes:
        found.append(_in_a_process(size))
        if not options.json:
            print(shown(found[-1]), flush=True)
    if options.json:
        print(json.dumps(found, indent=2))
        return
    for less, more in pairwise(found):
        told = ", ".join(
            f"{which} {exponent(less, more, f'{which} cpu s'):.2f}" for which in ("first", "next")
        )
        print(f"exponent from {less['failures']:,.0f} to {more['failures']:,.0f}: {told}")


def exponent(less: dict[str, float], more: dict[str, float], name: str) -> float:
    """The slope of the logarithms of the time beyond that of nothing."""
    idle = less["idle cpu s"]
    grown = max(more[name] - idle, 0.01) / max(less[name] - idle, 0.01)
    return math.log(grown) / math.log(more["failures"] / less["failures"])


def shown(one: dict[str, float]) -> str:
    """A size's line."""
    return "  ".join(f"{name} {value:,.4g}" for name, value in one.items())


def _in_a_process(size: int) -> dict[str, float]:
    command = [sys.executable, "-m", "benchmarks.clustering.scale", "--size", str(size)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def measured(size: int) -> dict[str, float]:
    """The figures of one size."""
    with (
        tempfile.TemporaryDirectory() as folder,
        connect(f"chdb://{Path(folder) / 'db'}") as client,
    ):
        migrate(client)
        grouped(client, at=0)
        idle, _ = grouped(client, at=1)
        filled(client, 0, size)
        before = peak_mb()
        steps: dict[str, float] = {}
        first, outcome = grouped(client, at=2, steps=steps)
        filled(client, size, max(size // 100, 1))
        later: dict[str, float] = {}
        following, more = grouped(client, at=3, steps=later)
    return {
        "failures": size,
        "first cpu s": first,
        "next cpu s": following,
        "idle cpu s": idle,
        "peak MB": peak_mb(),
        "peak MB before": before,
        "issues": outcome.new,
        "grouped": outcome.grouped,
        "waiting": outcome.waiting,
        "new issues of the next": more.new,
        **{f"until {what}": spent for what, spent in steps.items()},
        **{f"next until {what}": spent for what, spent in later.items()},
    }


def filled(client: Client, first: int, count: int) -> None:
    """So many failures more, by their numbers."""
    given = {"start": START, "first": first, "count": count}
    client.command(CLAIMS, given)
    client.command(VERIFICATIONS, given)


def grouped(
    client: Client, *, at: int, steps: dict[str, float] | None = None
) -> tuple[float, GroupingResult]:
    """A run's CPU seconds, the engine's too, and its outcome; `steps` gets the time of each."""
    started = time.process_time()

    def on_progress(what: str, _: int) -> None:
        if steps is not None:
            steps[what] = round(time.process_time() - started, 2)

    outcome = group_failures(
        client,
        HashingEmbedder(),
        HdbscanGrouping(),
        since_ns=START,
        now_ns=LATER + at,
        on_progress=on_progress,
    )
    return time.process_time() - started, outcome


def peak_mb() -> float:
    """The most memory that this process had so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    main()
