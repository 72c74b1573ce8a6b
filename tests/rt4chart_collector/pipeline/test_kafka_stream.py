"""The line from a log to committed offsets, in one thread, under a clock that a test moves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import count
from threading import Thread

import pytest

from otel_rt4chart.core.errors import InputError
from otel_rt4chart.core.semconv import SCOPE_NAME
from otel_rt4chart.judges.build import build_verifier
from otel_rt4chart.spans.exchange.assembly import TraceBuffer, TraceTimeouts
from otel_rt4chart.spans.model.record import SpanRecord
from otel_rt4chart.spans.model.shortening import is_shortened
from rt4chart_collector.core.instruments import SHORTENED, SPANS_RECEIVED
from rt4chart_collector.core.metrics import ServiceMetrics
from rt4chart_collector.ingest.otlp.decode import decode_spans
from rt4chart_collector.ingest.otlp.span_limiter import VALUE_BYTES
from rt4chart_collector.pipeline.assembler import Assembler
from rt4chart_collector.pipeline.breaker import Breaker
from rt4chart_collector.pipeline.current_verifier import CurrentVerifier
from rt4chart_collector.pipeline.in_flight import InFlight
from rt4chart_collector.pipeline.kafka_stream import KafkaStream
from rt4chart_collector.pipeline.recovery import Retries
from rt4chart_collector.pipeline.span_writer import SpanWriter
from rt4chart_collector.service.status import Status
from rt4chart_collector.store.answers.spans import insert_spans, spans_of
from rt4chart_collector.store.engine.connect import Client
from tests.polling import WITHIN_S, wait_until
from tests.rt4chart_collector.ingest.kafka.memory import MemorySource
from tests.rt4chart_collector.one_worker import OneWorker
from tests.rt4chart_collector.otlp.messages import SENTENCE, rag_trace, request
from tests.rt4chart_collector.pipeline.line import GOOD, START, decisions
from tests.rt4chart_collector.records import NOON, SECOND

MUCH = 10**8


class Member:
    """One worker of a log, from its messages to its commits."""

    def __init__(
        self,
        client: Client,
        source: MemorySource,
        *,
        max_bytes: int = MUCH,
        quiet_s: int = 0,
        writer: SpanWriter | None = None,
    ) -> None:
        self.now, self.source, self.metrics = START, source, ServiceMetrics()
        verifier, ticks = build_verifier("rules"), count()
        breaker = Breaker(verifier.judge.id, lambda: self.now)
        self.in_flight = InFlight(999)
        self.queue = self.in_flight.queue
        retries = Retries(client, lambda: verifier.judge.id, share=lambda: self.stream.share)
        quiet = TraceTimeouts(quiet_s * SECOND, quiet_s * SECOND, 600 * SECOND)
        self.assembler = Assembler(
            TraceBuffer(quiet, max_bytes=2**62),
            self.queue,
            self.in_flight.hand_over,
            retries,
            breaker,
            self.metrics,
            has_room=lambda: not self.stream.paused,
            clock=lambda: self.now,
        )
        self.stream = KafkaStream(
            source,
            self.assembler,
            self.in_flight,
            breaker,
            self.metrics,
            writer,
            max_bytes=max_bytes,
            shutdown_s=lambda: 0.0,
            clock=lambda: self.now,
        )
        self.worker = OneWorker(
            client,
            CurrentVerifier(verifier, lambda: self.now),
            lambda: self.now + next(ticks),
            queue=self.queue,
            metrics=self.metrics,
            breaker=breaker,
            is_owned=self.in_flight.is_owned,
        )
        source.subscribe(self.stream)

    def step(self, seconds: int = 2) -> None:
        """Take what there is, a while later."""
        self.now += seconds * SECOND
        self.stream.step(0)

    def work(self) -> None:
        """Judge what waits, and commit it."""
        while len(self.queue_waiting()):
            self.judge()
        self.step()
        self.step()

    def judge(self) -> None:
        """One lease, as a worker's thread does it."""
        self.worker.handle(self.queue.lease(64))

    def queue_waiting(self) -> range:
        """As many as wait."""
        return range(self.queue.limit - self.queue.room)


def answer(number: int, part: slice = slice(None)) -> bytes:
    """A message with the spans of that trace, or part of them."""
    return request(*rag_trace(number, start_ns=NOON, answer=GOOD)[part])


def test_offset_is_committed_after_its_verdict_is_stored(client: Client) -> None:
    """Not when it is read, not when its trace waits for a worker."""
    source = MemorySource()
    source.send(0, answer(1))
    member = Member(client, source)

    member.step()
    before = dict(source.committed)
    member.work()

    assert before.get(0, 0) == 0
    assert source.committed == {0: 1}
    assert decisions(client) == {("verified", "entailed"): 1}


def test_trace_in_two_messages_holds_both_back(client: Client) -> None:
    """And what lies between them, though its own trace is done."""
    source = MemorySource()
    source.send(0, answer(1, slice(0, 2)))
    source.send(0, answer(2))
    member = Member(client, source, quiet_s=5)

    member.step()
    member.step(3)
    source.send(0, answer(1, slice(2, 3)))
    member.step(2)
    member.step(1)
    member.judge()
    member.step()
    between = source.committed.get(0, 0)
    member.step(4)
    member.work()

    assert between == 0
    assert source.committed == {0: 3}
    assert decisions(client) == {("verified", "entailed"): 2}


