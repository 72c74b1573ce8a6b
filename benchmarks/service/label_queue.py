"""How long it takes to draw a thousand claims for labels from a million that were judged.

    python -m benchmarks.service.label_queue [--claims 1000000] [--size 50] [--runs 5]

The engine makes the rows itself, in a temporary embedded database, as `benchmarks.service.queries`
does: five claims an answer, twenty routes, one verifier. A draw reads the sums of each route, then
the head of its queue, and stores both; the corrected rates of the routes read the same sums again.
Medians of some runs, as the client sees them: seconds on the clock, and seconds of CPU of the whole
process with the engine's threads.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from statistics import median

from benchmarks.service.queries import CLAIMS_EACH, DAY_NS, ROUTES, fill
from rt4chart_collector.store.engine.connect import Client, connect
from rt4chart_collector.store.engine.scope import QueryScope
from rt4chart_collector.store.labels.corrected_rates import corrected_rates
from rt4chart_collector.store.labels.draws import DEFAULT_SEED, DrawRequest, draw_claims
from rt4chart_collector.store.labels.populations import first_claims, populations
from rt4chart_collector.store.schema.migrate import migrate


@dataclass(frozen=True, slots=True)
class Cost:
    """The median seconds of some runs, on the clock and of CPU."""

    clock_s: float
    cpu_s: float


def main() -> None:
    """Make the rows, draw several times, and print what each part took."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--claims", type=int, default=1_000_000)
    parser.add_argument("--size", type=int, default=1000 // ROUTES, help="claims of each route")
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    with (
        tempfile.TemporaryDirectory() as folder,
        connect(f"chdb://{Path(folder) / 'db'}") as client,
    ):
        migrate(client)
        start_ns = time.time_ns() - DAY_NS
        fill(client, options.claims // CLAIMS_EACH, start_ns)
        scope = QueryScope(start_ns, start_ns + DAY_NS, "local/1")
        found = costs(client, scope, options.size, options.runs)
    print(f"{options.size * ROUTES:,} claims of {options.claims:,}, {ROUTES} routes")
    print(f"{f'median of {options.runs} runs, s':40}{'clock':>8}{'CPU':>8}")
    for name, cost in found.items():
        print(f"{name:40}{cost.clock_s:8.2f}{cost.cpu_s:8.2f}")


def costs(client: Client, scope: QueryScope, size: int, runs: int) -> dict[str, Cost]:
    """What a draw, its two large queries, and the rates of its routes take."""
    sums = populations(client, scope)
    now_ns = count(scope.until_ns)

    def draw() -> None:
        drawn = draw_claims(client, DrawRequest(scope, size, "benchmark"), now_ns=next(now_ns))
        if len(drawn.queue) != size * ROUTES:
            raise SystemExit(f"expected {size * ROUTES} claims, got {len(drawn.queue)}")

    return {
        "sums of the routes": _cost(lambda: populations(client, scope), runs),
        "heads of the queues": _cost(
            lambda: first_claims(client, scope, sums, size=size, seed=DEFAULT_SEED), runs
        ),
        "the draw, stored": _cost(draw, runs),
        "corrected rates of the routes": _cost(lambda: corrected_rates(client, scope), runs),
    }


def _cost(run: Callable[[], object], runs: int) -> Cost:
    took = []
    for _ in range(runs):
        clock, cpu = time.perf_counter(), time.process_time()
        run()
        took.append((time.perf_counter() - clock, time.process_time() - cpu))
    return Cost(median(one for one, _ in took), median(one for _, one in took))


if __name__ == "__main__":
    main()
