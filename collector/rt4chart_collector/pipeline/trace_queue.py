"""Closed traces that wait for a worker: bounded, and never one trace with two workers."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Collection, Sequence

from otel_rt4chart.spans.exchange.assembly import AssembledTrace


class TraceQueue:
    """A bounded queue for many threads; what is leased is in hand until it is `done`."""

    def __init__(
        self,
        limit: int,
        *,
        told: Callable[[Sequence[AssembledTrace], Collection[str]], None] = lambda traces, left: (
            None
        ),
    ) -> None:
        """`limit` is the number of traces that may wait.

        `told` hears, in the workers' threads, of traces that are dealt with, and which of them (by
        id) were left undecided.
        """
        self.limit = limit
        self._told = told
        self._waiting: deque[AssembledTrace] = deque()
        self._held: dict[str, list[AssembledTrace]] = {}
        self._leased: set[str] = set()
        self._changed = threading.Condition()
        self._closed = False

    @property
    def room(self) -> int:
        """How many more traces may come."""
        with self._changed:
            return max(self.limit - len(self._waiting), 0)

    @property
    def pending(self) -> int:
        """How many traces wait or are in hand."""
        with self._changed:
            return len(self._waiting) + len(self._leased) + sum(map(len, self._held.values()))

    @property
    def trace_ids(self) -> set[str]:
        """Those of the traces that wait or are in hand."""
        with self._changed:
            return {trace.trace_id for trace in self._waiting} | self._leased

    def put(self, traces: Sequence[AssembledTrace]) -> None:
        """Add traces; the caller asks for `room` before, a few over the limit do no harm."""
        with self._changed:
            self._waiting.extend(traces)
            self._changed.notify_all()

    def lease(self, limit: int) -> list[AssembledTrace]:
        """Wait for traces and take at most `limit`; none once the queue is closed and empty.

        A trace that another worker has in hand is held back until that one is done.
        """
        with self._changed:
            while True:
                self._changed.wait_for(lambda: self._waiting or self._closed)
                leased = self._take(limit)
                if leased or (self._closed and not self._waiting and not self._held):
                    return leased
                if self._closed and not self._waiting:
                    self._changed.wait()

    def done(self, traces: Sequence[AssembledTrace], left: Collection[str] = ()) -> None:
        """Give leased traces back as dealt with, but those `left` undecided."""
        self._told(traces, left)
        with self._changed:
            for trace in traces:
                self._leased.discard(trace.trace_id)
                self._waiting.extendleft(self._held.pop(trace.trace_id, []))
            self._changed.notify_all()

    def withdraw(self, keys: Collection[int]) -> frozenset[int]:
        """Drop the traces with these ids (`id(trace)`) that wait; the ids of those that did."""
        with self._changed:
            places = [self._waiting, *self._held.values()]
            gone = frozenset(id(one) for place in places for one in place if id(one) in keys)
            self._waiting = deque(one for one in self._waiting if id(one) not in gone)
            held = {
                trace_id: [one for one in traces if id(one) not in gone]
                for trace_id, traces in self._held.items()
            }
            self._held = {trace_id: traces for trace_id, traces in held.items() if traces}
            self._changed.notify_all()
            return gone

    def close(self) -> None:
        """Let the workers finish what waits, and then go."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def abandon(self) -> int:
        """Drop what waits; the number of traces that were dropped or are still in hand."""
        with self._changed:
            left = len(self._waiting) + sum(map(len, self._held.values())) + len(self._leased)
            self._waiting.clear()
            self._held.clear()
            self._changed.notify_all()
            return left

    def _take(self, limit: int) -> list[AssembledTrace]:
        leased: list[AssembledTrace] = []
        while self._waiting and len(leased) < limit:
            trace = self._waiting.popleft()
            if trace.trace_id in self._leased:
                self._held.setdefault(trace.trace_id, []).append(trace)
            else:
                self._leased.add(trace.trace_id)
                leased.append(trace)
        return leased
