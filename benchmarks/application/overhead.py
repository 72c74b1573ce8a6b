"""What the instrumentor costs a traced application: `python -m benchmarks.application.overhead`.

A LangChain application under OpenInference's instrumentor exports by OTLP to a server that takes
everything. Three tables:

- What runs in our callbacks, by the clock of the thread's CPU around each of them, an answer: on
  the application's threads, and in the exporter's or our own. `nothing` is a processor that does
  nothing: what the clocks themselves take. Medians of blocks of answers, which a busy machine moves
  least. `--before PATH` prints this table alone, beside that of the package in another checkout:
  each in processes of its own, in turn, the medians of `--rounds` of them.
- Blocks of answers with and without us, in turn and in one process: what else the machine does
  falls on both alike. `nothing` again shows how much of a difference is chance.
- How memory grows over many traces made by hand.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import random
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from statistics import median, quantiles
from typing import NamedTuple

from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import Span, SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

from benchmarks.application.chain import QUESTION, chains
from benchmarks.application.clocks import Clocks, Nothing
from otel_rt4chart import RT4ChartInstrumentor, generator, retriever
from otel_rt4chart.marking.exporter_wrapping import remove_processor

BLOCK, WARM = 50, 100
Attach = Callable[[TracerProvider], Callable[[], object]]  # gives how to take it off again
CALLER = ("caller µs p50", "caller µs p99", "beside it µs", "µs an answer")
OURS = ("mode", *CALLER, "of the CPU", "net of the clocks")
HEAD = ("mode", "added µs p50", "added µs p99", "without µs p50", "added CPU µs", "of the CPU")


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--answers", type=int, default=3_000, help="with us, and as many without")
    parser.add_argument("--traces", type=int, default=100_000, help="of the memory's run")
    parser.add_argument("--peers", action="store_true", help="beside us; they must be installed")
    parser.add_argument("--before", type=Path, help="another checkout, whose package is measured")
    parser.add_argument("--rounds", type=int, default=3, help="of --before")
    parser.add_argument("--only", default="", help="the modes of --before that begin so")
    options = parser.parse_args()
    if options.before:
        compare_checkouts(options.before, options.only, options.answers, options.rounds)
        return
    modes = MODES | (PEERS if options.peers else {})
    with sink() as address, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what the instrumented packages deprecate in each other
        provider = traced(address)
        plain, cited = chains(provider)
        told(OURS)
        clocks: Spent | None = None
        for mode, attach in modes.items():
            found = spent(provider, cited if mode in CITING else plain, attach, options.answers)
            clocks = clocks or found
            told((mode, *found.cells(clocks)))
        told(HEAD)
        for mode, attach in modes.items():
            ask = cited if mode in CITING else plain
            told(row(mode, compare(provider, ask, attach, options.answers)))
        trace.set_tracer_provider(provider)
        told(("mode", "traces", "MiB at a fifth", "MiB at the end"))
        for mode, attach in modes.items():
            told((mode, options.traces, *grown(provider, attach, options.traces)))
        provider.shutdown()


# The package of another checkout is imported before the benchmark imports it.
CHILD = (
    "import sys; sys.path.insert(0, {path!r}); import otel_rt4chart; del sys.path[0]; "
    "from benchmarks.application.overhead import measure; measure({only!r}, {answers})"
)


def compare_checkouts(before: Path, only: str, answers: int, rounds: int) -> None:
    """Print the first table of two checkouts, line by line."""
    paths = {"before": before.resolve(), "now": Path.cwd()}
    found: dict[str, list[dict[str, Spent]]] = {name: [] for name in paths}
    for _ in range(rounds):
        for name, path in paths.items():
            code = CHILD.format(path=str(path), only=only, answers=answers)
            made = subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.PIPE)
            rows = json.loads(made.stdout)
            found[name].append({mode: Spent(*row) for mode, row in rows.items()})
    told(("", *OURS))
    for mode in found["now"][0]:
        for name, runs in found.items():
            clocks = middle([run["nothing"] for run in runs])
            told((name, mode, *middle([run[mode] for run in runs]).cells(clocks)))


def measure(only: str, answers: int) -> None:
    """Print the first table as JSON, of the clocks and the modes that begin so."""
    with sink() as address, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        provider = traced(address)
        plain, cited = chains(provider)
        rows = {
            mode: spent(provider, cited if mode in CITING else plain, attach, answers)
            for mode, attach in MODES.items()
            if mode == "nothing" or mode.startswith(only)
        }
        provider.shutdown()
    print(json.dumps(rows))


def ours(**arguments: object) -> Attach:
    """Our instrumentor with these arguments."""

    def attach(provider: TracerProvider) -> Callable[[], object]:
        RT4ChartInstrumentor().instrument(tracer_provider=provider, **arguments)
        return lambda: RT4ChartInstrumentor().uninstrument()

    return attach


def unchecked(provider: TracerProvider) -> Callable[[], object]:
    """The inline mode where nothing is chosen, and no citation is checked: nothing is read."""
    os.environ["RT4CHART_LAYERS"] = "citations=0"
    try:
        return ours(mode="inline", judge="rules", sample_rate=0.0)(provider)
    finally:
        del os.environ["RT4CHART_LAYERS"]


def ai_evaluation(provider: TracerProvider) -> Callable[[], object]:
    """Future AGI's processor, which evaluates generations in threads: pip install ai-evaluation."""
    from fi.evals.otel.processors.evaluation import EvaluationSpanProcessor

    processor = EvaluationSpanProcessor(metrics=["faithfulness"], sample_rate=1.0)
    if not hasattr(processor, "_on_ending"):
        processor._on_ending = _pass  # SDK 1.45 calls it on each processor, 1.1.0 predates that
    return added(provider, processor)


