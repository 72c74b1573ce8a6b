"""What worker processes and threads reach on one database, and how many INSERTs they take.

    python -m benchmarks.service.scale [--processes 1,2,3] [--threads 1,4,8,16] [--seconds 2]
    python -m benchmarks.service.scale --rates 10,50,160,500 --seconds 0 --processes 1 --threads 8
    python -m benchmarks.service.scale --compare 1 --processes 1 --threads 16
    python -m benchmarks.service.scale --sampled 0 --processes 1 --threads 2 --answers 3000
    python -m benchmarks.service.scale --dsn http://user:password@host:8123/empty

Real processes, each with the service's own queue, workers and saver, and a judge that waits so many
seconds for each answer, as an endpoint does, and then answers by rules. They share one database: an
empty embedded one that this process owns, which they reach through its local API, or the empty one
of `--dsn`. All answers are there at the start, `--rounds` of them for each thread; ideal is that
many times `--seconds`. With `--rates`, they come evenly for `--run-s` seconds, so many a second in
each process. A line ends with what must hold: one decision for each answer, in the rows without
FINAL too, and as many in the sums. With `--sampled 0` no answer waits: that is the cost of a
decision that needs no judge. With `--compare 1` a line before each is as it was: each thread asks
the store about its next answer by itself, and outcomes are saved each second, or 250 together.

CPU is what the workers and the engine took together, in milliseconds for an answer: where other
programs keep the machine busy, it says more than the time.
"""

from __future__ import annotations

import argparse
import json
import logging
import subprocess
import sys
import tempfile
import time
from collections.abc import Collection, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from threading import Event
from typing import IO

from otel_rt4chart.spans.exchange.assembly import AssembledTrace
from otel_rt4chart.spans.model.record import Attributes, SpanRecord
from otel_rt4chart.verify import DraftClaim, RulesJudge, Sentence, Verifier
from rt4chart_collector.core.metrics import ServiceMetrics
from rt4chart_collector.pipeline import outcome_saver
from rt4chart_collector.pipeline.breaker import Breaker
from rt4chart_collector.pipeline.current_verifier import CurrentVerifier
from rt4chart_collector.pipeline.look_ahead import LookAhead, LookUps
from rt4chart_collector.pipeline.outcome_saver import OutcomeSaver
from rt4chart_collector.pipeline.trace_queue import TraceQueue
from rt4chart_collector.pipeline.worker import Worker
from rt4chart_collector.service.local_api import serve_local_api
from rt4chart_collector.service.stages import Shutdown, workers_running
from rt4chart_collector.store.engine.connect import Client, connect
from rt4chart_collector.store.schema.migrate import migrate

SECOND = 10**9
# How finely the answers of a rate come.
TICK_S = 0.02
READY = "ready\n"
INSERTS = "SELECT sum(value) FROM system.events WHERE event = 'InsertQuery'"
DECISIONS = """
SELECT (SELECT count() FROM rt4chart_verifications),
    (SELECT uniqExact(TraceId, SpanId) FROM rt4chart_verifications FINAL WHERE IsDeleted = 0),
    (SELECT sum(Answers) FROM rt4chart_route_5m)
"""
EMPTIED = ("otel_traces", "rt4chart_verifications", "rt4chart_claims", "rt4chart_route_5m")


@dataclass(frozen=True, slots=True)
class Share:
    """What one process works on; without a `rate`, all answers wait at the start."""

    dsn: str
    first: int
    answers: int
    threads: int
    seconds: float
    sampled: float
    rate: float
    is_before: bool = False


@dataclass(frozen=True, slots=True)
class Done:
    """What one process says at its end."""

    took_s: float
    undecided: int
    cpu_s: float


class SlowJudge(RulesJudge):
    """Rules behind a wait, as an endpoint has it; without a wait, a judge of this process."""

    def __init__(self, seconds: float) -> None:
        """`seconds` is the wait for an answer."""
        super().__init__()
        self._seconds = seconds
        self.is_remote = seconds > 0

    def decompose(self, sentences: Sequence[Sentence]) -> Sequence[DraftClaim]:
        """The claims, after the wait."""
        time.sleep(self._seconds)
        return super().decompose(sentences)


class NoLookAhead(LookAhead):
    """As it was: a worker leases one trace, and asks the store about it by itself."""

    def run(self) -> None:
        """Look nothing up."""

    def take(self) -> AssembledTrace | None:
        """The next trace, as it is."""
        return next(iter(self.queue.lease(1)), None)


