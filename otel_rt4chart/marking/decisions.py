"""Decides which traces are sampled, when the local root of a trace is exported."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from threading import Lock, local
from typing import Generic, NamedTuple, TypeVar

from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.trace import format_trace_id

from otel_rt4chart.core import semconv
from otel_rt4chart.core.forks import after_fork
from otel_rt4chart.core.guard import guard
from otel_rt4chart.marking.span_copies import copy_with_attributes
from otel_rt4chart.sampling import Sampler, Signals, signals_of
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

# Attributes that an application sets for us.
APPLICATION_KEYS = frozenset({semconv.ROUTE, semconv.FORCE})

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
        traces, generations, roots = [], [], []
        rag_traces: set[int] = set()
        unclear: list[int] = []
        # The signals of the whole batch first: a decision at a root must know all of them.
        for index, span in enumerate(spans):
            context = span.get_span_context()
            trace = context.trace_id if context else 0
            traces.append(trace)
            if is_local_root(span):
                roots.append(index)
            if is_verdict_span(span):
                continue
            attributes = peek_attributes(span)
            kind = kind_from_attributes(attributes)
            if kind is OperationKind.LLM:
                generations.append(index)
            if kind in RAG_KINDS:
                rag_traces.add(trace)
            else:
                unclear.append(index)
            if reads_text or semconv.ROUTE in attributes or semconv.FORCE in attributes:
                self._gather(span, trace, attributes, reads_text=reads_text)
        # All keys of a span are looked at only where no other span shows what its trace is.
        for index in unclear:
            trace, span = traces[index], spans[index]
            if trace not in rag_traces and self._is_first_rag(span, trace):
                rag_traces.add(trace)
        self._remember_rag(rag_traces)
        for index in roots:
            self._decide(spans[index], traces[index], spans)
        for index in generations:
            self._decide_late(traces[index])
        marked = list(spans)
        for index in {*generations, *roots}:
            marked[index] = self._mark_span(spans[index], traces[index])
        return marked

    def _gather(
        self,
        span: ReadableSpan,
        trace: int,
        attributes: Mapping[str, object],
        *,
        reads_text: bool,
    ) -> None:
        """Keep the signals of a span until the decision."""
        signals = _read_signals(span) if reads_text else None
        if signals is None and not APPLICATION_KEYS.isdisjoint(attributes):
            signals = _application_signals(attributes)
        if signals is None:
            return
        with self._lock:
            state = self._traces.get(trace) or UNKNOWN_TRACE
            merged, is_rag = state.signals.merged(signals), state.is_rag or signals.forced
            self._traces.put(trace, state._replace(signals=merged, is_rag=is_rag))

    def _is_first_rag(self, span: ReadableSpan, trace: int) -> bool:
        """True if the name or a key of the span tells of its trace what was not known."""
        return not self._state_of(trace).is_rag and looks_like_rag(span.name, peek_attributes(span))

    def _remember_rag(self, traces: Iterable[int]) -> None:
        """Remember that these traces have an answer or a retrieval."""
        with self._lock:
            for trace in traces:
                state = self._traces.get(trace) or UNKNOWN_TRACE
                if not state.is_rag:
                    self._traces.put(
                        trace, _TraceState(state.signals, True, state.route, state.marks)
                    )

    def _decide(self, root: ReadableSpan, trace: int, spans: Sequence[ReadableSpan]) -> None:
        state = self._state_of(trace)
        if state.is_decided:
            return
        asks_callable = state.is_rag and not state.signals.route
        named = self._route_from_callable(root, spans) if asks_callable else ""
        route = state.signals.route or named or explicit_route([peek_attributes(root)])
        if not route:
            service = as_text(root.resource.attributes.get(semconv.SERVICE_NAME))
            route = route_from_names([root.name], service)
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
            trace_hex, signals = format_trace_id(trace), state.signals.at(route)
            marks: dict[str, str | bool | float] = {}
            if state.is_rag:
                choice = self._sampler.choose(trace_hex, signals)
                marks[semconv.DECISION] = choice.decision
            else:
                choice = self._sampler.choose_by_rate(trace_hex, signals.route)
            marks[semconv.SAMPLED], marks[semconv.SAMPLE_RATE] = choice.sampled, choice.rate
            if named:
                marks[semconv.ROUTE] = named
            is_rag = state.is_rag
            self._traces.put(trace, _TraceState(state.signals, is_rag, route, marks, is_rag))

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
