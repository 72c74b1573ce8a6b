"""How many answers a second threads verify while each waits for a slow judge.

    python -m benchmarks.service.slow_judge [--threads 8] [--answers 64] [--seconds 2]
    python -m benchmarks.service.slow_judge --threads 32 --answers 1500 --seconds 1
    python -m benchmarks.service.slow_judge --threads 2 --answers 3000 --sampled 0

A judge that waits so many seconds for each answer, as an endpoint does, and then answers by rules;
an empty embedded store; the service's own queue and workers. All answers are there at the start.
Ideal is seconds x answers / threads. Counted as well: the answers with a verdict, which must be
all, the leases, each with read statements of its own, the store's INSERT statements, and the CPU
seconds of worker and engine together. With `--sampled 0` no answer waits: that is the cost of a
decision that needs no judge.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from threading import Event

from otel_rt4chart.spans.exchange.assembly import AssembledTrace
from otel_rt4chart.spans.model.record import Attributes, SpanRecord
from otel_rt4chart.verify import DraftClaim, RulesJudge, Sentence, Verifier
from rt4chart_collector.core.metrics import ServiceMetrics
from rt4chart_collector.pipeline.breaker import Breaker
from rt4chart_collector.pipeline.current_verifier import CurrentVerifier
from rt4chart_collector.pipeline.outcome_saver import OutcomeSaver
from rt4chart_collector.pipeline.trace_queue import TraceQueue
from rt4chart_collector.pipeline.worker import Worker
from rt4chart_collector.service.stages import Shutdown, workers_running
from rt4chart_collector.store.engine.connect import Client, connect
from rt4chart_collector.store.schema.migrate import migrate

SECOND = 10**9


class SlowJudge(RulesJudge):
    """Rules behind a wait, as an endpoint has it."""

    is_remote = True

    def __init__(self, seconds: float) -> None:
        """`seconds` is the wait for an answer."""
        super().__init__()
        self._seconds = seconds

    def decompose(self, sentences: Sequence[Sentence]) -> Sequence[DraftClaim]:
        """The claims, after the wait."""
        time.sleep(self._seconds)
        return super().decompose(sentences)


def main() -> None:
    """Verify the answers, and print how long it took beside the ideal."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--threads", type=int, default=8)
    parser.add_argument("--answers", type=int, default=64)
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--sampled", type=float, default=1.0, help="share of answers verified")
    options = parser.parse_args()
    with (
        tempfile.TemporaryDirectory() as folder,
        connect(f"chdb://{Path(folder) / 'db'}") as client,
    ):
        migrate(client)
        before = inserts(client)
        began_s = time.process_time()
        took, leases = worked(client, options)
        cpu_s = time.process_time() - began_s
        inserted = inserts(client) - before
        decided = client.query(
            "SELECT count(), uniqExact(TraceId) FROM rt4chart_verifications FINAL "
            "WHERE IsDeleted = 0"
        ).result_rows[0]
    ideal = options.seconds * options.answers * options.sampled / options.threads
    print(
        f"{options.threads} threads, {options.answers} answers, {options.seconds:g} s each: "
        f"{took:.1f} s, ideal {ideal:.1f} s ({ideal / took:.2f}); "
        f"CPU {1000 * cpu_s / options.answers:.1f} ms per answer; "
        f"{decided[0]} decisions on {decided[1]} answers, {leases} leases; "
        f"{inserted} INSERTs, {1000 * inserted / options.answers:.0f} per 1,000 answers"
    )


def inserts(client: Client) -> int:
    """The INSERT statements that the engine has run since its start."""
    query = "SELECT sum(value) FROM system.events WHERE event = 'InsertQuery'"
    return int(client.query(query).result_rows[0][0])


def worked(client: Client, options: argparse.Namespace) -> tuple[float, int]:
    """Seconds until every answer has its decision, and the number of leases."""
    ended: list[int] = []
    queue = TraceQueue(options.answers, on_done=lambda traces, _: ended.append(len(traces)))
    judge = SlowJudge(options.seconds)
    verifier = CurrentVerifier(Verifier(judge), time.time_ns)
    breaker, giving_up = Breaker(judge.id, time.time_ns), Event()
    with ExitStack() as stack:
        own, metrics = stack.enter_context(closing(client.sibling())), ServiceMetrics()
        saver = OutcomeSaver(own, queue.done, metrics, clock=time.time_ns, giving_up=giving_up)
        workers = [
            Worker(
                stack.enter_context(closing(client.sibling())),
                queue,
                saver,
                verifier,
                metrics,
                breaker,
                sample_rate=options.sampled,
                clock=time.time_ns,
            )
            for _ in range(options.threads)
        ]
        queue.put([one_trace(number) for number in range(options.answers)])
        began = time.monotonic()
        with workers_running(queue, workers, saver, giving_up, shutdown=Shutdown(3600)):
            pass
        return time.monotonic() - began, len(ended)


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
