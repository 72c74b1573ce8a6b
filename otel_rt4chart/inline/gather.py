"""From ended spans to answers: traces are collected, closed when they fell quiet, and read."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import reduce

from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.trace import format_trace_id

from otel_rt4chart.guard import guard
from otel_rt4chart.sampling import Signals, signals_of
from otel_rt4chart.spans.assembly import Patience, Trace, TraceBuffer
from otel_rt4chart.spans.exchanges import candidates
from otel_rt4chart.spans.read import view
from otel_rt4chart.spans.record import SpanRecord
from otel_rt4chart.spans.sdk import record_from_readable
from otel_rt4chart.verdict import Candidate, Decision

Route = Callable[[Sequence[ReadableSpan]], str | None]
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
    a passage that is missing may be what bears them out.
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
        """Take ended spans in; one that cannot be read is left out."""
        for span in spans:
            with guard("reading a span"):
                bare = record_from_readable(span)
                record = self._complete(bare)
                if record is not bare:
                    self._private.add(record.trace_id)
                if self._route is not None:
                    self._spans.setdefault(record.trace_id, []).append(span)
                is_root = span.parent is None or span.parent.is_remote
                self._buffer.add([record], now_ns, is_root=is_root)

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
            found = candidates(trace.spans)
            if not found:
                return []
            signals = reduce(Signals.merged, map(signals_of, map(view, trace.spans)))
            route = signals.route or self._named(readable)
            answers = []
            for one in found:
                named = replace(one, route=route) if route else one
                if is_lost:
                    named = replace(named, blocked=Decision.QUEUE_FULL)
                said = replace(signals, route=named.route)
                answers.append(Answer(named, said, is_private))
            return answers
        return []

    def _named(self, spans: list[ReadableSpan]) -> str:
        """What the application's callable says, the local root first."""
        if self._route is None or not spans:
            return ""
        with guard("the route callable"):
            name = self._route(sorted(spans, key=_is_inner))
            return name if isinstance(name, str) else ""
        return ""


def _is_inner(span: ReadableSpan) -> bool:
    return span.parent is not None and not span.parent.is_remote
