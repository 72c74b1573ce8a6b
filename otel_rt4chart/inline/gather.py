"""From ended spans to answers: traces are collected, closed when they fell quiet, and read."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import reduce

from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.trace import format_trace_id

from otel_rt4chart.core import semconv
from otel_rt4chart.core.guard import guard
from otel_rt4chart.sampling import Signals, signals_of
from otel_rt4chart.spans.exchange.assembly import Patience, Trace, TraceBuffer
from otel_rt4chart.spans.exchange.exchanges import candidates_in
from otel_rt4chart.spans.exchange.tree import Tree
from otel_rt4chart.spans.model import values
from otel_rt4chart.spans.model.record import SpanRecord
from otel_rt4chart.spans.model.verdict import Candidate, Decision
from otel_rt4chart.spans.reading.sdk import Route, is_local_root, record_from_readable, route_from

Complete = Callable[[SpanRecord], SpanRecord]
SECOND = 1_000_000_000
PATIENCE = Patience(quiet=SECOND, orphan=60 * SECOND, longest=600 * SECOND)
MAX_BYTES = 64 * 2**20
LOST_TRACES = 4_096


@dataclass(frozen=True, slots=True)
class Answer:
    """A candidate with what its trace says of it.

    `is_private` is True where its text never stood on a span: what is found may be told, the text
    not.
    """

    candidate: Candidate
    signals: Signals
    is_private: bool = False


class Gatherer:
    """Open traces and what came with them; for one thread at a time. Answers come out of `close`.

    A trace that lost a span, or is given up for want of memory, gives its answers as `queue_full`:
    a passage that is missing may be what bears them out. So does one with a span that cannot be
    read.
    """

    def __init__(
        self,
        *,
        route: Route | None,
        complete: Complete,
        patience: Patience = PATIENCE,
        max_bytes: int = MAX_BYTES,
    ) -> None:
        """`complete` adds to a span what is known of it beside its attributes."""
        self._route = route
        self._complete = complete
        self._buffer = TraceBuffer(patience, max_bytes=max_bytes, given_up=self._give_up)
        self._lost: OrderedDict[str, None] = OrderedDict()
        self._private: set[str] = set()
        # Kept only for the route callable, which wants the SDK's own spans.
        self._spans: dict[str, list[ReadableSpan]] = {}
        self._given_up: list[Answer] = []

    def add(self, spans: Iterable[ReadableSpan], now_ns: int) -> None:
        """Take ended spans in; one that cannot be read is left out, and its trace has lost it."""
        for span in spans:
            is_read = False
            with guard("reading a span"):
                self._take(span, now_ns)
                is_read = True
            context = span.get_span_context()
            if not is_read and context is not None:
                self.lose([context.trace_id])

    def _take(self, span: ReadableSpan, now_ns: int) -> None:
        bare = record_from_readable(span)
        record = self._complete(bare)
        if record is not bare:
            self._private.add(record.trace_id)
        if self._route is not None:
            self._spans.setdefault(record.trace_id, []).append(span)
        self._buffer.add([record], now_ns, is_root=is_local_root(span))

    def lose(self, traces: Iterable[int]) -> None:
        """Remember traces that lost a span."""
        for trace in traces:
            self._lost[format_trace_id(trace)] = None
        while len(self._lost) > LOST_TRACES:
            self._lost.popitem(last=False)

    def close(self, now_ns: int, limit: int) -> list[Answer]:
        """The answers of traces that nothing more is expected of."""
        return self._answers(self._buffer.close(now_ns, limit))

    def close_rooted(self) -> list[Answer]:
        """The answers of traces whose local root has ended."""
        return self._answers(self._buffer.close_rooted())

    def close_all(self) -> list[Answer]:
        """The answers of all traces, as far as they came."""
        return self._answers(self._buffer.close_all())

    def _answers(self, traces: Sequence[Trace]) -> list[Answer]:
        given_up, self._given_up = self._given_up, []
        return given_up + [answer for trace in traces for answer in self._read(trace)]

    def _give_up(self, trace: Trace) -> None:
        self._lost[trace.trace_id] = None
        self._given_up += self._read(trace)

    def _read(self, trace: Trace) -> list[Answer]:
        """The answers of a trace; one that cannot be read has none."""
        readable = self._spans.pop(trace.trace_id, [])
        is_private = trace.trace_id in self._private
        self._private.discard(trace.trace_id)
        is_lost = trace.trace_id in self._lost
        with guard("reading a trace"):
            tree = Tree(trace.spans)
            found = candidates_in(tree)
            if not found:
                return []
            signals = reduce(Signals.merged, map(signals_of, tree))
            return [
                Answer(
                    replace(one, blocked=Decision.QUEUE_FULL) if is_lost else one,
                    replace(signals, route=one.route),
                    is_private,
                )
                for one in self._routed(found, trace, readable)
            ]
        return []

    def _routed(
        self, found: Sequence[Candidate], trace: Trace, spans: list[ReadableSpan]
    ) -> Sequence[Candidate]:
        """With the route that an answer's own spans name, else the one of the callable."""
        told = {values.text(one.attributes.get(semconv.ROUTE)) for one in trace.spans} - {""}
        if all(one.route in told for one in found):
            return found
        name = self._named(spans)
        return [
            replace(one, route=name) if name and one.route not in told else one for one in found
        ]

    def _named(self, spans: list[ReadableSpan]) -> str:
        """What the application's callable says, the local root first."""
        if self._route is None or not spans:
            return ""
        with guard("the route callable"):
            return route_from(self._route(sorted(spans, key=is_local_root, reverse=True)))
        return ""