class Member:
    """A process that works on its share when it is told to."""

    def __init__(self, inbox: IO[str], outbox: IO[str]) -> None:
        """Its standard input and output."""
        self._inbox, self._outbox = inbox, outbox

    def wait_until_ready(self) -> None:
        """Until its workers wait for answers."""
        if (said := self._outbox.readline()) != READY:
            raise SystemExit(f"a process ended before it was ready: {said}")

    def begin(self) -> None:
        """Let it take its answers."""
        self._inbox.write("go\n")
        self._inbox.flush()

    def wait(self) -> Done:
        """What it says when each of its answers is stored."""
        return Done(**json.loads(self._outbox.readline()))


def main() -> None:
    """Measure each number of processes with each number of threads, or each rate."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--processes", default="1,2,3")
    parser.add_argument("--threads", default="1,4,8,16")
    parser.add_argument("--seconds", type=float, default=2.0, help="that the judge takes")
    parser.add_argument("--rounds", type=int, default=12, help="answers for each thread")
    parser.add_argument("--answers", type=int, default=0, help="for each process, for --rounds")
    parser.add_argument("--rates", default="0", help="answers a second in each process")
    parser.add_argument("--run-s", type=float, default=20.0, help="the time of a rate")
    parser.add_argument("--sampled", type=float, default=1.0, help="share of answers verified")
    parser.add_argument("--compare", type=int, default=0, help="1: also as it was before")
    parser.add_argument("--dsn", default="", help="an empty database on a server")
    parser.add_argument("--member", default="", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.member:
        be_member(Share(**json.loads(options.member)))
        return
    with tempfile.TemporaryDirectory() as folder:
        dsn = options.dsn or f"chdb://{Path(folder) / 'db'}"
        with connect(dsn) as client, serve_local_api(client.target):
            migrate(client)
            for processes in numbers(options.processes):
                for threads in numbers(options.threads):
                    for rate in numbers(options.rates):
                        answers = options.answers or threads * options.rounds
                        answers = rate * round(options.run_s) or answers
                        share = Share(
                            dsn, 0, answers, threads, options.seconds, options.sampled, rate
                        )
                        for is_before in (True, False)[1 - options.compare :]:
                            share = replace(share, is_before=is_before)
                            print(measured(client, share, processes), flush=True)


def numbers(written: str) -> list[int]:
    """Whole numbers between commas."""
    return [int(one) for one in written.split(",")]


def measured(client: Client, share: Share, processes: int) -> str:
    """Let so many processes work on as much each, and say what came of it."""
    for table in EMPTIED:
        client.command(f"TRUNCATE TABLE {table}")
    (before,) = client.query(INSERTS).result_rows[0]
    with ExitStack() as stack:
        shares = [at(share, number) for number in range(processes)]
        members = [stack.enter_context(member(one)) for one in shares]
        for one in members:
            one.wait_until_ready()
        engine_s = time.process_time()
        for one in members:
            one.begin()
        done = [one.wait() for one in members]
        engine_s = time.process_time() - engine_s
    (after,) = client.query(INSERTS).result_rows[0]
    return line(share, done, engine_s, after - before, client.query(DECISIONS).result_rows[0])


def at(share: Share, number: int) -> Share:
    """The share of the process with this number: answers of its own."""
    return replace(share, first=number * share.answers)


def line(
    share: Share, done: Sequence[Done], engine_s: float, inserts: int, found: Sequence[int]
) -> str:
    """One measurement in words."""
    answers, took_s = share.answers * len(done), max(one.took_s for one in done)
    ideal = share.threads * len(done) / share.seconds if share.seconds and not share.rate else 0.0
    reached = answers / took_s
    workers_s = sum(one.cpu_s for one in done)
    undecided = sum(one.undecided for one in done)
    is_once = tuple(found) == (answers, answers, answers)
    return (
        ("before: " if share.is_before else "")
        + f"{len(done)} x {share.threads:2} threads: {answers} answers, {share.seconds:g} s each, "
        + (f"{share.rate} a second, " if share.rate else "")
        + f"in {took_s:5.1f} s; {reached:5.1f} a second"
        + (f" of {ideal:g} ({reached / ideal:.2f})" if ideal else "")
        + f"; CPU {1000 * workers_s / answers:.1f} + {1000 * engine_s / answers:.1f} ms an answer; "
        f"{inserts} INSERTs, {1000 * inserts / answers:.1f} per 1,000 answers; "
        + ("each once" if is_once else f"{tuple(found)} decided, {undecided} left undecided")
    )


@contextmanager
def member(share: Share) -> Iterator[Member]:
    """A process for this share; it is killed at the end if it still runs."""
    command = [sys.executable, "-m", "benchmarks.service.scale", "--member"]
    with subprocess.Popen(
        [*command, json.dumps(asdict(share))],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            if process.stdin is not None and process.stdout is not None:
                yield Member(process.stdin, process.stdout)
        finally:
            process.kill()


def be_member(share: Share) -> None:
    """Decide on all answers of a share; says when it is ready, and waits for a line."""
    traces = [one_trace(share.first + number) for number in range(share.answers)]
    left: list[str] = []

    def note(traces: Sequence[AssembledTrace], undecided: Collection[str]) -> None:
        left.extend(undecided)

    queue = TraceQueue(share.answers, on_done=note)
    logging.disable()  # what fails is counted
    with connect(share.dsn) as client:
        with working(client, queue, share):
            print(READY, end="", flush=True)
            sys.stdin.readline()
            began, cpu_s = time.monotonic(), time.process_time()
            if not share.rate:
                queue.put(traces)
            for sent in range(share.answers if share.rate else 0):
                wait_s = began + sent / share.rate - time.monotonic()
                time.sleep(wait_s if wait_s > TICK_S else 0.0)
                queue.put([traces[sent]])
        # The end of the block is that of the last answer's save.
        done = Done(time.monotonic() - began, len(left), time.process_time() - cpu_s)
    print(json.dumps(asdict(done)), flush=True)


@contextmanager
def working(client: Client, queue: TraceQueue, share: Share) -> Iterator[None]:
    """The workers and the saver of a process, as the service has them."""
    if share.is_before:
        outcome_saver.BUSY_EVERY_S, outcome_saver.BATCH_OUTCOMES = outcome_saver.SAVE_EVERY_S, 250
    judge, metrics, giving_up = SlowJudge(share.seconds), ServiceMetrics(), Event()
    verifier = CurrentVerifier(Verifier(judge), time.time_ns)
    with ExitStack() as stack:
        own = [stack.enter_context(closing(client.sibling())) for _ in range(share.threads + 2)]
        saver = OutcomeSaver(own[0], queue.done, metrics, clock=time.time_ns, giving_up=giving_up)
        look_ups = LookUps(saver, verifier, metrics)
        workers = [
            Worker(
                connection,
                queue,
                saver,
                look_ups,
                metrics,
                Breaker(judge.id, time.time_ns),
                sample_rate=share.sampled,
                clock=time.time_ns,
            )
            for connection in own[2:]
        ]
        # A judge that does not wait had its traces looked up 64 together.
        kind = NoLookAhead if share.is_before and judge.is_remote else LookAhead
        shutdown = Shutdown(3600)
        ahead = kind(own[1], queue, look_ups)
        stack.enter_context(workers_running(ahead, workers, saver, giving_up, shutdown=shutdown))
        yield


def one_trace(number: int) -> AssembledTrace:
    """A chain with a retrieval and a generation."""
    trace_id, now = f"{number + 1:032x}", time.time_ns()
    passage = "The free trial lasts 14 days and can be extended once by seven days."
    question = "How long is the trial?"
    kind = "openinference.span.kind"

    def span(at: int, name: str, attributes: Attributes) -> SpanRecord:
        return SpanRecord(
            trace_id=trace_id,
            span_id=f"{3 * number + at + 1:016x}",
            parent_span_id=f"{3 * number + 1:016x}" if at else "",
            name=name,
            start_ns=now - SECOND + at,
            end_ns=now - at,
            attributes=attributes,
            resource={"service.name": "shop"},
        )

    answer = "The trial lasts 14 days."
    spans = (
        span(0, "ask", {kind: "CHAIN", "input.value": question, "output.value": answer}),
        span(
            1,
            "search",
            {kind: "RETRIEVER", "retrieval.documents.0.document.content": passage},
        ),
        span(2, "answer", {kind: "LLM", "input.value": question, "output.value": answer}),
    )
    return AssembledTrace(trace_id, spans, is_whole=True)


if __name__ == "__main__":
    main()
