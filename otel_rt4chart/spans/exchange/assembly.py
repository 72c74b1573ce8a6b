"""Assembles spans into traces. Pure: the time is an argument."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice

from otel_rt4chart.spans.model.record import AttributeValue, SpanRecord

# Memory of a record beside the text of its attributes; only the order of magnitude matters.
SPAN_BYTES = 1000
VALUE_BYTES = 100
ROOT_KINDS = ("Server", "Consumer")


@dataclass(frozen=True, slots=True)
class AssembledTrace:
    """A closed trace; if it is not whole, the store may hold more of its spans."""

    trace_id: str
    spans: tuple[SpanRecord, ...]
    is_whole: bool


@dataclass(frozen=True, slots=True)
class TraceTimeouts:
    """How long a trace stays open.

    `quiet_ns` after its last span if its root has arrived, `orphan_ns` if not, and at most `max_ns`
    after its first span.
    """

    quiet_ns: int
    orphan_ns: int
    max_ns: int


@dataclass(slots=True)
class _OpenTrace:
    first_ns: int
    last_ns: int
    reopened: bool
    is_rooted: bool = False
    spans: dict[str, SpanRecord] = field(default_factory=dict)
    size: int = 0


class TraceBuffer:
    """Collects spans by trace. For one thread; the time in nanoseconds is an argument.

    Above `max_bytes` the oldest traces are evicted and counted. They are in the store and can be
    read from there.
    """

    def __init__(
        self,
        timeouts: TraceTimeouts,
        *,
        max_bytes: int,
        remembered_ids: int = 20_000,
        on_evict: Callable[[AssembledTrace], None] | None = None,
    ) -> None:
        """`remembered_ids` closed traces are remembered, to recognise their late spans.

        `on_evict` receives each trace that is evicted for lack of memory.
        """
        self._timeouts = timeouts
        self._max_bytes = max_bytes
        self._remembered_ids = remembered_ids
        self._on_evict = on_evict
        self._open: OrderedDict[str, _OpenTrace] = OrderedDict()
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
    def has_room(self) -> bool:
        """True while less than half of the memory is used: traces may be read from the store.

        The other half is reserved for live spans, which cannot wait.
        """
        return self.size < self._max_bytes // 2

    def add(self, spans: Iterable[SpanRecord], now_ns: int, *, is_root: bool = False) -> None:
        """Add spans; a span with a known id replaces the earlier one.

        Verdicts are passed over: they come after their trace has been read, and must not keep it
        open or open it again. `is_root` is for spans whose parent is in another process.
        """
        for span in spans:
            if span.is_verdict:
                continue
            trace = self._open.get(span.trace_id)
            if trace is None:
                trace = _OpenTrace(now_ns, now_ns, reopened=span.trace_id in self._closed)
                self._open[span.trace_id] = trace
            known = trace.spans.get(span.span_id)
            grown = span_bytes(span) - (span_bytes(known) if known else 0)
            trace.spans[span.span_id] = span
            trace.last_ns = now_ns
            trace.is_rooted = trace.is_rooted or is_root
            trace.size += grown
            self.size += grown
        self._evict()

    def close(
        self, now_ns: int, limit: int, admits: Callable[[SpanRecord], bool] | None = None
    ) -> list[AssembledTrace]:
        """At most `limit` of the traces whose timeouts have passed, the oldest first.

        Those whose first span `admits` refuses stay open.
        """
        due = [
            trace_id
            for trace_id, trace in self._open.items()
            if now_ns >= trace.last_ns + self._wait(trace)
            or now_ns >= trace.first_ns + self._timeouts.max_ns
        ]
        if admits is None:
            return [self._take(trace_id) for trace_id in due[:limit]]
        admitted = (
            trace_id for trace_id in due if admits(next(iter(self._open[trace_id].spans.values())))
        )
        return [self._take(trace_id) for trace_id in list(islice(admitted, limit))]

    def close_rooted(self) -> list[AssembledTrace]:
        """Every trace whose root has arrived, without waiting for late spans."""
        return [
            self._take(trace_id) for trace_id, trace in list(self._open.items()) if _has_root(trace)
        ]

    def close_all(self) -> list[AssembledTrace]:
        """Every open trace, complete or not."""
        return [self._take(trace_id) for trace_id in list(self._open)]

    def drop(self, trace_ids: Iterable[str]) -> None:
        """Forget these open traces without remembering their ids."""
        for trace_id in trace_ids:
            if (trace := self._open.pop(trace_id, None)) is not None:
                self.size -= trace.size

    def _wait(self, trace: _OpenTrace) -> int:
        return self._timeouts.quiet_ns if _has_root(trace) else self._timeouts.orphan_ns

    def _take(self, trace_id: str) -> AssembledTrace:
        trace = self._open.pop(trace_id)
        self.size -= trace.size
        # Remembered, because a late span opens the trace again: it is then not whole, and the
        # worker reads the earlier spans from the store.
        self._closed[trace_id] = None
        self._closed.move_to_end(trace_id)
        if len(self._closed) > self._remembered_ids:
            self._closed.popitem(last=False)
        is_whole = _has_root(trace) and not trace.reopened
        return AssembledTrace(trace_id, tuple(trace.spans.values()), is_whole)

    def _evict(self) -> None:
        while self.size > self._max_bytes:
            evicted = self._take(next(iter(self._open)))
            self.evicted_traces += 1
            self.evicted_spans += len(evicted.spans)
            if self._on_evict is not None:
                self._on_evict(evicted)


def span_bytes(span: SpanRecord) -> int:
    """The approximate memory of a span in bytes."""
    events = sum(VALUE_BYTES + value_bytes(event.attributes) for event in span.events)
    return SPAN_BYTES + value_bytes(span.attributes) + events


def value_bytes(value: AttributeValue) -> int:
    """The same of one value."""
    if isinstance(value, str):
        return VALUE_BYTES + len(value)
    if isinstance(value, Mapping):
        return sum(map(value_bytes, value.values())) + VALUE_BYTES * len(value)
    if isinstance(value, Sequence):
        return sum(map(value_bytes, value))
    return VALUE_BYTES


def _has_root(trace: _OpenTrace) -> bool:
    """True if a span has no parent, or is a server span whose parent is not in the trace."""
    return trace.is_rooted or any(
        not span.parent_span_id
        # Its parent is a browser or a gateway that reports elsewhere, or not at all.
        or (span.kind in ROOT_KINDS and span.parent_span_id not in trace.spans)
        for span in trace.spans.values()
    )
