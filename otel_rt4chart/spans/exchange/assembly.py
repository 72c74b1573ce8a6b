"""Open traces: spans in as they come, whole traces out when they fell quiet; pure."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from otel_rt4chart.spans.model.record import AttributeValue, SpanRecord

# What a record weighs beside its attributes' text; only the order of magnitude matters.
SPAN_BYTES = 1000
VALUE_BYTES = 100
ROOT_KINDS = ("Server", "Consumer")


@dataclass(frozen=True, slots=True)
class Trace:
    """A closed trace; where it is not whole, the store may hold more of its spans."""

    trace_id: str
    spans: tuple[SpanRecord, ...]
    is_whole: bool


@dataclass(frozen=True, slots=True)
class Patience:
    """How long a trace stays open, in nanoseconds.

    `quiet` after its last span if its root has come, `orphan` if not, never longer than `longest`.
    """

    quiet: int
    orphan: int
    longest: int


@dataclass(slots=True)
class _Open:
    first_ns: int
    last_ns: int
    reopened: bool
    is_rooted: bool = False
    spans: dict[str, SpanRecord] = field(default_factory=dict)
    size: int = 0


class TraceBuffer:
    """Collects spans by trace; for one thread. Time comes in with each call, in nanoseconds.

    Over `max_bytes` the traces that waited longest are given up and counted: they are in the store
    and can be read from there.
    """

    def __init__(
        self,
        patience: Patience,
        *,
        max_bytes: int,
        remembered: int = 20_000,
        given_up: Callable[[Trace], None] | None = None,
    ) -> None:
        """`remembered` is the number of closed traces whose late spans are known as late.

        `given_up` is told of each trace that is given up for want of memory.
        """
        self._patience = patience
        self._max_bytes = max_bytes
        self._remembered = remembered
        self._given_up = given_up
        self._open: OrderedDict[str, _Open] = OrderedDict()
        self._closed: OrderedDict[str, None] = OrderedDict()
        self.size = 0
        self.evicted_traces = 0
        self.evicted_spans = 0

    def __len__(self) -> int:
        """The number of open traces."""
        return len(self._open)

    @property
    def open_ids(self) -> list[str]:
        """The ids of the open traces."""
        return list(self._open)

    def __contains__(self, trace_id: object) -> bool:
        """True while the trace with that id is open."""
        return trace_id in self._open

    @property
    def is_calm(self) -> bool:
        """True while less than half of the memory is taken: room for traces from the store."""
        return self.size < self._max_bytes // 2

    def add(self, spans: Iterable[SpanRecord], now_ns: int, *, is_root: bool = False) -> None:
        """Take spans in; one that is already there is replaced.

        `is_root` is for spans whose parent is known to be in another process.
        """
        for span in spans:
            trace = self._open.get(span.trace_id)
            if trace is None:
                trace = _Open(now_ns, now_ns, reopened=span.trace_id in self._closed)
                self._open[span.trace_id] = trace
            known = trace.spans.get(span.span_id)
            grown = size_of(span) - (size_of(known) if known else 0)
            trace.spans[span.span_id] = span
            trace.last_ns = now_ns
            trace.is_rooted = trace.is_rooted or is_root
            trace.size += grown
            self.size += grown
        self._evict()

    def close(self, now_ns: int, limit: int) -> list[Trace]:
        """At most `limit` of the traces that nothing more is expected of, the oldest first."""
        due = [
            trace_id
            for trace_id, trace in self._open.items()
            if now_ns >= trace.last_ns + self._wait(trace)
            or now_ns >= trace.first_ns + self._patience.longest
        ]
        return [self._take(trace_id) for trace_id in due[:limit]]

    def close_rooted(self) -> list[Trace]:
        """Every trace whose root has come, without waiting for quiet."""
        return [self._take(one) for one, trace in list(self._open.items()) if _has_root(trace)]

    def close_all(self) -> list[Trace]:
        """Every open trace, as it is."""
        return [self._take(trace_id) for trace_id in list(self._open)]

    def drop(self, trace_ids: Iterable[str]) -> None:
        """Forget these open traces, as if they had never come."""
        for trace_id in trace_ids:
            if (trace := self._open.pop(trace_id, None)) is not None:
                self.size -= trace.size

    def _wait(self, trace: _Open) -> int:
        return self._patience.quiet if _has_root(trace) else self._patience.orphan

    def _take(self, trace_id: str) -> Trace:
        trace = self._open.pop(trace_id)
        self.size -= trace.size
        self._closed[trace_id] = None
        self._closed.move_to_end(trace_id)
        if len(self._closed) > self._remembered:
            self._closed.popitem(last=False)
        is_whole = _has_root(trace) and not trace.reopened
        return Trace(trace_id, tuple(trace.spans.values()), is_whole)

    def _evict(self) -> None:
        while self.size > self._max_bytes:
            given_up = self._take(next(iter(self._open)))
            self.evicted_traces += 1
            self.evicted_spans += len(given_up.spans)
            if self._given_up is not None:
                self._given_up(given_up)


def size_of(span: SpanRecord) -> int:
    """About how many bytes a span takes in memory."""
    events = sum(VALUE_BYTES + _weight(event.attributes) for event in span.events)
    return SPAN_BYTES + _weight(span.attributes) + events


def _weight(value: AttributeValue) -> int:
    if isinstance(value, str):
        return VALUE_BYTES + len(value)
    if isinstance(value, Mapping):
        return sum(map(_weight, value.values())) + VALUE_BYTES * len(value)
    if isinstance(value, Sequence):
        return sum(map(_weight, value))
    return VALUE_BYTES


def _has_root(trace: _Open) -> bool:
    """True where a span has no parent, or is a server's whose parent is in another process."""
    return trace.is_rooted or any(
        not span.parent_span_id
        or (span.kind in ROOT_KINDS and span.parent_span_id not in trace.spans)
        for span in trace.spans.values()
    )
