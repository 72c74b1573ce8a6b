"""Which traces are to be verified, decided when the local root of a trace is exported."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from threading import Lock, local
from typing import Generic, NamedTuple, TypeVar

from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.trace import format_trace_id

from otel_rt4chart.core import semconv
from otel_rt4chart.core.forks import after_fork
from otel_rt4chart.core.guard import guard
from otel_rt4chart.marking.span_copies import with_added
from otel_rt4chart.sampling import Sampler, Signals, signals_of
from otel_rt4chart.spans.conventions.registry import CONVENTIONS, KIND_ATTRIBUTES
from otel_rt4chart.spans.exchange.route import named_route
from otel_rt4chart.spans.model import values
from otel_rt4chart.spans.model.view import Kind
from otel_rt4chart.spans.reading.reader import named_kind, view
from otel_rt4chart.spans.reading.sdk import (
    Route,
    held,
    is_local_root,
    is_ours,
    record_from_readable,
    route_from,
)

RAG_KINDS = frozenset({Kind.LLM, Kind.RETRIEVER, Kind.RERANKER})
NAMES = tuple(start for one in CONVENTIONS for start, kind in one.names if kind in RAG_KINDS)
HINTS = tuple({hint for one in CONVENTIONS for hint, kind in one.hints if kind in RAG_KINDS})

# What an application may say to us, and the attributes that tell a kind outright beside it.
SAID = frozenset({semconv.ROUTE, semconv.FORCE})
TOLD = SAID | {attribute for _, attribute, _ in KIND_ATTRIBUTES}


def looks_like_rag(name: str, keys: Iterable[str]) -> bool:
    """By the name of a span or its attributes' keys, where no attribute names its kind.

    A span that only looks like one costs a trace's place under the bounds, one that is passed over
    would get past them; so a name alone suffices.
    """
    return name.startswith(NAMES) or any(key.startswith(HINTS) for key in keys)


Marks = Mapping[str, str | bool | float]
TRACES = 4_096
V = TypeVar("V")


class Decisions:
    """Gathers what is known of each trace, decides at its local root, and marks copies of spans.

    Marked are the local root, and generations that are exported with it or after it: what is
    exported before has no decision yet. Where nothing was seen that is verified, no generation, no
    retrieval and no wish, the rate alone is written, and nothing is spent.

    Several exporters may share it; its tables are bounded. Its lock is held for no more than a
    change of them: reading spans, the application's callable and the log come before or after.
    Spans that these make pass unmarked, or they would lead to more of them.
    """

    def __init__(self, sampler: Sampler, route: Route | None) -> None:
        """`route` names the route from the trace's spans at hand, the local root first."""
        self._sampler = sampler
        self._route = route
        self._traces: Table[_Trace] = Table(TRACES)
        self._lock = Lock()
        self._inside = local()
        after_fork(self._renew)

    def _renew(self) -> None:
        self._lock = Lock()

    def mark(self, spans: Sequence[ReadableSpan]) -> list[ReadableSpan]:
        """The spans, in order, marked where the decision on their trace is made."""
        if getattr(self._inside, "is_on", False):
            return list(spans)
        self._inside.is_on = True
        try:
            return self._mark(spans)
        finally:
            self._inside.is_on = False

    def _mark(self, spans: Sequence[ReadableSpan]) -> list[ReadableSpan]:
        # Without risk rules no text is read.
        is_read = bool(self._sampler.policy.risks)
        gathered = enumerate(self._gather(one, is_read=is_read) for one in spans)
        generations = [place for place, kind in gathered if kind is Kind.LLM]
        roots = [place for place, one in enumerate(spans) if is_local_root(one)]
        for place in roots:
            self._decide(spans[place], spans)
        for place in generations:
            self._decide_late(_trace_id(spans[place]))
        found = list(spans)
        for place in {*generations, *roots}:
            found[place] = self._marked(spans[place])
        return found

    def _gather(self, span: ReadableSpan, *, is_read: bool) -> Kind:
        """The span's kind; what it says of its trace is kept until the decision."""
        if is_ours(span):
            return Kind.NONE
        kind, found, given, trace = Kind.NONE, None, held(span), _trace_id(span)
        if keys := TOLD.intersection(given):
            kind = named_kind(given)
            found = _said(given) if keys & SAID else None
        if is_read:
            found = _read(span) or found
        is_rag = (
            kind in RAG_KINDS
            or (found is not None and found.forced)
            or (not self._known(trace).is_rag and looks_like_rag(span.name, given))
        )
        if found or is_rag:
            self._keep(trace, found, is_rag=is_rag)
        return kind

    def _keep(self, trace: int, found: Signals | None, *, is_rag: bool) -> None:
        with self._lock:
            known = self._traces.get(trace) or UNKNOWN
            signals = known.signals.merged(found) if found else known.signals
            if found or not known.is_rag:
                seen = known._replace(signals=signals, is_rag=known.is_rag or is_rag)
                self._traces.put(trace, seen)

    def _decide(self, root: ReadableSpan, spans: Sequence[ReadableSpan]) -> None:
        trace = _trace_id(root)
        known = self._known(trace)
        if known.is_decided:
            return
        is_asked = known.is_rag and not known.signals.route
        named = self._named(root, spans) if is_asked else ""
        route = known.signals.route or named or named_route([held(root)]) or root.name
        self._choose(trace, route, named)

    def _decide_late(self, trace: int) -> None:
        """A generation that ends after its local root: then nothing was spent on the trace yet."""
        known = self._known(trace)
        if known.marks is not None and not known.is_decided:
            self._choose(trace, known.route, "")

    def _choose(self, trace: int, route: str, named: str) -> None:
        """Of several exporters that come here with one trace, the first decides."""
        with self._lock:
            known = self._traces.get(trace) or UNKNOWN
            if known.is_decided:
                return
            hexadecimal, asked = format_trace_id(trace), replace(known.signals, route=route)
            marks: dict[str, str | bool | float] = {}
            if known.is_rag:
                choice = self._sampler.choose(hexadecimal, asked)
                marks[semconv.DECISION] = choice.decision
            else:
                choice = self._sampler.rated(hexadecimal, asked.route)
            marks |= {semconv.SAMPLED: choice.sampled, semconv.SAMPLE_RATE: choice.rate}
            if named:
                marks[semconv.ROUTE] = named
            self._traces.put(
                trace, known._replace(marks=marks, route=route, is_decided=known.is_rag)
            )

    def _named(self, root: ReadableSpan, spans: Sequence[ReadableSpan]) -> str:
        """What the application's callable says; a route that cannot be had costs no mark."""
        if self._route is not None:
            trace = _trace_id(root)
            others = [span for span in spans if _trace_id(span) == trace and span is not root]
            with guard("the route callable"):
                return route_from(self._route([root, *others]))
        return ""

    def _marked(self, span: ReadableSpan) -> ReadableSpan:
        marks = self._known(_trace_id(span)).marks
        return span if marks is None else with_added(span, marks)

    def _known(self, trace: int) -> _Trace:
        return self._traces.get(trace) or UNKNOWN


