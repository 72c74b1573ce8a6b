"""Which traces are to be verified, decided when the local root of a trace comes to be exported."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from threading import Lock
from typing import Generic, TypeVar

from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.trace import format_trace_id

from otel_rt4chart import semconv
from otel_rt4chart.forks import after_fork
from otel_rt4chart.guard import guard
from otel_rt4chart.marking.copies import with_attributes
from otel_rt4chart.sampling import Choice, Sampler, Signals, signals_of
from otel_rt4chart.spans import values
from otel_rt4chart.spans.read import named_kind, view
from otel_rt4chart.spans.route import named_route
from otel_rt4chart.spans.sdk import Route, is_local_root, is_ours, record_from_readable
from otel_rt4chart.spans.view import Kind

Marks = Mapping[str, str | bool | float]
TRACES = 4_096
V = TypeVar("V")


class Decisions:
    """Gathers what is known of each trace, decides at its local root, and marks copies of spans.

    Marked are the local root, and generations that are exported with it or after it: what is
    exported before has no decision yet. Several exporters may share it; its tables are bounded.
    """

    def __init__(self, sampler: Sampler, route: Route | None) -> None:
        """`route` names the route from the trace's spans at hand, the local root first."""
        self._sampler = sampler
        self._route = route
        self._signals: Table[Signals] = Table(TRACES)
        self._marks: Table[Marks] = Table(TRACES)
        self._lock = Lock()
        after_fork(self._renew)

    def _renew(self) -> None:
        self._lock = Lock()

    def mark(self, spans: Sequence[ReadableSpan]) -> list[ReadableSpan]:
        """The spans, in order, marked where the decision on their trace is made."""
        with self._lock:
            generations = {id(span) for span in spans if self._gather(span) is Kind.LLM}
            roots = [span for span in spans if is_local_root(span)]
            for root in roots:
                self._decide(root, spans)
            marked = generations | {id(root) for root in roots}
            return [self._marked(span) if id(span) in marked else span for span in spans]

    def _gather(self, span: ReadableSpan) -> Kind:
        """The span's kind; what it says of its trace is kept until the decision."""
        if is_ours(span):
            return Kind.NONE
        attributes = span.attributes or {}
        # Without risk rules no text is read, and no span is sorted through.
        found = _read(span) if self._sampler.policy.risks else _told(attributes)
        if found is not None:
            known = self._signals.get(_trace(span))
            self._signals.put(_trace(span), known.merged(found) if known else found)
        return named_kind(attributes)

    def _decide(self, root: ReadableSpan, spans: Sequence[ReadableSpan]) -> None:
        trace = _trace(root)
        if self._marks.get(trace) is not None:
            return
        signals = self._signals.get(trace) or Signals()
        named = "" if signals.route else self._named(root, spans)
        route = (
            signals.route
            or named
            or named_route([record_from_readable(root).attributes])
            or root.name
        )
        asked = signals.merged(Signals(route=route))
        choice = self._sampler.choose(format_trace_id(trace), asked)
        self._marks.put(trace, _marks(choice, named))

    def _named(self, root: ReadableSpan, spans: Sequence[ReadableSpan]) -> str:
        """What the application's callable says; a route that cannot be had costs no mark."""
        name = None
        if self._route is not None:
            others = [span for span in spans if _trace(span) == _trace(root) and span is not root]
            with guard("the route callable"):
                name = self._route([root, *others])
        return name if isinstance(name, str) else ""

    def _marked(self, span: ReadableSpan) -> ReadableSpan:
        marks = self._marks.get(_trace(span))
        return (
            span if marks is None else with_attributes(span, {**(span.attributes or {}), **marks})
        )


class Table(Generic[V]):
    """The latest values by trace id; who put the oldest one loses it."""

    def __init__(self, most: int) -> None:
        """At most so many."""
        self._most = most
        self._values: OrderedDict[int, V] = OrderedDict()

    def get(self, trace: int) -> V | None:
        """The value, if it is still there."""
        return self._values.get(trace)

    def put(self, trace: int, value: V) -> None:
        """Keep a value."""
        self._values[trace] = value
        self._values.move_to_end(trace)
        if len(self._values) > self._most:
            self._values.popitem(last=False)


def _read(span: ReadableSpan) -> Signals:
    return signals_of(view(record_from_readable(span)))


def _told(attributes: Mapping[str, object]) -> Signals | None:
    route, forced = attributes.get(semconv.ROUTE), attributes.get(semconv.FORCE)
    if route is None and forced is None:
        return None
    return Signals(route=values.text(route), forced=values.flag(forced) is True)


def _trace(span: ReadableSpan) -> int:
    context = span.get_span_context()
    return context.trace_id if context else 0


def _marks(choice: Choice, route: str) -> Marks:
    marks: dict[str, str | bool | float] = {
        semconv.SAMPLED: choice.sampled,
        semconv.SAMPLE_RATE: choice.rate,
        semconv.DECISION: choice.decision,
    }
    return marks | ({semconv.ROUTE: route} if route else {})
