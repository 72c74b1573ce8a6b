"""The line from a source to the workers: messages in, traces out, offsets committed behind them."""

from __future__ import annotations

import threading
import time
from collections import defaultdict, deque
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import NamedTuple

from otel_rt4chart.judges.answer_verdicts import Clock
from otel_rt4chart.spans.exchange.assembly import AssembledTrace, TraceBuffer, span_bytes
from rt4chart_collector.core.instruments import (
    KAFKA_MESSAGES,
    SPANS_RECEIVED,
    SPANS_REFUSED,
    SPANS_STORED,
)
from rt4chart_collector.core.metrics import ServiceMetrics
from rt4chart_collector.ingest.kafka.dead_letters import Poison
from rt4chart_collector.ingest.kafka.offsets import Mark, Offsets
from rt4chart_collector.ingest.kafka.source import UNREADABLE, Message, Source, decoded
from rt4chart_collector.pipeline.breaker import Breaker
from rt4chart_collector.pipeline.stream.in_flight import Belongs, InHand, Piece, piece_of
from rt4chart_collector.pipeline.stream.searching import Searching
from rt4chart_collector.pipeline.stream.storing import UNFIT, Arrival, Storing
from rt4chart_collector.pipeline.trace_queue import TraceQueue
from rt4chart_collector.store.engine.columns import TraceShare

TICK_S = 0.1
MESSAGES = 256
# One insert has no messages of two such blocks, so that what comes again is cut as before.
BLOCK = 64
SECOND = 10**9
COMMIT_NS, COMMIT_ANEW_NS = SECOND, 60 * SECOND
AGAIN_NS = 2 * SECOND
HANDOVER_S = 5.0


class Parts(NamedTuple):
    """What a stream works with; `storing` where it stores the spans itself."""

    source: Source
    buffer: TraceBuffer
    queue: TraceQueue
    in_hand: InHand
    breaker: Breaker
    metrics: ServiceMetrics
    searching: Searching
    storing: Storing | None = None


