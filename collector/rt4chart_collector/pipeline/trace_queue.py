"""The queue of closed traces: bounded, one worker a trace, and fair to services and sizes."""

from __future__ import annotations

import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import NamedTuple

from otel_rt4chart.core.semconv import SERVICE_NAME
from otel_rt4chart.core.tenants import stored_service, tenant_of
from otel_rt4chart.spans.exchange.assembly import AssembledTrace, span_bytes
from otel_rt4chart.spans.model.record import SpanRecord
from rt4chart_collector.pipeline.service_turns import ServiceTurns

# Ten times a trace of an ordinary answer with ten passages. Judging a larger one may take seconds.
LARGE_BYTES = 256 * 1024
# One turn may fill half of the queue. Of the other half it may have a sixteenth of the queue, so
# that the traces of others find room.
OPEN_SHARE, TURN_SHARE = 2, 16


class _Waiting(NamedTuple):
    """A trace that waits, with its turn, its place in the order of arrival and the time of it."""

    trace: AssembledTrace
    turn: str
    number: int
    since: float


class _FairLine:
    """Waiting traces: those of one turn in the order of arrival, the services in turn.

    Otherwise a service that sends many answers at once would hold up those of all others.
    """

    def __init__(self) -> None:
        self._turns: dict[str, deque[_Waiting]] = {}

    def append(self, waiting: _Waiting) -> None:
        """Put a trace behind the others of its turn."""
        self._turns.setdefault(waiting.turn, deque()).append(waiting)

    def appendleft(self, waiting: _Waiting) -> None:
        """Put a trace before the others of its turn."""
        self._turns.setdefault(waiting.turn, deque()).appendleft(waiting)

    def popleft(self) -> _Waiting:
        """Take the next trace; its turn comes again after all others."""
        turn, traces = next(iter(self._turns.items()))
        del self._turns[turn]
        first = traces.popleft()
        if traces:
            self._turns[turn] = traces
        return first

    def keep(self, wanted: Callable[[_Waiting], bool]) -> None:
        """Drop all other traces."""
        kept = {turn: deque(filter(wanted, traces)) for turn, traces in self._turns.items()}
        self._turns = {turn: traces for turn, traces in kept.items() if traces}

    @property
    def oldest(self) -> _Waiting | None:
        """The trace that arrived first; None if none waits."""
        firsts = (traces[0] for traces in self._turns.values())
        return min(firsts, key=lambda waiting: waiting.number, default=None)

    @property
    def sizes(self) -> dict[str, int]:
        """How many traces wait for each turn."""
        return {turn: len(traces) for turn, traces in self._turns.items()}

    def __iter__(self) -> Iterator[_Waiting]:
        """Every waiting trace."""
        return (waiting for traces in self._turns.values() for waiting in traces)

    def __len__(self) -> int:
        """How many traces wait."""
        return sum(map(len, self._turns.values()))


