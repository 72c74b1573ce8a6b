"""Reads spans from Kafka for the workers, and commits offsets once decisions are stored."""

from __future__ import annotations

import threading
import time
from collections import defaultdict, deque
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace

from otel_rt4chart.core.deadline import Deadline
from otel_rt4chart.judges.answer_verdicts import Clock
from otel_rt4chart.spans.exchange.assembly import span_bytes
from otel_rt4chart.spans.model.record import SpanRecord
from rt4chart_collector.core.instruments import KAFKA_MESSAGES, SPANS_RECEIVED, SPANS_REFUSED
from rt4chart_collector.core.metrics import ServiceMetrics
from rt4chart_collector.ingest.kafka.dead_letters import DeadLetterQueue
from rt4chart_collector.ingest.kafka.offset_tracker import OffsetTracker
from rt4chart_collector.ingest.kafka.source import (
    KafkaMessage,
    SpanSource,
    decode_message,
)
from rt4chart_collector.ingest.otlp.day_limiter import DayLimiter
from rt4chart_collector.ingest.otlp.span_limiter import SpanLimiter
from rt4chart_collector.pipeline.assembler import Assembler
from rt4chart_collector.pipeline.breaker import Breaker
from rt4chart_collector.pipeline.in_flight import InFlight, LeasedTrace, PartitionFilter
from rt4chart_collector.pipeline.span_writer import UNFIT, DecodedMessage, SpanWriter
from rt4chart_collector.store.engine.columns import TraceShare

TICK_S = 0.1
MESSAGES = 256
# An insert never spans two blocks of this many offsets. Messages that are read again after a crash
# are therefore cut into the same inserts, which ClickHouse recognises as repeated and drops.
BLOCK = 64
SECOND = 10**9
COMMIT_NS, RECOMMIT_NS = SECOND, 60 * SECOND
RETRY_NS = 2 * SECOND
# How long a rebalance waits for workers: nobody reads the moving partitions meanwhile. What is not
# finished by then is verified by their next owner.
HANDOVER_S = 5.0