class Stream:
    """One member's work; all of it is for one thread, but `stop` and what is read of it.

    An offset is committed when every trace with a span at or below it has its decision stored.
    While more than `max_bytes` are open, waiting or in hand, nothing more is taken.
    """

    def __init__(
        self, parts: Parts, *, max_bytes: int, seconds_left: Callable[[], float], clock: Clock
    ) -> None:
        """Nothing is read until `run`; `seconds_left` runs from its first call, at the end."""
        self._source, self._buffer, self._queue, self._in_hand = parts[:4]
        self._breaker, self._metrics = parts.breaker, parts.metrics
        self._searching, self._storing = parts.searching, parts.storing
        self._max_bytes, self._seconds_left, self._clock = max_bytes, seconds_left, clock
        self._offsets = Offsets()
        self._poison = Poison(parts.source, self._offsets, parts.metrics, clock=clock)
        self._marks: defaultdict[str, set[Mark]] = defaultdict(set)
        self._again: deque[tuple[int, Piece]] = deque()
        self._unstored = self._held = 0
        self._next_commit, self._next_anew = 0, clock() + COMMIT_ANEW_NS
        self._stopping = threading.Event()
        self.share = TraceShare(parts.source.partitions, frozenset())
        self.paused: frozenset[int] = frozenset()
        self.lags: Mapping[int, int] = {}

    @property
    def partitions(self) -> frozenset[int]:
        """The partitions of this member; from any thread."""
        return self.share.numbers

    @property
    def open_traces(self) -> int:
        """The number of traces that wait for more spans; from any thread."""
        return len(self._buffer)

    @property
    def buffer_bytes(self) -> int:
        """Approximate memory that they take; from any thread."""
        return self._buffer.size

    @property
    def held_bytes(self) -> int:
        """The `size` after the last step; from any thread."""
        return self._held

    @property
    def size(self) -> int:
        """About how many bytes are open, waiting, in hand, not committed, or not put aside."""
        again = sum(piece.size for _, piece in self._again)
        held = self._buffer.size + self._in_hand.size + self._unstored
        return held + again + self._poison.size + self._offsets.size

    def run(self) -> None:
        """Work until stopped, then finish what is with the workers; SourceError ends it."""
        self._source.subscribe(self)
        while not self._stopping.is_set():
            self.step()
        self._finish()

    def stop(self) -> None:
        """Let `run` end; from any thread or signal handler."""
        self._stopping.set()

    def step(self, timeout_s: float = TICK_S) -> None:
        """Take some messages and go on with what is in hand."""
        self._arrive(self._source.take(MESSAGES, timeout_s))
        self._move()

    def settle(self) -> None:
        """Commit what the workers have reported."""
        self._settle()
        self._commit(wait=True)

    def assigned(self, partitions: Collection[int]) -> None:
        """Begin with these."""
        self._offsets.assign(partitions)
        if self.paused:
            self._source.pause(partitions)
            self.paused |= frozenset(partitions)
        self._own()

    def revoked(self, partitions: Collection[int]) -> Mapping[int, int]:
        """Wait a moment for what the workers have of these, and drop the rest."""
        wait_s = min(HANDOVER_S, self._seconds_left()) if self._stopping.is_set() else HANDOVER_S
        until = time.monotonic() + wait_s
        of_these = self._of(partitions)
        waiting = self._queue.withdraw(self._in_hand.keys_of(of_these))
        self._in_hand.withdraw(waiting, waiting=waiting)
        while self._in_hand.keys_of(of_these) and time.monotonic() < until:
            time.sleep(0.01)
        self._settle()
        positions = self._offsets.uncommitted(partitions)
        self._drop(partitions)
        return positions

    def lost(self, partitions: Collection[int]) -> None:
        """Drop what there is of these at once."""
        self._settle()
        self._drop(partitions)

    def _move(self) -> None:
        self._settle()
        self._poison.step()
        self._take_stored()
        self._searching.has_room = not self.paused
        self._buffer.add(self._searching.found(), self._clock())
        self._hand_over(self._buffer.close(self._clock(), self._queue.room))
        self._try_again()
        self._commit()
        self._regulate()

    def _arrive(self, messages: Sequence[Message]) -> None:
        blocks: defaultdict[tuple[int, int], list[Arrival]] = defaultdict(list)
        for message in messages:
            arrival = self._read(message)
            if arrival is None:
                continue
            if self._storing is None:
                self._open(arrival)
            else:
                blocks[message.partition, message.offset // BLOCK].append(arrival)
        for block in blocks.values():
            if self._storing is not None:
                self._unstored += sum(one.size for one in block)
                self._storing.offer(block)

    def _read(self, message: Message) -> Arrival | None:
        found = decoded(message)
        parts = len({span.trace_id for span in found.spans}) if found else 1
        mark = self._offsets.arrive(message.partition, message.offset, parts)
        if mark is None:
            return None
        self._metrics.add(KAFKA_MESSAGES, "read")
        if found is None:
            self._poison.add(message, UNREADABLE, mark)
            return None
        self._metrics.add(SPANS_RECEIVED, number=len(found.spans) + found.rejected)
        self._metrics.add(SPANS_REFUSED, "invalid", number=found.rejected)
        if not found.spans:
            return None
        return Arrival(mark, message, found.spans, sum(map(span_bytes, found.spans)))

    def _take_stored(self) -> None:
        for arrival, is_stored in self._storing.done() if self._storing else ():
            self._unstored -= arrival.size
            if not self._offsets.is_live(arrival.mark):
                continue
            if is_stored:
                self._metrics.add(SPANS_STORED, number=len(arrival.spans))
                self._open(arrival)
                continue
            traces = {span.trace_id for span in arrival.spans}
            for _ in range(len(traces) - 1):
                self._offsets.finish(arrival.mark)
            self._poison.add(arrival.message, UNFIT, arrival.mark)

    def _open(self, arrival: Arrival) -> None:
        for span in arrival.spans:
            self._marks[span.trace_id].add(arrival.mark)
        self._buffer.add(arrival.spans, self._clock())

    def _hand_over(self, traces: Sequence[AssembledTrace]) -> None:
        for trace in traces:
            self._give(piece_of(trace, self._marks.pop(trace.trace_id, ())))

    def _give(self, piece: Piece) -> None:
        self._in_hand.give(piece)
        self._queue.put([piece.trace])

    def _try_again(self) -> None:
        """What was left undecided, when the judge may be asked."""
        now = self._clock()
        while self._again and self._again[0][0] <= now and not self._breaker.is_paused:
            if not self._queue.room:
                return
            self._give(self._again.popleft()[1])

    def _settle(self) -> None:
        for piece, is_left in self._in_hand.settled():
            if not is_left:
                for mark in piece.marks:
                    self._offsets.finish(mark)
            elif any(map(self._offsets.is_live, piece.marks)):
                self._again.append((self._clock() + AGAIN_NS, piece))

    def _commit(self, *, wait: bool = False) -> None:
        now = self._clock()
        if now < self._next_commit and not wait:
            return
        self._next_commit = now + COMMIT_NS
        self.lags = self._lags()
        if now >= self._next_anew:
            # A commit that failed is not known to have failed.
            self._next_anew = now + COMMIT_ANEW_NS
            self._offsets.forget_commits()
        positions = self._offsets.uncommitted()
        self._source.commit(positions, wait=wait)
        self._offsets.committed(positions)

    def _lags(self) -> Mapping[int, int]:
        positions = self._offsets.positions()
        ends = self._source.ends(self.partitions)
        return {one: max(ends[one] - positions[one], 0) for one in positions.keys() & ends.keys()}

    def _regulate(self) -> None:
        self._held = self.size
        if not self.paused and self._held >= self._max_bytes:
            self._source.pause(self.partitions)
            self.paused = self.partitions
        elif self.paused and self._held < self._max_bytes // 2:
            self._source.resume(self.paused)
            self.paused = frozenset()

    def _of(self, partitions: Collection[int]) -> Belongs:
        return Belongs(frozenset(partitions), self.share, self._offsets)

    def _drop(self, partitions: Collection[int]) -> None:
        """Forget what has no message left, or none but of these partitions."""
        of_these = self._of(partitions)
        keys = self._in_hand.keys_of(of_these)
        self._in_hand.withdraw(keys, waiting=self._queue.withdraw(keys))
        self._again = deque(one for one in self._again if not of_these(one[1]))
        gone = [
            one for one in self._buffer.open_ids if of_these.is_so(one, self._marks.get(one, ()))
        ]
        self._buffer.drop(gone)
        for trace_id in gone:
            self._marks.pop(trace_id, None)
        self._offsets.revoke(partitions)
        self.paused -= frozenset(partitions)
        self._own()

    def _own(self) -> None:
        ours = self._offsets.partitions
        self.share = TraceShare(max(self.share.count, *(one + 1 for one in ours), 1), ours)
        self.lags = {one: lag for one, lag in self.lags.items() if one in ours}

    def _finish(self) -> None:
        """Wait for the workers, and keep the membership meanwhile; what is open comes again."""
        self._source.pause(self.partitions)
        self.paused = self.partitions
        while len(self._in_hand) and self._seconds_left() > 0:
            self._source.take(MESSAGES, TICK_S)
            self._settle()
            self._commit()
