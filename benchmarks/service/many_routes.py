"""What a thousand routes cost: rows and bytes of each grain, pages, and the monitor's rounds.

    python -m benchmarks.service.many_routes [--routes 1000] [--days 8] [--monitored-days 1]
        [--processes 1]

The engine makes the rows per five minutes itself, in a temporary embedded database, and the views
add them up by hour and day. Each tick of a route has some seventy answers of two releases, 40 of
them not sampled, the others with one to eight claims. Then, in one run: queries of pages over a
day, a week and all days, read per five minutes alone and from the coarsest rows that serve, which
must agree (wall and CPU); and rounds of the monitor over all routes (CPU): the first, which reads
`--monitored-days`, one a minute later, one with a new tick, and one an hour later, which looks for
late verdicts. At last processes that start: their first round, from what is stored.
"""

from __future__ import annotations

import argparse
import math
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median

from rt4chart_collector.core.settings import MonitorSettings
from rt4chart_collector.detect.drift.policy import DAY_NS, HOUR_NS, TICK_NS
from rt4chart_collector.detect.monitor import route_detectors
from rt4chart_collector.detect.monitor.route_detectors import RouteDetectors
from rt4chart_collector.detect.monitor.shards import wanted_shards
from rt4chart_collector.store.engine.connect import Client, connect
from rt4chart_collector.store.engine.grains import TABLES, Grain, sums_of
from rt4chart_collector.store.engine.scope import QueryScope
from rt4chart_collector.store.rates.rollup import complete_from
from rt4chart_collector.store.schema.migrate import migrate

VERIFIER = "local/1"
# Lines of a tick: decided and unfaithful claims, answers, release, decision.
LINES = [
    *((m, x, 9 - m, release, "verified") for m in (1, 3, 5, 8) for x in (0, 1) for release in "12"),
    *((0, 0, 20, release, "not_sampled") for release in "12"),
]
SUMMED = ("Answers", "Claims", "WM", "WX", "WWM", "WWXX", "WWXM")
CHUNK = 2_000_000
FILL = f"""
INSERT INTO rt4chart_route_5m (ServiceName, Route, VerifierId, Tick, Model, PromptVersion, Release,
    Decision, SampleRate, Decided, Unfaithful, Checked, Answers, Contradicted, Baseless)
SELECT 'shop', concat('route-', toString(number % {{routes:UInt64}})), '{VERIFIER}',
    toDateTime({{first:Int64}} + intDiv(number, {{routes:UInt64}}) * 300, 'UTC'), 'model', 'p1',
    line.4, line.5, 0.5, line.1, line.2, if(line.5 = 'verified', 'fully', 'no'),
    line.3 * if(line.2 = 1 AND cityHash64(number) % 10 < 8, 0, 1) AS answers,
    answers * line.2, 0
FROM numbers({{count:UInt64}}) ARRAY JOIN {LINES} AS line WHERE answers > 0
"""  # noqa: S608 - our own names


