"""How long after an answer ends its verdict can be read, at several rates of answers.

    python -m benchmarks.service.verdict_latency [--rates 1,10,50] [--seconds 30] [--judge local]

`rt4chart up` with an empty embedded database and its own settings; each answer is a trace of three
spans that ends now, sent by itself, as OTLP over HTTP. What is measured is the time from the
answer's end to the row of its verdict: `InsertedAt` of `rt4chart_verifications`, which the store
sets at the insert (milliseconds), less the end of the answer's span, by one clock. A reader sees
the row from its insert on. `RT4CHART_TRACE_QUIET_S` of it is waiting for more spans.

Over what the machine can judge, answers queue: the line says how many had no verdict when the
sending ended, and how long the rest took. Nothing is sampled out, nothing is lost.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import quantiles
from urllib.parse import urlsplit

import httpx
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from benchmarks.service.ingest import HEADERS, cpu_s, started
from otel_rt4chart.core.deadline import Deadline
from rt4chart_collector.demo.processes import free_port, status

MS_NS = 1_000_000
DRAIN_S = 900
PASSAGES = (
    "The free trial of plan {n} lasts 14 days and can be extended once by seven days.",
    "Customers of plan {n} are billed on the first day of each month, in euros.",
    "Support for plan {n} answers within four hours on weekdays and within a day otherwise.",
    "Plan {n} includes 25 seats; each further seat costs 9 euros a month.",
)
ANSWERS = (
    "The trial of plan {n} lasts 14 days. Each further seat costs 9 euros a month.",
    "The trial of plan {n} lasts 30 days. Support answers within four hours on weekdays.",
)
READ = """
import json, sys
from rt4chart_collector.store.engine.connect import connect
with connect(sys.argv[1]) as client:
    rows = client.query(
        "SELECT TraceId, toUnixTimestamp64Milli(InsertedAt), Decision "
        "FROM rt4chart_verifications FINAL"
    ).result_rows
print(json.dumps(rows))
"""


@dataclass(frozen=True, slots=True)
class Run:
    """One rate's answers: seconds to the verdict each, what was left at the end of the sending."""

    rate: float
    took_s: Sequence[float]
    left: int
    drained_s: float
    judged_a_s: float
    cpu_share: float