def nothing(provider: TracerProvider) -> Callable[[], object]:
    """A processor that does nothing."""
    return added(provider, Nothing())


def processors(provider: TracerProvider) -> tuple[SpanProcessor, ...]:
    """What the provider hands its spans to."""
    return provider._active_span_processor._span_processors


def added(provider: TracerProvider, processor: SpanProcessor) -> Callable[[], object]:
    """Add a processor; gives how to take it out."""
    provider.add_span_processor(processor)
    return lambda: remove_processor(provider, processor)


MODES: dict[str, Attach] = {
    "nothing": nothing,
    "mark, all": ours(sample_rate=1.0),
    "mark, 1 in 10": ours(sample_rate=0.1),
    "inline, none": ours(mode="inline", judge="rules", sample_rate=0.0),
    "inline, none, all cite": ours(mode="inline", judge="rules", sample_rate=0.0),
    "inline, none, citations=0": unchecked,
    "inline, 1 in 10": ours(mode="inline", judge="rules", sample_rate=0.1),
}
CITING = ("inline, none, all cite",)  # these answer with citations
PEERS: dict[str, Attach] = {"ai-evaluation, all": ai_evaluation}


class Spent(NamedTuple):
    """CPU of an answer in µs: on the caller's thread, beside it, and of the whole process."""

    caller: float
    caller_p99: float
    beside: float
    whole: float

    def cells(self, clocks: Spent) -> Sequence[str]:
        """These, and the share of the CPU with and without what the clocks take."""
        share = (self.caller + self.beside) / self.whole
        net = (self.caller - clocks.caller + self.beside) / self.whole
        return (*(f"{one:.0f}" for one in self), f"{share:.2%}", f"{net:.2%}")


def middle(runs: Sequence[Spent]) -> Spent:
    """The medians of several runs."""
    return Spent(*map(median, zip(*runs, strict=True)))