def test_partitions_are_paused_while_the_memory_is_full(client: Client) -> None:
    """And resumed when half of it is free again."""
    source = MemorySource()
    for number in range(1, 9):
        source.send(number % 2, answer(number))
    member = Member(client, source, max_bytes=20_000)

    member.step()
    full = set(source.paused)
    member.work()

    assert full == {0, 1}
    assert source.paused == set()
    assert source.committed == {0: 4, 1: 4}


def test_revoked_partition_is_committed_as_far_as_it_is_done_and_dropped(client: Client) -> None:
    """What was open comes again to whoever has it then, and is decided once."""
    source = MemorySource()
    source.send(0, answer(1))
    source.send(1, answer(2))
    member = Member(client, source)
    member.step()
    member.work()
    source.send(0, answer(3))
    source.send(1, answer(4))
    member.step(0)

    source.take_away(0)
    while member.queue_waiting():
        member.judge()
    member.step()
    member.step()
    dropped = decisions(client)
    source.give(0)
    member.step()
    member.work()

    assert dropped == {("verified", "entailed"): 3}
    assert source.committed == {0: 2, 1: 2}
    assert decisions(client) == {("verified", "entailed"): 4}


def test_lost_partition_is_not_committed_and_nothing_of_it_is_stored(client: Client) -> None:
    """A worker that has its trace in hand stores no verdict on it."""
    source = MemorySource()
    source.send(0, answer(1))
    member = Member(client, source)
    member.step()
    traces = member.queue.lease(64)

    source.lose(0)
    member.worker.handle(traces)
    member.step()

    assert decisions(client) == {}
    assert source.committed == {}
    source.give(0)
    member.step()
    member.work()
    assert decisions(client) == {("verified", "entailed"): 1}
    assert source.committed == {0: 1}


def test_message_that_cannot_be_read_is_put_aside_and_committed(client: Client) -> None:
    """Where it cannot be put aside it is not committed, and what is behind it is judged."""
    source = MemorySource()
    source.can_bury = False
    source.send(0, b"\xff")
    source.send(0, answer(1))
    member = Member(client, source)

    member.step()
    member.work()
    before = source.committed.get(0, 0), decisions(client)
    source.can_bury = True
    member.step(60)
    member.step()

    assert before == (0, {("verified", "entailed"): 1})
    assert source.committed == {0: 2}
    assert [message.body for message, _ in source.buried] == [b"\xff"]