def main() -> None:
    """Fill a database, and print what its sums, its pages and its monitor cost."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--routes", type=int, default=1_000)
    parser.add_argument("--days", type=float, default=8)
    parser.add_argument("--monitored-days", type=float, default=1.0)
    parser.add_argument("--runs", type=int, default=3, help="of the queries; 0 leaves them out")
    parser.add_argument(
        "--processes", type=int, default=1, help="monitors that divide the routes, measured in turn"
    )
    options = parser.parse_args()
    with (
        tempfile.TemporaryDirectory() as folder,
        connect(f"chdb://{Path(folder) / 'db'}") as client,
    ):
        migrate(client)
        complete_from(client, 0)
        now_ns = time.time_ns() // TICK_NS * TICK_NS
        ticks = round(options.days * 288)
        began = time.process_time()
        fill(client, options.routes, now_ns - ticks * TICK_NS, ticks)
        print(f"{options.routes:,} routes, {options.days:g} days; filled in ", end="")
        print(f"{time.process_time() - began:.0f} CPU s")
        print_grains(client, options.days)
        if options.runs:
            print_pages(client, now_ns, options.days, options.runs)
        if options.monitored_days:
            print_rounds(client, now_ns, options.routes, options.monitored_days, options.processes)


def fill(client: Client, routes: int, first_ns: int, ticks: int) -> None:
    """The rows of so many ticks of each route, with one to eight claims an answer."""
    step = max(CHUNK // (routes * len(LINES)), 1)
    for done in range(0, ticks, step):
        count = min(step, ticks - done) * routes
        first_s = (first_ns + done * TICK_NS) // 10**9
        client.command(FILL, {"first": first_s, "routes": routes, "count": count})


GRAINS = """
SELECT table, sum(rows), sum(bytes_on_disk) FROM system.parts
WHERE active AND database = currentDatabase() AND table LIKE 'rt4chart_route_1%' OR table LIKE
    'rt4chart_route_5m' GROUP BY table