def spent(
    provider: TracerProvider, ask: Callable[[], object], attach: Attach, answers: int
) -> Spent:
    """The CPU in what is attached, beside that of the whole process."""
    with Clocks() as clocks:
        before = processors(provider)
        detach = attach(provider)
        for one in processors(provider):
            if one not in before:
                clocks.watch(one)
        for _ in range(WARM):
            ask()
        provider.force_flush()
        callers: list[float] = []
        blocks: list[tuple[float, float]] = []
        for _ in range(max(answers // BLOCK, 1)):
            clocks.reset()
            began = time.process_time()
            for _ in range(BLOCK):
                ask()
                callers.append(clocks.caller_us())
            provider.force_flush()
            whole = (time.process_time() - began) * 1e6
            blocks.append((clocks.beside_us / BLOCK, whole / BLOCK))
        detach()
    beside, whole = map(median, zip(*blocks, strict=True))
    return Spent(median(callers), _p99(callers), beside, whole)


class Times:
    """Of each answer on the caller's thread, and of the process's CPU a block."""

    def __init__(self) -> None:
        """None yet."""
        self.walls: list[float] = []
        self.cpus: list[float] = []


def compare(
    provider: TracerProvider, ask: Callable[[], object], attach: Attach, answers: int
) -> tuple[Times, Times]:
    """Without and with us, block by block, in an order drawn anew for each pair of blocks."""
    without, with_us = Times(), Times()
    for _ in range(WARM):
        ask()
    for _ in range(max(answers // BLOCK, 1)):
        for times in random.sample([without, with_us], 2):
            detach = attach(provider) if times is with_us else None
            block(provider, ask, times)
            if detach is not None:
                detach()
    return without, with_us


def block(provider: TracerProvider, ask: Callable[[], object], times: Times) -> None:
    """Some answers, and the export of their spans."""
    provider.force_flush()
    gc.collect()
    began = time.process_time()
    for _ in range(BLOCK):
        start = time.perf_counter_ns()
        ask()
        times.walls.append((time.perf_counter_ns() - start) / 1_000)
    provider.force_flush()
    times.cpus.append((time.process_time() - began) * 1e6 / BLOCK)


def row(mode: str, measured: tuple[Times, Times]) -> Sequence[object]:
    """Differences of quantiles; of the CPU the median difference of blocks beside each other."""
    without, with_us = measured
    cpu = median(b - a for a, b in zip(without.cpus, with_us.cpus, strict=True))
    return (
        mode,
        f"{median(with_us.walls) - median(without.walls):.0f}",
        f"{_p99(with_us.walls) - _p99(without.walls):.0f}",
        f"{median(without.walls):.0f}",
        f"{cpu:.0f}",
        f"{cpu / median(without.cpus):.1%}",
    )


def grown(provider: TracerProvider, attach: Attach, traces: int) -> Sequence[str]:
    """The memory of the process after a fifth of the traces, and after all of them."""
    detach = attach(provider)
    found = []
    for number in range(1, traces + 1):
        with retriever("search", query=QUESTION) as step:
            step.documents(["The free trial lasts 14 days."])
        with generator("answer", question=QUESTION) as said:
            said.answer("The free trial lasts 30 days.")
        if number % BLOCK == 0:
            provider.force_flush()  # it drops spans that come faster than it exports
        if number in (traces // 5, traces):
            provider.force_flush()
            gc.collect()
            found.append(f"{resident_mib():.1f}")
    detach()
    return found


def resident_mib() -> float:
    """What the process holds now."""
    lines = Path("/proc/self/status").read_text(encoding="ascii", errors="replace").splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS"))


def traced(address: str) -> TracerProvider:
    """A provider that exports in batches, as applications have it."""
    provider = TracerProvider()
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(address)))
    return provider


class Sink(BaseHTTPRequestHandler):
    """Takes every request."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        """Read it, and say so."""
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        """Nothing."""


def serve(pipe: Connection) -> None:
    """A server in a process of its own: its work is not the application's."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Sink)
    pipe.send(server.server_port)
    server.serve_forever()


@contextmanager
def sink() -> Iterator[str]:
    """The address of a server that runs meanwhile."""
    spawn = get_context("spawn")
    ours, theirs = spawn.Pipe()
    process = spawn.Process(target=serve, args=(theirs,), daemon=True)
    process.start()
    yield f"http://127.0.0.1:{ours.recv()}/v1/traces"
    process.terminate()


def _p99(values: Sequence[float]) -> float:
    return quantiles(values, n=100)[98]


def _pass(span: Span) -> None:
    """Nothing."""


def told(cells: Sequence[object]) -> None:
    """One line of a table."""
    print("| " + " | ".join(map(str, cells)) + " |", flush=True)


if __name__ == "__main__":
    main()
