"""What each page of the console takes the server, over a store of a million claims.

    python -m benchmarks.service.console [--claims 1000000] [--runs 40]

The store is made by the engine itself, in a temporary embedded database, through the tables and
views that the migrations make: five claims an answer over seven days, twenty routes, three spans a
trace, an issue for every forty-third failure's kind, one answer of 10,000 claims, and one whose
trace has 10,000 spans. `rt4chart console` serves it in a process of its own; every page is asked
for over HTTP by one client, the first time apart. Milliseconds until the last byte, the aim is a
p95 under 150; and milliseconds of CPU of the server's process a page, all its threads and the
embedded engine's together (Linux: /proc/PID/stat), which a busy machine does not move much.
"""

from __future__ import annotations

import argparse
import math
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median, quantiles

import httpx

from benchmarks.service.console_store import DEEP, LONG, fill
from rt4chart_collector.console.view.urls import alert_url, answer_url, issue_url, route_url
from rt4chart_collector.store.engine.connect import connect
from rt4chart_collector.store.schema.migrate import migrate

AIM_MS = 150.0
RUN = "from otel_rt4chart.cli import main; raise SystemExit(main())"
URL = re.compile(r"http://127\.0\.0\.1:\d+")


def main() -> None:
    """Fill the store, serve it, ask for every page, print a line each."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--claims", type=int, default=1_000_000)
    parser.add_argument("--runs", type=int, default=40)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        dsn = f"chdb://{Path(folder) / 'db'}"
        with connect(dsn) as client:
            migrate(client)
            made = fill(client, options.claims, time.time_ns())
        print(f"{options.claims:,} claims in {made.answers:,} answers, {made.failures:,} failures")
        pages = {
            "overview": "/",
            "overview, 7 days": "/?since=7d",
            "overview, 30 days": "/?since=30d",
            "route": route_url("shop", "route-0"),
            "route, 7 days": f"{route_url('shop', 'route-0')}?since=7d",
            "answers, 7 days": "/answers?since=7d",
            "answers, contradicted": "/answers?since=7d&label=contradicted",
            "answers, of a route": "/answers?since=7d&service=shop&route=route-0",
            "answers, the worst": "/answers?since=7d&order=worst",
            "answers, with a word": "/answers?since=7d&q=14+days",
            "answers, with a rare word": f"/answers?since=7d&q=plan+{made.rare}",
            "answer": answer_url(made.trace_id, made.span_id),
            "answer of 10,000 claims": answer_url(*LONG),
            "answer, trace of 10,000 spans": answer_url(*DEEP),
            "issues": "/issues",
            "issue": issue_url(made.issue),
            "map": "/map?since=7d",
            "eval sets": "/evalsets",
            "alerts": "/alerts",
            "alert": alert_url(made.alert),
            "settings": "/settings",
            "health": "/health",
        }
        with served(dsn) as (url, pid), httpx.Client(base_url=url, timeout=60) as browser:
            print(f"{'ms':30}{'first':>8}{'p50':>8}{'p95':>8}{'CPU':>8}{'kB':>8}")
            late = [
                name
                for name, page in pages.items()
                if not asked(browser, pid, name, page, options.runs)
            ]
    print(f"over {AIM_MS:.0f} ms: {', '.join(late) or 'none'}")


def asked(browser: httpx.Client, pid: int, name: str, page: str, runs: int) -> bool:
    """Ask for a page again and again; True where its p95 is within the aim."""
    first, size = timed(browser, page)
    began = cpu_ms(pid)
    took = [timed(browser, page)[0] for _ in range(runs)]
    cpu = (cpu_ms(pid) - began) / runs
    p95 = quantiles(took, n=20)[-1]
    figures = "".join(f"{one:8.0f}" for one in (first, median(took), p95, cpu, size / 1024))
    print(f"{name:30}{figures}", flush=True)
    return p95 <= AIM_MS


def cpu_ms(pid: int) -> float:
    """Milliseconds that a process has computed so far, in user and kernel; NaN beside Linux."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return math.nan
    # proc_pid_stat(5): after the name in brackets, utime and stime are the 12th and 13th value.
    user, system = stat.rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) * 1000 / os.sysconf("SC_CLK_TCK")


def timed(browser: httpx.Client, page: str) -> tuple[float, int]:
    """Milliseconds and bytes of one answer, which must be a page."""
    began = time.perf_counter()
    reply = browser.get(page)
    took = (time.perf_counter() - began) * 1000
    if reply.status_code != 200:
        raise SystemExit(f"{page}: expected a page, got {reply.status_code}: {reply.text[:500]}")
    return took, len(reply.content)


@contextmanager
def served(dsn: str) -> Iterator[tuple[str, int]]:
    """The console of that store in a process of its own; its address and the process's id."""
    command = [sys.executable, "-c", RUN, "console", "--dsn", dsn]
    environ = {name: value for name, value in os.environ.items() if "RT4CHART" not in name}
    # A busy machine is measured, not cut off.
    environ["RT4CHART_CONSOLE_PAGE_S"] = "60"
    with subprocess.Popen(
        [*command, "--console", "127.0.0.1:0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=environ,
    ) as process:
        try:
            yield _address(process), process.pid
        finally:
            process.terminate()


def _address(process: subprocess.Popen[str]) -> str:
    said = ""
    for line in process.stdout or ():
        said += line
        if found := URL.search(line):
            return found[0]
    raise SystemExit(f"the console did not start: {said}")


if __name__ == "__main__":
    main()