class KafkaStream:
    """One member of a consumer group: reads messages, and commits their offsets.

    An offset is committed when every trace with a span at or below it has its decision stored, so
    that a crash loses no answer: its messages are read again. While more than `max_bytes` are in
    memory, partitions are paused. One thread does all of it, and must poll without pause to stay in
    the group: it never waits for the database. `stop` and the public attributes are for any thread.
    """

    def __init__(
        self,
        source: SpanSource,
        assembler: Assembler,
        in_flight: InFlight,
        breaker: Breaker,
        metrics: ServiceMetrics,
        writer: SpanWriter | None = None,
        *,
        span_limiter: SpanLimiter | None = None,
        day_limiter: DayLimiter | None = None,
        max_bytes: int,
        shutdown_s: Callable[[], float],
        clock: Clock,
    ) -> None:
        """Nothing is read until `run`.

        `writer` stores the spans, within the limits of `span_limiter`; None if another process
        does. `day_limiter` bounds the days of what is stored. `shutdown_s` returns the seconds left
        for the shutdown, which begins with the first call.
        """
        self._source, self._assembler, self._in_flight = source, assembler, in_flight
        self._breaker, self._metrics, self._writer = breaker, metrics, writer
        self._span_limiter = span_limiter or SpanLimiter(metrics)
        self._day_limiter = day_limiter or DayLimiter(metrics)
        self._max_bytes, self._shutdown_s, self._clock = max_bytes, shutdown_s, clock
        self._offsets = OffsetTracker()
        self._dead_letters = DeadLetterQueue(source, self._offsets, metrics, clock=clock)
        # Traces that a worker left undecided, each with the time of its next attempt.
        self._postponed: deque[tuple[int, LeasedTrace]] = deque()
        self._unstored_bytes = 0
        self._next_commit, self._next_recommit = 0, clock() + RECOMMIT_NS
        self._stopping = threading.Event()
        self.share = TraceShare(source.partitions, frozenset())
        self.paused: frozenset[int] = frozenset()
        self.lags: Mapping[int, int] = {}
        # As of the last step.
        self.held_bytes = 0

    @property
    def partitions(self) -> frozenset[int]:
        """The partitions assigned to this member."""
        return self.share.numbers

    def run(self) -> None:
        """Work until stopped, then wait for the workers; SourceError ends it."""
        self._source.subscribe(self)
        while not self._stopping.is_set():
            self.step()
        self._finish()

    def stop(self) -> None:
        """End `run`; from any thread or signal handler."""
        self._stopping.set()

    def step(self, timeout_s: float = TICK_S) -> None:
        """Read some messages, and advance every trace by one step."""
        self._read(self._source.poll(MESSAGES, timeout_s))
        self._collect_results()
        self._dead_letters.step()
        self._open_stored()
        self._assembler.close_due()
        self._retry_postponed()
        self._commit()
        self._regulate()

    def commit_results(self) -> None:
        """Commit what the workers have reported."""
        self._collect_results()
        self._commit(now=True)

    def assigned(self, partitions: Collection[int]) -> None:
        """Start reading these partitions."""
        self._offsets.assign(partitions)
        if self.paused:
            self._source.pause(partitions)
            self.paused |= frozenset(partitions)
        self._update_share()

    def revoked(self, partitions: Collection[int]) -> Mapping[int, int]:
        """Wait shortly for workers that have traces of these partitions, and drop the rest.

        Returns the positions to commit: what finished in this time is not verified twice.
        """
        is_stopping = self._stopping.is_set()
        deadline = Deadline(min(HANDOVER_S, self._shutdown_s()) if is_stopping else HANDOVER_S)
        is_revoked = self._filter(partitions)
        self._in_flight.withdraw_waiting(is_revoked)
        # This runs inside `poll`, which must not be called again, so it waits itself.
        while self._in_flight.contains(is_revoked) and not deadline.is_over:
            time.sleep(0.01)
        self._collect_results()
        positions = self._offsets.uncommitted(partitions)
        self._drop(partitions)
        return positions

    def lost(self, partitions: Collection[int]) -> None:
        """Drop all traces of these partitions at once."""
        # Their next owner may already verify them: finishing here would only store them twice.
        self._collect_results()
        self._drop(partitions)

    def _read(self, messages: Sequence[KafkaMessage]) -> None:
        blocks: defaultdict[tuple[int, int], list[DecodedMessage]] = defaultdict(list)
        for message in messages:
            decoded = self._decode(message)
            if decoded is None:
                continue
            if self._writer is None:
                self._open(decoded)
            else:
                blocks[message.partition, message.offset // BLOCK].append(decoded)
        for block in blocks.values():
            if self._writer is not None:
                self._unstored_bytes += sum(decoded.size for decoded in block)
                self._writer.offer(block)

    def _decode(self, message: KafkaMessage) -> DecodedMessage | None:
        """Track the message; None if it has no spans to verify."""
        found = decode_message(message)
        spans: Sequence[SpanRecord] = ()
        if not isinstance(found, str):
            spans = self._day_limiter.admit(found.spans)
        # A message is finished when each of its traces is; an unreadable one is finished once.
        parts = 1 if isinstance(found, str) else len({span.trace_id for span in spans})
        message_id = self._offsets.track(message.partition, message.offset, parts)
        if message_id is None:
            return None
        self._metrics.add(KAFKA_MESSAGES, "read")
        if isinstance(found, str):
            self._dead_letters.add(message, found, message_id)
            return None
        self._metrics.add(SPANS_RECEIVED, number=len(found.spans) + found.rejected)
        self._metrics.add(SPANS_REFUSED, "invalid", number=found.rejected)
        if not spans:
            return None
        if self._writer is not None:
            spans = self._span_limiter.limit(spans, len(message.body))
        return DecodedMessage(message_id, message, spans, sum(map(span_bytes, spans)))

    def _open_stored(self) -> None:
        """Open the traces of messages whose spans are stored by now.

        Not earlier: a worker reads the rest of a trace from the store, and a decision must not be
        stored for an answer whose spans may still be lost.
        """
        for decoded, stored in self._writer.take_results() if self._writer else ():
            self._unstored_bytes -= decoded.size
            if not self._offsets.is_live(decoded.id):
                continue
            gone = {span.trace_id for span in decoded.spans}
            if stored is not None:
                gone -= {span.trace_id for span in stored}
                self._open(replace(decoded, spans=stored))
            else:
                # The last part is finished when the message is written to the dead letters.
                gone.pop()
                self._dead_letters.add(decoded.message, UNFIT, decoded.id)
            for _ in gone:
                self._offsets.finish_part(decoded.id)

    def _open(self, decoded: DecodedMessage) -> None:
        # Verdicts are stored and nothing more: a trace is not read for them.
        spans = [span for span in decoded.spans if not span.is_verdict]
        opened = {span.trace_id for span in spans}
        for trace_id in opened:
            self._in_flight.note(trace_id, decoded.id)
        self._assembler.accept(spans)
        for _ in {span.trace_id for span in decoded.spans} - opened:
            self._offsets.finish_part(decoded.id)

    def _collect_results(self) -> None:
        for leased, is_undecided in self._in_flight.take_results():
            if not is_undecided:
                for message_id in leased.messages:
                    self._offsets.finish_part(message_id)
            # A trace that was read from the store has no messages: recovery finds it again.
            elif any(map(self._offsets.is_live, leased.messages)):
                self._postponed.append((self._clock() + RETRY_NS, leased))

    def _retry_postponed(self) -> None:
        now = self._clock()
        while self._postponed and self._postponed[0][0] <= now and not self._breaker.is_paused:
            if not self._in_flight.queue.room:
                return
            self._in_flight.put(self._postponed.popleft()[1])

    def _commit(self, *, now: bool = False) -> None:
        """Commit if it is time; `now` commits in any case, and waits for the answer."""
        now_ns = self._clock()
        if now_ns < self._next_commit and not now:
            return
        self._next_commit = now_ns + COMMIT_NS
        self.lags = self._measure_lags()
        if now_ns >= self._next_recommit:
            # An asynchronous commit may fail without a report, so all are repeated periodically.
            self._next_recommit = now_ns + RECOMMIT_NS
            self._offsets.forget_commits()
        positions = self._offsets.uncommitted()
        self._source.commit(positions, wait=now)
        self._offsets.committed(positions)

    def _measure_lags(self) -> Mapping[int, int]:
        positions = self._offsets.positions()
        ends = self._source.end_offsets(self.partitions)
        return {
            partition: max(ends[partition] - positions[partition], 0)
            for partition in positions.keys() & ends.keys()
        }

    def _regulate(self) -> None:
        """Pause reading at `max_bytes`, resume at half of it: the gap prevents rapid switching."""
        self.held_bytes = (
            self._assembler.buffer_bytes
            + self._in_flight.size
            + self._unstored_bytes
            + sum(leased.size for _, leased in self._postponed)
            + self._dead_letters.size
            + self._offsets.size
        )
        if not self.paused and self.held_bytes >= self._max_bytes:
            self._source.pause(self.partitions)
            self.paused = self.partitions
        elif self.paused and self.held_bytes < self._max_bytes // 2:
            self._source.resume(self.paused)
            self.paused = frozenset()

    def _filter(self, partitions: Collection[int]) -> PartitionFilter:
        return PartitionFilter(frozenset(partitions), self.share, self._offsets)

    def _drop(self, partitions: Collection[int]) -> None:
        """Drop every trace that has no live message outside these partitions."""
        is_revoked = self._filter(partitions)
        self._in_flight.withdraw(is_revoked)
        self._postponed = deque(entry for entry in self._postponed if not is_revoked(entry[1]))
        dropped = self._assembler.drop(
            lambda trace_id: is_revoked.matches(trace_id, self._in_flight.messages_of(trace_id))
        )
        self._in_flight.forget(dropped)
        self._offsets.revoke(partitions)
        self.paused -= frozenset(partitions)
        self._update_share()

    def _update_share(self) -> None:
        owned = self._offsets.partitions
        count = max(self.share.count, *(partition + 1 for partition in owned), 1)
        self.share = TraceShare(count, owned)
        self.lags = {partition: lag for partition, lag in self.lags.items() if partition in owned}

    def _finish(self) -> None:
        """Wait for the workers while staying in the group; open traces are read again later."""
        self._source.pause(self.partitions)
        self.paused = self.partitions
        while len(self._in_flight) and self._shutdown_s() > 0:
            self._source.poll(MESSAGES, TICK_S)
            self._collect_results()
            self._commit()
