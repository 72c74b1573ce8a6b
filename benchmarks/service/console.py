"""What each page of the console takes the server, over stores of up to ten million claims.

    python -m benchmarks.service.console [--claims 1000000,10000000] [--runs 20] [--keep FOLDER]

Each store is made by the engine itself, in an embedded database, through the tables and views that
the migrations make: three claims an answer over seven days, 300 routes, three spans a trace, an
issue for every forty-third failure's kind, a draw of claims to label, one answer of 10,000 claims,
and one whose trace has 10,000 spans. A process of its own serves the console and asks for every
page over HTTP as one client, the first time apart.

Milliseconds are until the last byte, the aim is a p95 under 150; milliseconds of CPU are those of
the process, its client and the engine, which a busy machine does not move much; rows and bytes are
what the engine read for a page by its own count. The columns at the end are computed for a billion
claims: the straight line through the two largest stores, for as many routes and days, so that
what depends on the page alone stays and what is read whole grows. Noise grows with it, and what
stops growing in between does not stop in it: they are upper estimates. Bytes on the disk are so
many times those of the store.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median, quantiles

import httpx

from benchmarks.service.console_store import DEEP, LONG, Made, Size, fill
from otel_rt4chart.core.settings import load
from rt4chart_collector.console.view.urls import alert_url, answer_url, issue_url, route_url
from rt4chart_collector.core.settings import ConsoleSettings, ServiceSettings
from rt4chart_collector.service.console import serve_console
from rt4chart_collector.service.stages import Shutdown
from rt4chart_collector.store.engine.connect import Client, connect
from rt4chart_collector.store.schema.migrate import migrate

AIM_MS = 150.0
BILLION = 10**9
COUNTERS = """
SELECT value FROM system.events WHERE event IN ('SelectedRows', 'SelectedBytes') ORDER BY event
"""
STORED = """
SELECT table, sum(rows) AS rows, sum(bytes_on_disk) AS bytes FROM system.parts
WHERE active AND database = currentDatabase() GROUP BY table ORDER BY bytes DESC LIMIT 8
"""


@dataclass(frozen=True, slots=True)
class Cost:
    """What a page took: milliseconds, and what the engine read for it."""

    first_ms: float
    p50_ms: float
    p95_ms: float
    cpu_ms: float
    rows: float
    bytes: float
    page_bytes: float


def main() -> None:
    """Fill the stores, each in a process, serve them, print a line for each page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--claims", default="1000000,10000000")
    parser.add_argument("--each", type=int, default=3, help="claims of an answer")
    parser.add_argument("--routes", type=int, default=300)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--only", default="", help="pages with this in their name")
    parser.add_argument("--keep", type=Path, help="keep the stores here, and use those there")
    parser.add_argument("--measure", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    sizes = [Size(int(n), options.each, options.routes) for n in options.claims.split(",")]
    if options.measure:
        print(json.dumps(measured(options.measure, sizes[0], options.runs, options.only)))
        return
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.keep or Path(temporary)
        found = [in_own_process(folder / str(size.claims), size) for size in sizes]
    for size, costs in zip(sizes, found, strict=True):
        print_costs(size, costs)
    if len(sizes) > 1:
        print_computed(sizes, found)


def in_own_process(folder: Path, size: Size) -> dict[str, Cost]:
    """The costs of a store's pages: a process can open one embedded database."""
    # The same options, but for one store.
    command = [sys.executable, "-m", "benchmarks.service.console", *sys.argv[1:]]
    command += ["--claims", str(size.claims), "--measure", str(folder)]
    run = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return {name: Cost(**cost) for name, cost in json.loads(run.stdout).items()}


def measured(folder: Path, size: Size, runs: int, only: str) -> dict[str, dict[str, float]]:
    """The costs of the pages of the store in this folder, which is filled if it is empty."""
    dsn = f"chdb://{folder / 'db'}"
    kept = folder / "made.json"
    with connect(dsn) as client:
        migrate(client)
        if kept.exists():
            made = Made(**json.loads(kept.read_text()))
        else:
            made = fill(client, size, time.time_ns())
            kept.write_text(json.dumps(asdict(made)))
        print(f"{size.claims:,} claims in {made.answers:,} answers", file=sys.stderr)
        for table, rows, size_b in client.query(STORED).result_rows:
            at_billion = size_b / size.claims * BILLION / 2**30
            sizes = f"{size_b / 2**20:10.1f} MiB, {at_billion:.1f} GiB at a billion claims"
            print(f"{table:36}{rows:14,}{sizes}", file=sys.stderr)
        chosen = {name: page for name, page in pages(made).items() if only in name}
        with served(dsn) as url, httpx.Client(base_url=url, timeout=60) as browser:
            return {
                name: asdict(asked(browser, client, page, runs)) for name, page in chosen.items()
            }


def pages(made: Made) -> Mapping[str, str]:
    """The addresses of the pages by their names."""
    route, week = route_url("shop", "route-0"), "since=7d"
    return {
        "overview": "/",
        "overview, 7 days": f"/?{week}",
        "overview, 30 days": "/?since=30d",
        "route": route,
        "route, 7 days": f"{route}?{week}",
        "route, what failed": f"{route}?partial=1",
        "route, what failed in 7 days": f"{route}?{week}&partial=1",
        "answers, 7 days": f"/answers?{week}",
        "answers, contradicted": f"/answers?{week}&label=contradicted",
        "answers, of a route": f"/answers?{week}&service=shop&route=route-0",
        "answers, the worst": f"/answers?{week}&order=worst",
        "answers, the worst of a route": f"/answers?{week}&order=worst&service=shop&route=route-0",
        "answers, with a common word": f"/answers?{week}&q=14+days",
        "answers, with an uncommon word": f"/answers?{week}&q={made.word}",
        "answers, with a number": f"/answers?{week}&q={made.rare}",
        "answers, with no such word": f"/answers?{week}&q=zygomorphic",
        "answers, the worst with a number": f"/answers?{week}&order=worst&q={made.rare}",
        "answer": answer_url(made.trace_id, made.span_id),
        "answer of 10,000 claims": answer_url(*LONG),
        "answer, trace of 10,000 spans": answer_url(*DEEP),
        "compare": f"/compare?{week}&a=1.0&b=1.1",
        "compare, of a route": f"/compare?{week}&a=1.0&b=1.1&service=shop&route=route-0",
        "compare, details": f"/compare?{week}&a=1.0&b=1.1&partial=1",
        "compare, details of a route": (
            f"/compare?{week}&a=1.0&b=1.1&service=shop&route=route-0&partial=1"
        ),
        "issues": "/issues",
        "issue": issue_url(made.issue),
        "map": "/map?since=7d",
        "label": "/label",
        "eval sets": "/evalsets",
        "alerts": "/alerts",
        "alert": alert_url(made.alert),
        "alert, answers": f"{alert_url(made.alert)}?partial=1",
        "settings": "/settings",
        "health": "/health",
    }


def asked(browser: httpx.Client, client: Client, page: str, runs: int) -> Cost:
    """Ask for a page again and again."""
    first, size = timed(browser, page)
    # What labels say is read in the background, once for all runs.
    while "are being counted" in browser.get(page).text:
        time.sleep(0.5)
    began, before = time.process_time(), counters(client)
    took = [timed(browser, page)[0] for _ in range(runs)]
    cpu = (time.process_time() - began) * 1000 / runs
    rows, read = (after - at for after, at in zip(counters(client), before, strict=True))
    # What reading the counters adds is a row or two.
    p95 = quantiles(took, n=20)[-1]
    cost = Cost(first, median(took), p95, cpu, rows / runs, read / runs, size)
    print(line(page[:44], cost), file=sys.stderr, flush=True)
    return cost


def counters(client: Client) -> tuple[int, int]:
    """The rows and the bytes that the engine of this process has read so far."""
    (size,), (rows,) = client.query(COUNTERS).result_rows
    return rows, size


def line(name: str, cost: Cost) -> str:
    """One line of a table."""
    times = "".join(f"{one:8.0f}" for one in (cost.first_ms, cost.p50_ms, cost.p95_ms, cost.cpu_ms))
    read = f"{cost.rows:14,.0f}{cost.bytes / 2**20:10.1f}{cost.page_bytes / 1024:8.0f}"
    return f"{name:46}{times}{read}"


HEAD = f"{'ms':46}{'first':>8}{'p50':>8}{'p95':>8}{'CPU':>8}{'rows read':>14}{'MiB':>10}{'kB':>8}"


def print_costs(size: Size, costs: Mapping[str, Cost]) -> None:
    """A table of the pages, and which are late."""
    print(f"{size.claims:,} claims in {size.answers:,} answers on {size.routes} routes")
    print(HEAD)
    for name, cost in costs.items():
        print(line(name, cost))
    late = [name for name, cost in costs.items() if cost.p95_ms > AIM_MS]
    print(f"p95 over {AIM_MS:.0f} ms: {', '.join(late) or 'none'}")


def print_computed(sizes: list[Size], found: list[dict[str, Cost]]) -> None:
    """The rows, bytes and CPU of each page at a billion claims."""
    (small, large), (few, many) = (size.claims for size in sizes[-2:]), found[-2:]
    print(f"computed for {BILLION:,} claims from {small:,} and {large:,}")
    print(f"{'':46}{'rows':>16}{'MiB':>12}{'CPU ms':>12}")
    for name, cost in many.items():

        def at(a: float, b: float) -> float:
            # Noise alone can make the larger store the cheaper one.
            return b + max(b - a, 0) / (large - small) * (BILLION - large)

        one = few[name]
        rows, size, cpu = (
            at(one.rows, cost.rows),
            at(one.bytes, cost.bytes) / 2**20,
            at(one.cpu_ms, cost.cpu_ms),
        )
        print(f"{name:46}{rows:16,.0f}{size:12,.0f}{cpu:12,.0f}")


def timed(browser: httpx.Client, page: str) -> tuple[float, int]:
    """Milliseconds and bytes of one answer, which must be a page."""
    began = time.perf_counter()
    reply = browser.get(page)
    took = (time.perf_counter() - began) * 1000
    if reply.status_code != 200:
        raise SystemExit(f"{page}: expected a page, got {reply.status_code}: {reply.text[:500]}")
    return took, len(reply.content)


@contextmanager
def served(dsn: str) -> Iterator[str]:
    """The console of that store; its address."""
    # A busy machine is measured, not cut off.
    environ = {
        "RT4CHART_DSN": dsn,
        "RT4CHART_CONSOLE": "127.0.0.1:0",
        "RT4CHART_CONSOLE_PAGE_S": "60",
    }
    service, settings = load(ServiceSettings, None, environ), load(ConsoleSettings, None, environ)
    with serve_console(service, settings, Shutdown(0.0), None) as url:
        yield url


if __name__ == "__main__":
    main()
