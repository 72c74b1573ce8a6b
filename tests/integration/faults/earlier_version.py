"""A process that decides on answers as a version does that knows the first migrations only.

    python -m tests.integration.faults.earlier_version DSN MIGRATIONS FIRST

It checks the database with the first MIGRATIONS of the migrations, as that version does at its
start, and then decides on one trace after another from the number FIRST on, until a line comes. It
prints how many. What it writes are this version's statements, which name their columns: the tables
of that version have all of them, or it would fail.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from itertools import count
from threading import Event, Thread
from typing import IO

from otel_rt4chart.spans.exchange.assembly import AssembledTrace
from otel_rt4chart.verify import RulesJudge, Verifier
from rt4chart_collector.core.metrics import ServiceMetrics
from rt4chart_collector.ingest.otlp.decode import decode_spans
from rt4chart_collector.pipeline.breaker import Breaker
from rt4chart_collector.pipeline.current_verifier import CurrentVerifier
from rt4chart_collector.pipeline.look_ahead import LookAhead, LookUps
from rt4chart_collector.pipeline.outcome_saver import OutcomeSaver
from rt4chart_collector.pipeline.trace_queue import TraceQueue
from rt4chart_collector.pipeline.worker import Worker
from rt4chart_collector.service.stages import Shutdown, workers_running
from rt4chart_collector.store.engine.connect import Client, connect
from rt4chart_collector.store.schema.migrate import migrate, shipped_migrations
from tests.integration.faults.load import BAD, GOOD
from tests.rt4chart_collector.otlp.messages import rag_trace, request

PAUSE_S = 0.02
PATIENCE_S = 60


class EarlierVersion:
    """The process, seen from a test."""

    def __init__(self, process: subprocess.Popen[str], inbox: IO[str], outbox: IO[str]) -> None:
        self._process, self._inbox, self._outbox = process, inbox, outbox

    def stop(self) -> int:
        """Let it store what it has decided, and end; the number of its answers."""
        self._inbox.write("stop\n")
        self._inbox.flush()
        number = int(self._outbox.readline())
        assert self._process.wait(PATIENCE_S) == 0
        return number


@contextmanager
def earlier_version(dsn: str, migrations: int, first: int) -> Iterator[EarlierVersion]:
    """The process while the block runs; it is killed at the end if it still runs."""
    command = [sys.executable, "-m", __name__, dsn, str(migrations), str(first)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdin is not None
            assert process.stdout is not None
            yield EarlierVersion(process, process.stdin, process.stdout)
        finally:
            process.kill()


def traces(first: int) -> Iterator[AssembledTrace]:
    """Traces from this number on that end now, two of three with a contradicted claim."""
    for number in count(first):
        answer = BAD if number % 3 else GOOD
        made = rag_trace(
            number, start_ns=time.time_ns(), answer=answer, route=f"route-{number % 4}"
        )
        spans = decode_spans(request(*made)).spans
        yield AssembledTrace(spans[0].trace_id, spans, is_whole=True)


@contextmanager
def working(client: Client, queue: TraceQueue) -> Iterator[None]:
    """A worker on the queue; at the end, what it was given is stored."""
    judge, metrics, giving_up = RulesJudge(), ServiceMetrics(), Event()
    with (
        closing(client.sibling()) as saving,
        closing(client.sibling()) as looking,
        closing(client.sibling()) as judging,
    ):
        saver = OutcomeSaver(saving, queue.done, metrics, clock=time.time_ns, giving_up=giving_up)
        verifier = CurrentVerifier(Verifier(judge), time.time_ns)
        look_ups = LookUps(saver, verifier, metrics)
        worker = Worker(
            judging,
            queue,
            saver,
            look_ups,
            metrics,
            Breaker(judge.id, time.time_ns),
            sample_rate=1.0,
            clock=time.time_ns,
        )
        ahead, shutdown = LookAhead(looking, queue, look_ups), Shutdown(PATIENCE_S)
        with workers_running(ahead, [worker], saver, giving_up, shutdown=shutdown):
            yield


def main(dsn: str, known: str, first: str) -> None:
    """Write until a line comes."""
    told, sent = Event(), 0

    def wait_for_line() -> None:
        sys.stdin.readline()
        told.set()

    Thread(target=wait_for_line, daemon=True).start()
    with connect(dsn) as client:
        migrate(client, migrations=shipped_migrations()[: int(known)])
        queue = TraceQueue(100)
        with working(client, queue):
            for trace in traces(int(first)):
                if told.wait(PAUSE_S):
                    break
                if queue.room:
                    queue.put([trace])
                    sent += 1
    sys.stdout.write(f"{sent}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
