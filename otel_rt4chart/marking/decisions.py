"""Decides which traces are sampled, when the local root of a trace is exported."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from threading import Lock, local
from typing import Generic, NamedTuple, TypeVar

from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.trace import format_trace_id

from otel_rt4chart.core import semconv
from otel_rt4chart.core.forks import after_fork
from otel_rt4chart.core.guard import guard
from otel_rt4chart.marking.span_copies import copy_with_attributes
from otel_rt4chart.sampling import Sampler, Signals, signals_of
from otel_rt4chart.spans.conventions.registry import KIND_ATTRIBUTES
from otel_rt4chart.spans.exchange.route import explicit_route, route_from_names
from otel_rt4chart.spans.model.span_view import OperationKind
from otel_rt4chart.spans.model.values import as_flag, as_text
from otel_rt4chart.spans.reading.rag_spans import RAG_KINDS, looks_like_rag
from otel_rt4chart.spans.reading.reader import kind_from_attributes, read_span
from otel_rt4chart.spans.reading.sdk import (
    RouteCallable,
    checked_route,
    is_local_root,
    is_verdict_span,
    peek_attributes,
    record_from_readable,
)

# Attributes that an application sets for us, and in addition those that name the kind of a span.
APPLICATION_KEYS = frozenset({semconv.ROUTE, semconv.FORCE})
RELEVANT_KEYS = APPLICATION_KEYS | {attribute for _, attribute, _ in KIND_ATTRIBUTES}


Marks = Mapping[str, str | bool | float]
MAX_TRACES = 4_096
V = TypeVar("V")


class TraceDecisions:
    """Collects signals of each trace, decides at its local root, and marks copies of spans.

    Marked are the local root and the generations that are exported with it or later: before, there
    is no decision. If the trace has no generation, no retrieval and no `force`, only the rate is
    written, and no limit is used.

    Several exporters may share one object; its table is bounded. The lock is held only while the
    table changes, never while spans are read, the application's callable runs or a line is logged.
    Spans that these create on the same thread pass unmarked: marking them would recurse.
    """

    def __init__(self, sampler: Sampler, route: RouteCallable | None) -> None:
        """`route` returns the route for spans of a trace, local root first."""
        self._sampler = sampler
        self._route = route
        self._traces: RecentTraces[_TraceState] = RecentTraces(MAX_TRACES)
        self._lock = Lock()
        self._thread_state = local()
        after_fork(self._renew)

    def _renew(self) -> None:
        self._lock = Lock()

    def mark(self, spans: Sequence[ReadableSpan]) -> list[ReadableSpan]:
        """The spans in order, marked if their trace has a decision."""
        if getattr(self._thread_state, "is_on", False):
            return list(spans)
        self._thread_state.is_on = True
        try:
            return self._mark_batch(spans)
        finally:
            self._thread_state.is_on = False

    def _mark_batch(self, spans: Sequence[ReadableSpan]) -> list[ReadableSpan]:
        # Texts are read only for risk rules: this runs in the export path of the application.
        reads_text = bool(self._sampler.policy.risks)
        traces = [_trace_id(span) for span in spans]
        generations, roots = [], []
        # The signals of the whole batch first: a decision at a root must know all of them.
        for index, (span, trace) in enumerate(zip(spans, traces, strict=True)):
            if is_local_root(span):
                roots.append(index)
            if is_verdict_span(span):
                continue
            if self._gather(span, trace, reads_text=reads_text) is OperationKind.LLM:
                generations.append(index)
        for index in roots:
            self._decide(spans[index], traces[index], spans)
        for index in generations:
            self._decide_late(traces[index])
        marked = list(spans)
        for index in {*generations, *roots}:
            marked[index] = self._mark_span(spans[index], traces[index])
        return marked

    def _gather(self, span: ReadableSpan, trace: int, *, reads_text: bool) -> OperationKind:
        """The kind of the span; its signals are kept until the decision."""
        kind, signals, attributes = OperationKind.NONE, None, peek_attributes(span)
        if not RELEVANT_KEYS.isdisjoint(attributes):
            kind = kind_from_attributes(attributes)
            if not APPLICATION_KEYS.isdisjoint(attributes):
                signals = _application_signals(attributes)
        if reads_text:
            signals = _read_signals(span) or signals
        if signals is None and self._state_of(trace).is_rag:
            return kind  # nothing new
        is_rag = (
            kind in RAG_KINDS
            or (signals is not None and signals.forced)
            or looks_like_rag(span.name, attributes)
        )
        if signals or is_rag:
            self._remember(trace, signals, is_rag=is_rag)
        return kind

    def _remember(self, trace: int, new_signals: Signals | None, *, is_rag: bool) -> None:
        with self._lock:
            state = self._traces.get(trace) or UNKNOWN_TRACE
            signals = state.signals.merged(new_signals) if new_signals else state.signals
            if new_signals or not state.is_rag:
                updated = state._replace(signals=signals, is_rag=state.is_rag or is_rag)
                self._traces.put(trace, updated)

    def _decide(self, root: ReadableSpan, trace: int, spans: Sequence[ReadableSpan]) -> None:
        state = self._state_of(trace)
        if state.is_decided:
            return
        asks_callable = state.is_rag and not state.signals.route
        named = self._route_from_callable(root, spans) if asks_callable else ""
        route = state.signals.route or named or explicit_route([peek_attributes(root)])
        service = as_text(root.resource.attributes.get(semconv.SERVICE_NAME))
        route = route or route_from_names([root.name], service)
        self._choose(trace, route, named)

    def _decide_late(self, trace: int) -> None:
        """Decide at a generation that ends after its local root, if that had only the rate."""
        state = self._state_of(trace)
        if state.marks is not None and not state.is_decided:
            self._choose(trace, state.route, "")

    def _choose(self, trace: int, route: str, named: str) -> None:
        """Choose once for a trace: of several exporters with the same trace, the first decides."""
        with self._lock:
            state = self._traces.get(trace) or UNKNOWN_TRACE
            if state.is_decided:
                return
            trace_hex, signals = format_trace_id(trace), replace(state.signals, route=route)
            marks: dict[str, str | bool | float] = {}
            if state.is_rag:
                choice = self._sampler.choose(trace_hex, signals)
                marks[semconv.DECISION] = choice.decision
            else:
                choice = self._sampler.choose_by_rate(trace_hex, signals.route)
            marks |= {semconv.SAMPLED: choice.sampled, semconv.SAMPLE_RATE: choice.rate}
            if named:
                marks[semconv.ROUTE] = named
            self._traces.put(
                trace, state._replace(marks=marks, route=route, is_decided=state.is_rag)
            )

    def _route_from_callable(self, root: ReadableSpan, spans: Sequence[ReadableSpan]) -> str:
        """The route from the application's callable; the trace is marked also if that fails."""
        if self._route is not None:
            trace = _trace_id(root)
            others = [span for span in spans if _trace_id(span) == trace and span is not root]
            with guard("the route callable"):
                return checked_route(self._route([root, *others]))
        return ""

    def _mark_span(self, span: ReadableSpan, trace: int) -> ReadableSpan:
        marks = self._state_of(trace).marks
        return span if marks is None else copy_with_attributes(span, marks)

    def _state_of(self, trace: int) -> _TraceState:
        return self._traces.get(trace) or UNKNOWN_TRACE