def test_late_stop_does_not_wait_for_what_no_worker_reports(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A partition is handed over in the seconds that are left: here there are none."""
    monkeypatch.setattr("rt4chart_collector.pipeline.kafka_stream.HANDOVER_S", 600.0)
    source = MemorySource()
    source.send(0, answer(1))
    member = Member(client, source)
    member.step()
    member.queue.lease(64)

    member.stream.stop()
    handover = Thread(target=source.take_away, args=(0,), daemon=True)
    handover.start()
    handover.join(WITHIN_S)

    assert not handover.is_alive()


def test_log_that_is_made_anew_is_read_from_its_beginning(client: Client) -> None:
    """Its offsets go back while the partition stays with its worker."""
    source = MemorySource()
    source.send(0, answer(1))
    source.send(0, answer(2))
    member = Member(client, source)
    member.step()
    source.log[0] = [answer(3)]
    source.rewind(0)
    member.step()
    member.work()
    source.send(0, answer(4))
    member.step()
    member.work()

    assert source.committed == {0: 2}
    assert decisions(client) == {("verified", "entailed"): 4}


def test_messages_that_cannot_be_committed_pause_the_reading(client: Client) -> None:
    """The first of them is open, and those without spans take memory behind it."""
    source = MemorySource(1)
    source.send(0, answer(1))
    for _ in range(600):
        source.send(0, request())
    member = Member(client, source, max_bytes=100_000, quiet_s=60)

    for _ in range(3):
        member.step(0)
    full = set(source.paused)
    member.step(70)
    member.work()

    assert full == {0}
    assert source.paused == set()
    member.step()
    member.work()
    assert source.committed == {0: 601}


def test_status_is_not_idle_while_anything_is_held(client: Client) -> None:
    """What a worker has in hand is in no queue."""
    source = MemorySource()
    member = Member(client, source)
    status = Status(member.metrics, assembler=member.assembler, stream=member.stream)
    member.step()
    before = status()["idle"]
    source.send(0, answer(1))
    member.step()
    held = (status()["idle"], status()["traces_open"])
    member.work()
    after = status()["idle"]

    assert (before, held, after) == (True, (False, 0), True)
    assert member.metrics.total(SPANS_RECEIVED) == 3


def test_message_that_comes_twice_is_decided_once(client: Client) -> None:
    """As after a crash before the commit."""
    source = MemorySource()
    for _ in range(2):
        source.send(0, answer(1))
        member = Member(client, source)
        member.step()
        member.work()
        source.committed.clear()

    assert decisions(client) == {("verified", "entailed"): 1}
    rows = client.query("SELECT sum(Answers) FROM rt4chart_route_1m").result_rows
    assert rows == [(1,)]


def test_late_span_is_judged_with_what_the_store_has_and_what_it_has_not(client: Client) -> None:
    """The rest of its trace may be stored by another process, later than it is read."""
    source = MemorySource()
    source.send(0, answer(1, slice(1, 3)))
    member = Member(client, source)
    member.step()
    member.work()
    early = decisions(client)
    insert_spans(client, decode_spans(answer(1)).spans[1:])

    source.send(0, answer(1, slice(0, 1)))
    member.step()
    member.work()

    assert early == {("no_context", "none"): 1}
    assert decisions(client) == {("verified", "entailed"): 1}
    assert source.committed == {0: 2}


def test_spans_are_stored_before_they_are_judged(client: Client) -> None:
    """One whose values do not fit is put aside alone."""
    source = MemorySource()
    for number in (1, 2, 3):
        source.send(0, answer(number))

    def insert(spans: Sequence[SpanRecord]) -> tuple[int, ...]:
        if any(span.trace_id.endswith("2") for span in spans):
            raise InputError("too large")
        insert_spans(client, spans)
        return ()

    writer = SpanWriter(insert)
    member = Member(client, source, writer=writer)
    member.step()
    assert member.queue_waiting() == range(0)

    thread = Thread(target=writer.run)
    thread.start()
    while member.queue_waiting() != range(2):
        member.step()
    writer.stop()
    thread.join()
    member.work()

    stored = spans_of(client, [f"{number:032x}" for number in (1, 2, 3)])
    assert {int(span.trace_id, 16) for span in stored} == {1, 3}
    assert decisions(client) == {("verified", "entailed"): 2}
    assert len(source.buried) == 1
    assert source.committed == {0: 3}


def test_traces_that_a_store_does_not_take_are_tried_again(client: Client) -> None:
    """Their offsets wait as long."""
    source = MemorySource()
    source.send(0, answer(1))
    member = Member(client, source)
    member.step()
    traces = member.queue.lease(64)
    member.queue.done(traces, [trace.trace_id for trace in traces])

    member.step(1)
    waits = dict(source.committed), len(member.queue_waiting())
    member.step(3)
    member.work()

    assert waits == ({}, 0)
    assert source.committed == {0: 1}
    assert decisions(client) == {("verified", "entailed"): 1}


def verdict_message(number: int) -> bytes:
    """A message with a verdict below that trace's answer, which looks like an answer itself."""
    (span,) = rag_trace(number, start_ns=NOON + SECOND, answer=GOOD)[1:2]
    span.parent_span_id, span.span_id = span.span_id, bytes.fromhex("f" * 16)
    return request(span, scope=SCOPE_NAME)


def test_verdict_that_comes_back_is_committed_and_opens_no_trace(client: Client) -> None:
    """Before its trace, within it and after it: the answer is judged once, as if it never came."""
    source = MemorySource()
    member = Member(client, source, quiet_s=5)
    for message in (verdict_message(1), answer(1), verdict_message(1)):
        source.send(0, message)
    member.step()
    opened = member.assembler.open_traces
    member.step(6)
    member.work()
    source.send(0, verdict_message(1))
    member.step()
    after = member.assembler.open_traces
    member.step()

    assert (opened, after) == (1, 0)
    assert decisions(client) == {("verified", "entailed"): 1}
    assert source.committed == {0: 4}


def test_large_value_is_stored_shortened_and_its_answer_is_not_judged(client: Client) -> None:
    """What was shortened may have been the passage that supports the answer."""
    trace = rag_trace(1, start_ns=NOON, answer=GOOD)
    passage = next(
        pair
        for span in trace
        for pair in span.attributes
        if pair.key.startswith("retrieval.documents") and pair.key.endswith("content")
    )
    passage.value.string_value += SENTENCE * (5 * 2**20 // len(SENTENCE))

    def insert(spans: Sequence[SpanRecord]) -> Sequence[int]:
        insert_spans(client, spans)
        return ()

    def waiting() -> range:
        member.step()
        return member.queue_waiting()

    source, writer = MemorySource(), SpanWriter(insert)
    source.send(0, request(*trace))
    member = Member(client, source, writer=writer)
    member.step()
    thread = Thread(target=writer.run)
    thread.start()
    wait_until(waiting)
    member.judge()
    writer.stop()
    thread.join(WITHIN_S)

    (stored,) = [
        span for span in spans_of(client, [trace[0].trace_id.hex()]) if span.shortened_attributes
    ]
    assert (stored.shortened_attributes, +Counter(member.metrics.counts(SHORTENED))) == (
        1,
        {("value",): 1},
    )
    assert len(str(stored.attributes[passage.key]).encode()) <= VALUE_BYTES
    assert is_shortened(stored.attributes[passage.key])
    assert decisions(client) == {("truncated", "none"): 1}
