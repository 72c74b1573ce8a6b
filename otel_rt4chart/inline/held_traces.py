"""Holds traces of which no answer would be verified, so that few of them are read."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from enum import Enum, auto

from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.trace import SpanKind, format_trace_id

from otel_rt4chart.core import semconv
from otel_rt4chart.spans.exchange.assembly import (
    SPAN_BYTES,
    VALUE_BYTES,
    TraceTimeouts,
    value_bytes,
)
from otel_rt4chart.spans.exchange.route import explicit_route, route_from_names
from otel_rt4chart.spans.model.record import Attributes
from otel_rt4chart.spans.model.values import as_flag, as_text
from otel_rt4chart.spans.reading.rag_spans import is_rag_span
from otel_rt4chart.spans.reading.sdk import has_events, is_local_root, peek_attributes

MAX_BYTES = 32 * 2**20
MAX_CLOSED = 4_096
ROOT_KINDS = (SpanKind.SERVER, SpanKind.CONSUMER)


class Need(Enum):
    """What the answers of a trace are read for, as far as its id tells."""

    NOTHING = auto()
    """They are counted and nothing else."""
    CITATIONS = auto()
    """Their citations are checked and nothing else."""
    VERDICT = auto()
    """They may be verified, or the application asks for each of them."""


NeedOf = Callable[[str], Need]
HasMessages = Callable[[ReadableSpan], bool]


def has_no_messages(span: ReadableSpan) -> bool:
    """No messages are stored."""
    return False


@dataclass(slots=True)
class HeldTrace:
    """An open trace that is not read yet; its spans are kept for that, and for the route.

    `name` is its id as text.
    """

    trace_id: int
    name: str
    need: Need
    first_ns: int
    last_ns: int = 0
    is_rooted: bool = False
    is_rag: bool = False
    spans: list[ReadableSpan] = field(default_factory=list)
    size: int = 0

    def own_route(self) -> str:
        """The route that a span names for us; empty if none does."""
        return next(filter(None, map(_own_route, self.spans)), "")

    def names_route(self, route: str) -> bool:
        """True if a span names this route for us."""
        return bool(route) and route in map(_own_route, self.spans)

    def route(self) -> str:
        """The most explicit name, as on the spans of an answer that is read."""
        ordered = sorted(self.spans, key=is_local_root, reverse=True)
        attributes = [peek_attributes(span) for span in ordered]
        service = as_text(ordered[0].resource.attributes.get(semconv.SERVICE_NAME))
        named = explicit_route(attributes, attributes[:1])
        return named or route_from_names([ordered[0].name], service)


class HeldTraces:
    """Holds the spans of traces that perhaps need not be read; for one thread.

    It is decided at the first span of a trace whether it is held. A span that forces the
    verification ends that: all spans of its trace are then read.
    """

    def __init__(
        self,
        need_of: NeedOf,
        timeouts: TraceTimeouts,
        *,
        has_messages: HasMessages = has_no_messages,
        max_bytes: int = MAX_BYTES,
    ) -> None:
        """`need_of` receives the id of a trace, `has_messages` a span: True if some are stored.

        Above about `max_bytes` of texts, the oldest traces are given up. Of those whose citations
        are checked the spans are then read; others are counted early, which loses nothing but the
        effect of a later force.
        """
        self._need_of = need_of
        self._timeouts = timeouts
        self._has_messages = has_messages
        self._max_bytes = max_bytes
        self._open: OrderedDict[int, HeldTrace] = OrderedDict()
        self._evicted: list[HeldTrace] = []
        # A span that comes after its trace was counted does not count it again.
        self._closed: OrderedDict[int, None] = OrderedDict()
        self.size = 0

    def take(
        self, span: ReadableSpan, now_ns: int, is_being_read: Callable[[str], bool]
    ) -> Sequence[ReadableSpan]:
        """The spans to read now: none while the trace is held, all that are held on a force.

        `is_being_read` says of a trace's id whether other spans of it are being read.
        """
        context = span.get_span_context()
        if context is None:
            return [span]
        trace_id = context.trace_id
        trace = self._open.get(trace_id)
        attributes = peek_attributes(span)
        if semconv.FORCE in attributes and as_flag(attributes[semconv.FORCE]) is True:
            return self._drop_and(trace, span)
        if trace is None:
            name = format_trace_id(trace_id)
            need = Need.VERDICT if is_being_read(name) else self._need_of(name)
            if need is Need.VERDICT:
                return [span]
            trace = HeldTrace(trace_id, name, need, now_ns)
        # Such a span is read at once: its messages are kept for few, and its trace may end with it.
        if trace.need is Need.CITATIONS and (self._has_messages(span) or _is_inner_root(span)):
            return self._drop_and(trace, span)
        self._open[trace_id] = trace
        self._hold(trace, span, attributes, now_ns)
        return self._give_up() if self.size > self._max_bytes else ()

    def _hold(
        self, trace: HeldTrace, span: ReadableSpan, attributes: Attributes, now_ns: int
    ) -> None:
        trace.spans.append(span)
        trace.last_ns = now_ns
        trace.is_rooted = trace.is_rooted or is_local_root(span)
        if trace.need is Need.NOTHING:
            trace.is_rag = trace.is_rag or is_rag_span(span.name, attributes)
        grown = SPAN_BYTES + VALUE_BYTES * len(attributes)
        for value in attributes.values():
            # What most values are, without a call.
            grown += len(value) if type(value) is str else value_bytes(value)
        for event in span.events if has_events(span) else ():
            found: Attributes = dict(event.attributes or {})  # type: ignore[arg-type] # also bytes
            grown += value_bytes(found)
        trace.size += grown
        self.size += grown

    def _give_up(self) -> Sequence[ReadableSpan]:
        """Close the oldest traces; the spans of those that are to be read."""
        to_read: list[ReadableSpan] = []
        while self.size > self._max_bytes:
            oldest = next(iter(self._open.values()))
            if oldest.need is Need.CITATIONS:
                to_read += self._drop(oldest)
            else:
                self._evicted += self._close(oldest)
        return to_read

    def need_of(self, trace: HeldTrace) -> Need:
        """What it is now: the rates may have changed since the trace began."""
        return self._need_of(trace.name)

    def close(self, now_ns: int) -> list[HeldTrace]:
        """The traces whose timeouts have passed, the oldest first."""
        return self._close_all(
            trace
            for trace in self._open.values()
            if now_ns >= trace.last_ns + self._wait(trace)
            or now_ns >= trace.first_ns + self._timeouts.max_ns
        )

    def close_rooted(self) -> list[HeldTrace]:
        """The same for every trace whose local root has ended."""
        return self._close_all(trace for trace in self._open.values() if trace.is_rooted)

    def close_all(self) -> list[HeldTrace]:
        """The same for every open trace, complete or not."""
        return self._close_all(self._open.values())

    def _wait(self, trace: HeldTrace) -> int:
        return self._timeouts.quiet_ns if trace.is_rooted else self._timeouts.orphan_ns

    def _close_all(self, traces: Iterable[HeldTrace]) -> list[HeldTrace]:
        evicted, self._evicted = self._evicted, []
        return evicted + [closed for trace in list(traces) for closed in self._close(trace)]

    def _close(self, trace: HeldTrace) -> list[HeldTrace]:
        """The trace, unless nothing of it can be an answer or it was counted before."""
        self._drop(trace)
        if trace.need is Need.CITATIONS:
            return [trace]
        is_counted = trace.is_rag and trace.trace_id not in self._closed
        if is_counted:
            self._closed[trace.trace_id] = None
            if len(self._closed) > MAX_CLOSED:
                self._closed.popitem(last=False)
        return [trace] if is_counted else []

    def _drop(self, trace: HeldTrace) -> list[ReadableSpan]:
        self._open.pop(trace.trace_id, None)
        self.size -= trace.size
        return trace.spans

    def _drop_and(self, trace: HeldTrace | None, span: ReadableSpan) -> Sequence[ReadableSpan]:
        return [*(self._drop(trace) if trace is not None else ()), span]


def _is_inner_root(span: ReadableSpan) -> bool:
    """True for a server span below another: a trace may be complete without the upper one."""
    return span.kind in ROOT_KINDS and not is_local_root(span)


def _own_route(span: ReadableSpan) -> str:
    return as_text(peek_attributes(span).get(semconv.ROUTE))