class _Trace(NamedTuple):
    """What is known of a trace; `marks` without `is_decided` are those of the rate alone."""

    signals: Signals = Signals()
    is_rag: bool = False
    route: str = ""
    marks: Marks | None = None
    is_decided: bool = False


UNKNOWN = _Trace()


class Table(Generic[V]):
    """The latest values by trace id; who put the oldest one loses it."""

    def __init__(self, most: int) -> None:
        """At most so many."""
        self._most = most
        self._values: OrderedDict[int, V] = OrderedDict()
        # The value, if it is still there; needs no lock.
        self.get: Callable[[int], V | None] = self._values.get

    def put(self, trace: int, value: V) -> None:
        """Keep a value."""
        self._values[trace] = value
        self._values.move_to_end(trace)
        if len(self._values) > self._most:
            self._values.popitem(last=False)


def _read(span: ReadableSpan) -> Signals | None:
    """All that a span says; one that cannot be read must not cost the others their marks."""
    with guard("reading a span"):
        return signals_of(view(record_from_readable(span)))
    return None


def _said(given: Mapping[str, object]) -> Signals:
    route, forced = given.get(semconv.ROUTE), given.get(semconv.FORCE)
    return Signals(route=values.text(route), forced=values.flag(forced) is True)


def _trace_id(span: ReadableSpan) -> int:
    context = span.get_span_context()
    return context.trace_id if context else 0