def main() -> None:
    """Measure each rate in turn, each with a service of its own."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--rates", default="1,10,50")
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--judge", default="local")
    parser.add_argument("--quiet", type=float, default=2.0, help="RT4CHART_TRACE_QUIET_S")
    options = parser.parse_args()
    print(f"judge {options.judge}, {options.quiet:g} s of quiet, {options.seconds:g} s of sending")
    for rate in map(float, options.rates.split(",")):
        with tempfile.TemporaryDirectory() as folder:
            print(line(measured(Path(folder), rate, options)), flush=True)


def line(run: Run) -> str:
    """A run in words."""
    cuts = quantiles(run.took_s, n=100)
    return (
        f"{run.rate:4g} answers/s  p50 {cuts[49]:6.2f} s  p95 {cuts[94]:6.2f} s"
        f"  {len(run.took_s)} verdicts, {run.judged_a_s:.1f} a second"
        f"  {run.left} without one at the end, the last of them {run.drained_s:.1f} s later"
        f"  {run.cpu_share:.2f} cores"
    )


def measured(folder: Path, rate: float, options: argparse.Namespace) -> Run:
    """Send answers evenly, wait for the verdict of each, and read when they were stored."""
    address = f"127.0.0.1:{free_port()}"
    command = [sys.executable, "-m", "otel_rt4chart", "up", "--dsn", f"chdb://{folder / 'db'}"]
    command += ["--judge", options.judge, "--otlp-http", address, "--otlp-grpc", "127.0.0.1:0"]
    command += ["--health", "off"]
    command += ["--console", "off", "--trace-quiet-s", str(options.quiet)]
    url = f"http://{address}"
    with started(command, folder, {}, f"{url}/healthz") as pid:
        send(url, 0)  # the judge's models are read at the first answer
        wait_for(url, 1)
        before, began = cpu_s(pid), time.monotonic()
        ended = sent_evenly(url, rate, round(rate * options.seconds))
        left = len(ended) + 1 - decided(url)
        sending_over = time.monotonic()
        wait_for(url, len(ended) + 1)
        over = time.monotonic()
        share = (cpu_s(pid) - before) / (over - began)
    stored = {trace_id: ms for trace_id, ms, decision in rows(folder) if decision == "verified"}
    took = [stored[one] / 1000 - end_ns / 1e9 for one, end_ns in ended.items()]
    return Run(rate, took, left, over - sending_over, len(took) / (over - began), share)


def sent_evenly(url: str, rate: float, answers: int) -> dict[str, int]:
    """Send them at their times, from threads of their own; each trace's id and its answer's end."""
    ended: dict[str, int] = {}
    threads = []
    began = time.monotonic()

    def one(number: int) -> None:
        trace_id, end_ns = send(url, number)
        ended[trace_id] = end_ns

    for number in range(1, answers + 1):
        time.sleep(max(0.0, began + number / rate - time.monotonic()))
        threads.append(threading.Thread(target=one, args=(number,)))
        threads[-1].start()
    for thread in threads:
        thread.join()
    return ended


def send(url: str, number: int) -> tuple[str, int]:
    """One answer that ends now; its trace and its end in nanoseconds."""
    trace_id, end_ns = (number + 1).to_bytes(16, "big"), time.time_ns()
    message = ExportTraceServiceRequest()
    scope = message.resource_spans.add().scope_spans.add()
    root = made(
        scope.spans.add(), trace_id, number, 0, end_ns, {"openinference.span.kind": "CHAIN"}
    )
    root.attributes.add(key="input.value").value.string_value = f"What is plan {number}?"
    found = {"openinference.span.kind": "RETRIEVER"} | {
        f"retrieval.documents.{at}.document.content": text.format(n=number)
        for at, text in enumerate(PASSAGES)
    }
    made(scope.spans.add(), trace_id, number, 1, end_ns - MS_NS, found)
    said = {
        "openinference.span.kind": "LLM",
        "llm.output_messages.0.message.content": ANSWERS[number % 2].format(n=number),
    }
    made(scope.spans.add(), trace_id, number, 2, end_ns, said)
    httpx.post(
        f"{url}/v1/traces", content=message.SerializeToString(), headers=HEADERS, timeout=120
    ).raise_for_status()
    return trace_id.hex(), end_ns


def made(
    span: Span, trace_id: bytes, number: int, at: int, end_ns: int, attributes: dict[str, str]
) -> Span:
    """A span of the trace, whose root has `at` 0."""
    span.trace_id, span.name = trace_id, "step"
    span.span_id = (number * 4 + at + 1).to_bytes(8, "big")
    if at:
        span.parent_span_id = (number * 4 + 1).to_bytes(8, "big")
    span.start_time_unix_nano, span.end_time_unix_nano = end_ns - 500 * MS_NS, end_ns
    for key, value in attributes.items():
        span.attributes.add(key=key).value.string_value = value
    return span


def decided(url: str) -> int:
    """How many answers have a decision."""
    return sum(int(number) for number in status(url)["decisions"].values())


def wait_for(url: str, answers: int) -> None:
    """Return when so many answers have one."""
    deadline = Deadline(DRAIN_S)
    while (now := decided(url)) < answers:
        if deadline.is_over:
            raise SystemExit(f"{urlsplit(url).netloc}: {now} of {answers} answers decided")
        time.sleep(0.1)


def rows(folder: Path) -> list[tuple[str, int, str]]:
    """Each verdict's trace, its insert in milliseconds since the epoch, and its decision."""
    command = [sys.executable, "-c", READ, f"chdb://{folder / 'db'}"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found: list[tuple[str, int, str]] = json.loads(done.stdout)
    return found


if __name__ == "__main__":
    main()