class _TraceState(NamedTuple):
    """What is known of a trace; `marks` without `is_decided` hold only the rate."""

    signals: Signals = Signals()
    is_rag: bool = False
    route: str = ""
    marks: Marks | None = None
    is_decided: bool = False


UNKNOWN_TRACE = _TraceState()


class RecentTraces(Generic[V]):
    """Values by trace id, bounded: the oldest value is dropped first."""

    def __init__(self, most: int) -> None:
        """`most` is the number of values to keep."""
        self._most = most
        self._values: OrderedDict[int, V] = OrderedDict()
        # The value, if it is still kept; one dict operation, so it needs no lock.
        self.get: Callable[[int], V | None] = self._values.get

    def put(self, trace: int, value: V) -> None:
        """Store a value as the latest one."""
        self._values[trace] = value
        self._values.move_to_end(trace)
        if len(self._values) > self._most:
            self._values.popitem(last=False)


def _read_signals(span: ReadableSpan) -> Signals | None:
    """All signals of a span; a span that cannot be read must not prevent the marks of others."""
    with guard("reading a span"):
        return signals_of(read_span(record_from_readable(span)))
    return None


def _application_signals(attributes: Mapping[str, object]) -> Signals:
    route, forced = attributes.get(semconv.ROUTE), attributes.get(semconv.FORCE)
    return Signals(route=as_text(route), forced=as_flag(forced) is True)


def _trace_id(span: ReadableSpan) -> int:
    context = span.get_span_context()
    return context.trace_id if context else 0
