"""The queue of closed traces: bounded, and a trace is never with two workers at once."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Collection, Sequence

from otel_rt4chart.spans.exchange.assembly import AssembledTrace


class TraceQueue:
    """A bounded queue for many threads; a trace is leased to a worker until it is `done`."""

    def __init__(
        self,
        limit: int,
        *,
        on_done: Callable[[Sequence[AssembledTrace], Collection[str]], None] = lambda *_: None,
    ) -> None:
        """`limit` is the number of traces that may wait.

        `on_done` is called in the workers' threads with the finished traces, and the ids of those
        left undecided.
        """
        self.limit = limit
        self._on_done = on_done
        self._waiting: deque[AssembledTrace] = deque()
        self._blocked: dict[str, list[AssembledTrace]] = {}
        self._leased: set[str] = set()
        self._changed = threading.Condition()
        self._closed = False

    @property
    def room(self) -> int:
        """How many more traces may be put."""
        with self._changed:
            return max(self.limit - len(self._waiting), 0)

    @property
    def pending(self) -> int:
        """How many traces wait or are leased."""
        with self._changed:
            return len(self._waiting) + len(self._leased) + sum(map(len, self._blocked.values()))

    @property
    def trace_ids(self) -> set[str]:
        """The ids of the traces that wait or are leased."""
        with self._changed:
            return {trace.trace_id for trace in self._waiting} | self._leased

    def put(self, traces: Sequence[AssembledTrace]) -> None:
        """Add traces; callers ask for `room` before, and a few over the limit do no harm."""
        with self._changed:
            self._waiting.extend(traces)
            self._changed.notify_all()

    def lease(self, limit: int) -> list[AssembledTrace]:
        """Wait for traces and take at most `limit`; none once the queue is closed and empty.

        A trace that is leased to another worker is held back until that worker is done.
        """
        with self._changed:
            while True:
                self._changed.wait_for(lambda: self._waiting or self._closed)
                leased = self._take(limit)
                if leased or (self._closed and not self._waiting and not self._blocked):
                    return leased
                # Closed, but a trace still waits for its other part to be done.
                if self._closed and not self._waiting:
                    self._changed.wait()

    def done(self, traces: Sequence[AssembledTrace], undecided: Collection[str] = ()) -> None:
        """End the lease of these traces; the ids in `undecided` have no decision yet."""
        # Before the lease ends: a withdrawn trace is fenced until then, and its next part must not
        # find it fenced.
        self._on_done(traces, undecided)
        with self._changed:
            for trace in traces:
                self._leased.discard(trace.trace_id)
                self._waiting.extendleft(self._blocked.pop(trace.trace_id, []))
            self._changed.notify_all()

    def withdraw(self, keys: Collection[int]) -> frozenset[int]:
        """Remove waiting traces by `id(trace)`; returns those of the removed ones."""
        with self._changed:
            groups = [self._waiting, *self._blocked.values()]
            gone = frozenset(id(trace) for group in groups for trace in group if id(trace) in keys)
            self._waiting = deque(trace for trace in self._waiting if id(trace) not in gone)
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
            left = len(self._waiting) + sum(map(len, self._blocked.values())) + len(self._leased)
            self._waiting.clear()
            self._blocked.clear()
            self._changed.notify_all()
            return left

    def _take(self, limit: int) -> list[AssembledTrace]:
        leased: list[AssembledTrace] = []
        while self._waiting and len(leased) < limit:
            trace = self._waiting.popleft()
            # Late spans of a trace that a worker has: two workers would decide on the same answers.
            if trace.trace_id in self._leased:
                self._blocked.setdefault(trace.trace_id, []).append(trace)
            else:
                self._leased.add(trace.trace_id)
                leased.append(trace)
        return leased
