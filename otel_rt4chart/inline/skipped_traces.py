"""Traces that are not read, because no answer of theirs would be verified."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.trace import format_trace_id

from otel_rt4chart.core import semconv
from otel_rt4chart.spans.exchange.assembly import SPAN_BYTES, TraceTimeouts, value_bytes
from otel_rt4chart.spans.exchange.route import explicit_route, route_from_names
from otel_rt4chart.spans.model.record import Attributes
from otel_rt4chart.spans.model.values import as_flag, as_text
from otel_rt4chart.spans.reading.rag_spans import is_rag_span
from otel_rt4chart.spans.reading.sdk import is_local_root, peek_attributes

MAX_BYTES = 32 * 2**20
MAX_CLOSED = 4_096

IsSkipped = Callable[[str], bool]


@dataclass(slots=True)
class SkippedTrace:
    """An open trace that is not read; its spans are kept for the route, and in case of a force."""

    trace_id: int
    first_ns: int
    last_ns: int = 0
    is_rooted: bool = False
    is_rag: bool = False
    spans: list[ReadableSpan] = field(default_factory=list)
    size: int = 0

    def own_route(self) -> str:
        """The route that a span names for us; empty if none does."""
        return next(filter(None, map(_own_route, self.spans)), "")

    def route(self) -> str:
        """The most explicit name, as on the spans of an answer that is read."""
        ordered = sorted(self.spans, key=is_local_root, reverse=True)
        attributes = [peek_attributes(span) for span in ordered]
        service = as_text(ordered[0].resource.attributes.get(semconv.SERVICE_NAME))
        named = explicit_route(attributes, attributes[:1])
        return named or route_from_names([ordered[0].name], service)


class SkippedTraces:
    """Holds the spans of traces that need not be read; for one thread.

    It is decided at the first span of a trace whether it is skipped. A span that forces the
    verification ends that: all spans of its trace are then read.
    """

    def __init__(
        self, is_skipped: IsSkipped, timeouts: TraceTimeouts, max_bytes: int = MAX_BYTES
    ) -> None:
        """`is_skipped` receives the id of a trace: True if nothing of it would be verified.

        Above about `max_bytes` of texts, the oldest traces are closed early, which loses nothing
        but the effect of a later force.
        """
        self._is_skipped = is_skipped
        self._timeouts = timeouts
        self._max_bytes = max_bytes
        self._open: OrderedDict[int, SkippedTrace] = OrderedDict()
        self._evicted: list[SkippedTrace] = []
        # A span that comes after its trace was counted does not count it again.
        self._closed: OrderedDict[int, None] = OrderedDict()
        self.size = 0

    def take(
        self, span: ReadableSpan, now_ns: int, is_being_read: Callable[[str], bool]
    ) -> Sequence[ReadableSpan]:
        """The spans to read now: none while the trace is skipped, all that are held on a force.

        `is_being_read` says of a trace's id whether other spans of it are being read.
        """
        context = span.get_span_context()
        if context is None:
            return [span]
        trace_id = context.trace_id
        trace = self._open.get(trace_id)
        attributes = peek_attributes(span)
        if semconv.FORCE in attributes and as_flag(attributes[semconv.FORCE]) is True:
            return [*self._drop(trace), span] if trace is not None else [span]
        if trace is None:
            name = format_trace_id(trace_id)
            if is_being_read(name) or not self._is_skipped(name):
                return [span]
            trace = self._open[trace_id] = SkippedTrace(trace_id, now_ns)
        self._hold(trace, span, attributes, now_ns)
        return ()

    def _hold(
        self, trace: SkippedTrace, span: ReadableSpan, attributes: Attributes, now_ns: int
    ) -> None:
        trace.spans.append(span)
        trace.last_ns = now_ns
        trace.is_rooted = trace.is_rooted or is_local_root(span)
        trace.is_rag = trace.is_rag or is_rag_span(span.name, attributes)
        grown = SPAN_BYTES + sum(map(value_bytes, attributes.values()))
        for event in span.events:
            found: Attributes = dict(event.attributes or {})  # type: ignore[arg-type] # also bytes
            grown += value_bytes(found)
        trace.size += grown
        self.size += grown
        while self.size > self._max_bytes:
            self._evicted += self._close(next(iter(self._open.values())))

    def close(self, now_ns: int) -> list[SkippedTrace]:
        """The traces whose timeouts have passed and that may have an answer, the oldest first."""
        return self._close_all(
            trace
            for trace in self._open.values()
            if now_ns >= trace.last_ns + self._wait(trace)
            or now_ns >= trace.first_ns + self._timeouts.max_ns
        )

    def close_rooted(self) -> list[SkippedTrace]:
        """The same for every trace whose local root has ended."""
        return self._close_all(trace for trace in self._open.values() if trace.is_rooted)

    def close_all(self) -> list[SkippedTrace]:
        """The same for every open trace, complete or not."""
        return self._close_all(self._open.values())

    def _wait(self, trace: SkippedTrace) -> int:
        return self._timeouts.quiet_ns if trace.is_rooted else self._timeouts.orphan_ns

    def _close_all(self, traces: Iterable[SkippedTrace]) -> list[SkippedTrace]:
        evicted, self._evicted = self._evicted, []
        return evicted + [closed for trace in list(traces) for closed in self._close(trace)]

    def _close(self, trace: SkippedTrace) -> list[SkippedTrace]:
        """The trace, if it may have an answer and was not closed before."""
        self._drop(trace)
        is_counted = trace.is_rag and trace.trace_id not in self._closed
        if is_counted:
            self._closed[trace.trace_id] = None
            if len(self._closed) > MAX_CLOSED:
                self._closed.popitem(last=False)
        return [trace] if is_counted else []

    def _drop(self, trace: SkippedTrace) -> list[ReadableSpan]:
        del self._open[trace.trace_id]
        self.size -= trace.size
        return trace.spans


def _own_route(span: ReadableSpan) -> str:
    return as_text(peek_attributes(span).get(semconv.ROUTE))
