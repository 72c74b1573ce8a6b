"""The Kafka messages of each trace, from its first span until its decision is stored."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from otel_rt4chart.spans.exchange.assembly import AssembledTrace, span_bytes
from rt4chart_collector.ingest.kafka.offset_tracker import MessageId, OffsetTracker
from rt4chart_collector.pipeline.trace_queue import TraceQueue
from rt4chart_collector.store.engine.columns import TraceShare


@dataclass(frozen=True, slots=True)
class LeasedTrace:
    """A closed trace, the messages of its spans and its approximate size in bytes.

    A trace without messages was read from the store.
    """

    trace: AssembledTrace
    messages: frozenset[MessageId]
    size: int


class InFlight:
    """The traces between a stream and its workers, and the queue between the two.

    The workers report to it; all other methods are for the stream's thread. A trace that is
    withdrawn while a worker has it is fenced: `is_owned` is False until that worker is done, so
    that it stores nothing for a partition that another member has taken over.
    """

    def __init__(self, limit: int, *, large_at_once: int = 1) -> None:
        """`limit` is the number of traces that may wait, `large_at_once` that of `TraceQueue`."""
        self.queue = TraceQueue(limit, on_done=self._report, large_at_once=large_at_once)
        self._lock = threading.Lock()
        # The messages of traces that are still open; only the stream's thread touches them.
        self._open: defaultdict[str, set[MessageId]] = defaultdict(set)
        # By identity: two leased traces with one id may be equal.
        self._leased: dict[int, LeasedTrace] = {}
        self._reported: list[tuple[LeasedTrace, bool]] = []
        self._fenced: dict[str, int] = {}
        self.size = 0

    def __len__(self) -> int:
        """The number of traces handed over whose result the stream has not read."""
        return len(self._leased) + len(self._reported)

    def is_owned(self, trace_id: str) -> bool:
        """False for a trace that was withdrawn; for the workers."""
        return trace_id not in self._fenced

    def note(self, trace_id: str, message: MessageId) -> None:
        """Record that an open trace has spans of this message."""
        self._open[trace_id].add(message)

    def messages_of(self, trace_id: str) -> Collection[MessageId]:
        """The messages of an open trace; none if all of it was read from the store."""
        return self._open.get(trace_id, ())

    def forget(self, trace_ids: Collection[str]) -> None:
        """Forget the messages of these open traces."""
        for trace_id in trace_ids:
            self._open.pop(trace_id, None)

    def hand_over(self, traces: Sequence[AssembledTrace]) -> None:
        """Queue closed traces for the workers, with the messages noted for them."""
        for trace in traces:
            messages = frozenset(self._open.pop(trace.trace_id, ()))
            self.put(LeasedTrace(trace, messages, sum(map(span_bytes, trace.spans))))

    def put(self, leased: LeasedTrace) -> None:
        """Queue one trace, for the first time or again."""
        with self._lock:
            self._leased[id(leased.trace)] = leased
            self.size += leased.size
        self.queue.put([leased.trace])

    def take_results(self) -> Sequence[tuple[LeasedTrace, bool]]:
        """The traces reported since the last call; True for those left undecided."""
        with self._lock:
            reported, self._reported = self._reported, []
            self.size -= sum(leased.size for leased, _ in reported)
        return reported

    def contains(self, is_match: Callable[[LeasedTrace], bool]) -> bool:
        """True if a worker still has to report a matching trace."""
        return bool(self._matching(is_match))

    def withdraw_waiting(self, is_match: Callable[[LeasedTrace], bool]) -> None:
        """Withdraw matching traces that no worker has taken."""
        waiting = self.queue.withdraw(self._matching(is_match))
        self._remove(waiting, waiting)

    def withdraw(self, is_match: Callable[[LeasedTrace], bool]) -> None:
        """Withdraw all matching traces, and fence those that a worker has."""
        keys = self._matching(is_match)
        self._remove(keys, self.queue.withdraw(keys))

    def _matching(self, is_match: Callable[[LeasedTrace], bool]) -> frozenset[int]:
        with self._lock:
            return frozenset(key for key, leased in self._leased.items() if is_match(leased))

    def _remove(self, keys: frozenset[int], waiting: frozenset[int]) -> None:
        with self._lock:
            for key in keys & self._leased.keys():
                leased = self._leased.pop(key)
                self.size -= leased.size
                if key not in waiting:
                    self._fenced[leased.trace.trace_id] = key

    def _report(self, traces: Sequence[AssembledTrace], undecided: Collection[str]) -> None:
        """Record that a worker is done with these traces; runs in the worker's thread."""
        with self._lock:
            for trace in traces:
                if self._fenced.get(trace.trace_id) == id(trace):
                    del self._fenced[trace.trace_id]
                leased = self._leased.pop(id(trace), None)
                if leased is not None:
                    self._reported.append((leased, trace.trace_id in undecided))


class PartitionFilter:
    """Matches traces whose live messages are all of the given partitions.

    A trace without messages was read from the store, and matches by the hash of its id.
    """

    def __init__(
        self, partitions: frozenset[int], share: TraceShare, offsets: OffsetTracker
    ) -> None:
        """`share` is this member's; `offsets` knows which messages are live."""
        self._partitions = partitions
        self._share = share
        self._offsets = offsets

    def __call__(self, leased: LeasedTrace) -> bool:
        """Whether a leased trace matches."""
        return self.matches(leased.trace.trace_id, leased.messages)

    def matches(self, trace_id: str, messages: Collection[MessageId]) -> bool:
        """Whether the trace with these messages matches."""
        if not messages:
            return self._share.number_of(trace_id) in self._partitions
        live = [message for message in messages if self._offsets.is_live(message)]
        return all(message.partition in self._partitions for message in live)