"""


def print_grains(client: Client, days: float) -> None:
    """Rows and bytes of each grain, of a day, when the parts are merged."""
    for table in TABLES.values():
        client.command(f"OPTIMIZE TABLE {table} FINAL")
    found = {name: (rows, size) for name, rows, size in client.query(GRAINS).result_rows}
    print(f"{'a day of':24}{'rows':>14}{'MiB':>10}{'bytes a row':>14}")
    for table in TABLES.values():
        rows, size = found[table]
        print(f"{table:24}{rows / days:14,.0f}{size / days / 2**20:10.1f}{size / rows:14.1f}")


def print_pages(client: Client, now_ns: int, days: float, runs: int) -> None:
    """What queries of pages take, from five minutes alone and from all grains."""
    print(f"{'wall ms, CPU ms; five minutes | coarsest':44}{'':>20}{'':>20}")
    for since in sorted({1, 7, days}):
        scope = QueryScope(now_ns - round(since * DAY_NS) - TICK_NS, now_ns - TICK_NS, VERIFIER)
        route, scope = scope.of_route("shop", "route-7"), scope.whole_hours
        for name, of, keys in (
            ("overview: rates by route", scope, "Route"),
            ("overview: answers by decision", scope, "Decision"),
            ("route: rates by release", route, "Release"),
        ):
            fine, coarse = (
                timed(client, keys, of, grain, runs) for grain in (Grain.TICK, Grain.DAY)
            )
            if not all(map(same, fine[2], coarse[2])) or len(fine[2]) != len(coarse[2]):
                raise SystemExit(f"{name}: expected the same sums from all grains, got others")
            figures = "".join(f"{wall:10.0f}{cpu:10.0f}" for wall, cpu, _ in (fine, coarse))
            print(f"{name + f', {since:g} days':44}{figures}")


def timed(
    client: Client, keys: str, scope: QueryScope, coarsest: Grain, runs: int
) -> tuple[float, float, Sequence[Sequence[object]]]:
    """Median milliseconds and CPU of some runs, and the rows."""
    summed = ", ".join(f"sum({name})" for name in SUMMED)
    given = sums_of(client, scope, (keys, *SUMMED), coarsest=coarsest)
    query = f"SELECT {keys}, {summed} FROM {given} GROUP BY {keys} ORDER BY {keys}"  # noqa: S608
    took: list[tuple[float, float]] = []
    rows: Sequence[Sequence[object]] = ()
    for _ in range(runs):
        began, computed = time.perf_counter(), time.process_time()
        rows = client.query(query, scope.parameters).result_rows
        took.append((time.perf_counter() - began, time.process_time() - computed))
    walls, cpus = zip(*took, strict=True)
    return 1000 * median(walls), 1000 * median(cpus), rows


def same(one: Sequence[object], other: Sequence[object]) -> bool:
    """True if names are equal and numbers are but for rounding."""
    return one[0] == other[0] and all(
        math.isclose(float(str(a)), float(str(b)), rel_tol=1e-9)
        for a, b in zip(one[1:], other[1:], strict=True)
    )


def detectors(client: Client, routes: int, processes: int) -> list[RouteDetectors]:
    """Those of so many processes that start, each with its part of the routes."""
    names = [f"monitor {number}" for number in range(processes)]
    found = []
    for name in names:
        one = RouteDetectors(client, MonitorSettings(monitor_routes=routes), VERIFIER)
        one.set_shards(wanted_shards(name, names))
        found.append(one)
    return found


def run_all(watched: Sequence[RouteDetectors], now_ns: int) -> str:
    """A round of each process; the CPU seconds of all, of the one with the most, and of a route."""
    each, routes = [], 0
    for one in watched:
        began = time.process_time()
        one.run_round(now_ns)
        each.append(time.process_time() - began)
        routes += one.states["watched"]
    most = f", at most {max(each):.2f} a process" if len(each) > 1 else ""
    return f"{sum(each):8.2f} CPU s{most}, {1000 * sum(each) / routes:.2f} ms a route"


def print_rounds(client: Client, now_ns: int, routes: int, days: float, processes: int = 1) -> None:
    """CPU seconds of rounds of the monitor's detectors over all routes."""
    route_detectors.READ_NS = round(days * DAY_NS)
    watched = detectors(client, routes, processes)
    rounds = 0
    began = time.process_time()
    while rounds == 0 or any(one.unread for one in watched):
        for one in watched:
            one.run_round(now_ns)
        rounds += 1
    first = time.process_time() - began
    print(f"first: {routes:,} routes, {days:g} days of ticks each, {first:.1f} CPU s", end="")
    print(f" ({rounds} rounds of {processes} processes)", flush=True)
    steps: list[tuple[str, int, Callable[[], object]]] = [
        ("a minute later", 60 * 10**9, lambda: None),
        ("with a new tick", TICK_NS, lambda: fill(client, routes, now_ns, 1)),
        ("a minute later", TICK_NS + 60 * 10**9, lambda: None),
        (
            "an hour later",
            HOUR_NS + 2 * TICK_NS,
            lambda: fill(client, routes, now_ns + TICK_NS, 12),
        ),
    ]
    for name, later_ns, prepare in steps:
        prepare()
        print(f"round {name:20}{run_all(watched, now_ns + later_ns)}", flush=True)
    print_starts(client, now_ns + HOUR_NS + 2 * TICK_NS, routes, processes)
    print_stored(client)


def print_starts(client: Client, now_ns: int, routes: int, processes: int) -> None:
    """CPU seconds of the first round of processes that start, from what the last ones stored."""
    for name, ticks in (("a minute after it", 0), ("an hour after it", 12)):
        fill(client, routes, now_ns - TICK_NS, ticks)
        now_ns += 60 * 10**9 + ticks * TICK_NS
        watched = detectors(client, routes, processes)
        figures = run_all(watched, now_ns)
        unread = sum(len(one.unread) for one in watched)
        print(f"start {name:20}{figures}, {unread} routes unread", flush=True)


STORED = """
SELECT table, sum(rows), sum(bytes_on_disk) FROM system.parts
WHERE active AND database = currentDatabase() AND table LIKE 'rt4chart_monitor_%' GROUP BY table
ORDER BY table
"""


def print_stored(client: Client) -> None:
    """Rows and bytes of what the monitor stores, when the parts are merged."""
    for table in ("rt4chart_monitor_hours", "rt4chart_monitor_states"):
        client.command(f"OPTIMIZE TABLE {table} FINAL")
    for table, rows, size in client.query(STORED).result_rows:
        print(f"{table:24}{rows:14,}{size / 2**20:10.1f} MiB")


if __name__ == "__main__":
    main()