class TraceQueue:
    """A bounded queue for many threads; a trace is leased to a worker until it is `done`.

    Services take turns, so that one with many answers does not hold up the others; see
    `ServiceTurns` for those with names that nobody has seen before. Large traces are
    leased one at a time, to at most `large_at_once` workers: with one worker more, ordinary traces
    go on while large ones are judged.
    """

    def __init__(
        self,
        limit: int,
        *,
        on_done: Callable[[Sequence[AssembledTrace], Collection[str]], None] = lambda *_: None,
        large_at_once: int = 1,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`limit` is the number of traces that may wait; `clock` returns seconds.

        `on_done` is called in the workers' threads with the finished traces, and the ids of those
        left undecided.
        """
        self.limit = limit
        self._on_done = on_done
        self._large_at_once = large_at_once
        self._clock = clock
        self._service_turns = ServiceTurns()
        self._ordinary = _FairLine()
        self._large = _FairLine()
        self._blocked: dict[str, list[AssembledTrace]] = {}
        self._leased: set[str] = set()
        self._large_leased: set[str] = set()
        self._arrived = 0
        self._changed = threading.Condition()
        self._closed = False

    @property
    def room(self) -> int:
        """How many more traces may be put."""
        with self._changed:
            return max(self.limit - self._number_waiting, 0)

    def admission(self) -> Callable[[SpanRecord], bool]:
        """A check of which traces may be put now, by their first spans.

        Each trace that it admits counts for the next one.
        """
        with self._changed:
            waiting = Counter(self._ordinary.sizes) + Counter(self._large.sizes)

        def admits(first: SpanRecord) -> bool:
            with self._changed:
                turn = self._service_turns.turn_of(_service_of(first), self._clock())
            is_open = waiting.total() < self.limit // OPEN_SHARE
            is_admitted = is_open or waiting[turn] < max(self.limit // TURN_SHARE, 1)
            waiting[turn] += is_admitted
            return is_admitted

        return admits

    @property
    def oldest_s(self) -> float:
        """Seconds for which the oldest trace has waited for a worker; 0 if none waits."""
        with self._changed:
            first = [one.since for line in self._lines if (one := line.oldest)]
            return max(self._clock() - min(first), 0.0) if first else 0.0

    @property
    def pending(self) -> int:
        """How many traces wait or are leased."""
        with self._changed:
            blocked = sum(map(len, self._blocked.values()))
            return self._number_waiting + len(self._leased) + blocked

    @property
    def trace_ids(self) -> set[str]:
        """The ids of the traces that wait or are leased."""
        with self._changed:
            waiting = {one.trace.trace_id for one in (*self._ordinary, *self._large)}
            return waiting | self._leased

    def put(self, traces: Sequence[AssembledTrace]) -> None:
        """Add traces; callers ask for `room` before, and a few over the limit do no harm."""
        # Measured without the lock: it reads every attribute.
        sized = [(trace, is_large(trace)) for trace in traces]
        with self._changed:
            for trace, is_large_one in sized:
                self._arrived += 1
                waiting = self._large if is_large_one else self._ordinary
                waiting.append(self._waiting(trace, self._arrived))
            self._changed.notify_all()

    def lease(self, limit: int) -> list[AssembledTrace]:
        """Wait for traces and take at most `limit`; none once the queue is closed and empty.

        A trace that is leased to another worker is held back until that worker is done. A large
        trace is leased alone.
        """
        with self._changed:
            while True:
                leased = self._take_large() or self._take(limit)
                is_empty = not self._number_waiting and not self._blocked
                if leased or (self._closed and is_empty):
                    return leased
                self._changed.wait()

    def judged(self, traces: Sequence[AssembledTrace]) -> None:
        """Make room for other large traces: what is left of these leases is to store decisions."""
        with self._changed:
            self._large_leased.difference_update(trace.trace_id for trace in traces)
            self._changed.notify_all()

    def done(self, traces: Sequence[AssembledTrace], undecided: Collection[str] = ()) -> None:
        """End the lease of these traces; the ids in `undecided` have no decision yet."""
        # Before the lease ends: a withdrawn trace is fenced until then, and its next part must not
        # find it fenced.
        self._on_done(traces, undecided)
        with self._changed:
            for trace in traces:
                self._leased.discard(trace.trace_id)
                self._large_leased.discard(trace.trace_id)
                for part in self._blocked.pop(trace.trace_id, []):
                    waiting = self._large if is_large(part) else self._ordinary
                    waiting.appendleft(self._waiting(part, 0))
            self._changed.notify_all()

    def withdraw(self, keys: Collection[int]) -> frozenset[int]:
        """Remove waiting traces by `id(trace)`; returns those of the removed ones."""
        with self._changed:
            waiting = [one.trace for one in (*self._ordinary, *self._large)]
            groups = [waiting, *self._blocked.values()]
            gone = frozenset(id(trace) for group in groups for trace in group if id(trace) in keys)
            for line in self._lines:
                line.keep(lambda one: id(one.trace) not in gone)
            blocked = {
                trace_id: [trace for trace in traces if id(trace) not in gone]
                for trace_id, traces in self._blocked.items()
            }
            self._blocked = {trace_id: traces for trace_id, traces in blocked.items() if traces}
            self._changed.notify_all()
            return gone

    def close(self) -> None:
        """Let the workers finish the waiting traces, and then end."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def abandon(self) -> int:
        """Drop the waiting traces; returns how many were dropped or are still leased."""
        with self._changed:
            left = self._number_waiting + sum(map(len, self._blocked.values())) + len(self._leased)
            for line in self._lines:
                line.keep(lambda _: False)
            self._blocked.clear()
            self._changed.notify_all()
            return left

    def _waiting(self, trace: AssembledTrace, number: int) -> _Waiting:
        service, now = _service_of(trace.spans[0]) if trace.spans else "", self._clock()
        return _Waiting(trace, self._service_turns.turn_of(service, now), number, now)

    @property
    def _lines(self) -> tuple[_FairLine, _FairLine]:
        return self._ordinary, self._large

    @property
    def _number_waiting(self) -> int:
        return len(self._ordinary) + len(self._large)

    def _take_large(self) -> list[AssembledTrace]:
        """The first large trace, if it came before the ordinary ones and a worker is left for them.

        After `close` all workers may take one.
        """
        while self._large and (self._closed or len(self._large_leased) < self._large_at_once):
            first, first_large = self._ordinary.oldest, self._large.oldest
            if first and first_large and first.number < first_large.number:
                break
            trace = self._large.popleft().trace
            if self._lease(trace):
                self._large_leased.add(trace.trace_id)
                return [trace]
        return []

    def _take(self, limit: int) -> list[AssembledTrace]:
        leased: list[AssembledTrace] = []
        while self._ordinary and len(leased) < limit:
            trace = self._ordinary.popleft().trace
            if self._lease(trace):
                leased.append(trace)
        return leased

    def _lease(self, trace: AssembledTrace) -> bool:
        """False for late spans of a trace that a worker has; they are held back.

        Two workers would decide on the same answers.
        """
        if trace.trace_id in self._leased:
            self._blocked.setdefault(trace.trace_id, []).append(trace)
            return False
        self._leased.add(trace.trace_id)
        return True


def _service_of(span: SpanRecord) -> str:
    # The turns of tenants whose services have the same name are not the same.
    return stored_service(tenant_of(span.resource), str(span.resource.get(SERVICE_NAME, "")))


def is_large(trace: AssembledTrace) -> bool:
    """True for a trace that is leased alone."""
    size = 0
    for span in trace.spans:
        size += span_bytes(span)
        if size >= LARGE_BYTES:
            return True
    return False
