"""Collects ended spans into traces, closes traces after their timeouts, and finds the answers."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import reduce

from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.trace import format_trace_id

from otel_rt4chart.core import semconv
from otel_rt4chart.core.guard import guard
from otel_rt4chart.inline.held_traces import (
    HasMessages,
    HeldTrace,
    HeldTraces,
    Need,
    NeedOf,
    has_no_messages,
)
from otel_rt4chart.inline.uncited import uncited_routes
from otel_rt4chart.sampling import Signals, signals_of
from otel_rt4chart.spans.exchange.assembly import AssembledTrace, TraceBuffer, TraceTimeouts
from otel_rt4chart.spans.exchange.exchanges import candidates_in_tree
from otel_rt4chart.spans.exchange.span_tree import SpanTree
from otel_rt4chart.spans.model.record import SpanRecord
from otel_rt4chart.spans.model.values import as_text
from otel_rt4chart.spans.model.verdict import Candidate, Decision
from otel_rt4chart.spans.reading.sdk import (
    RouteCallable,
    checked_route,
    is_local_root,
    record_from_readable,
)
from otel_rt4chart.verify import Exchange

CompleteRecord = Callable[[SpanRecord], SpanRecord]
Forget = Callable[[Iterable[ReadableSpan]], object]
SECOND = 1_000_000_000
TIMEOUTS = TraceTimeouts(quiet_ns=SECOND, orphan_ns=60 * SECOND, max_ns=600 * SECOND)
MAX_BYTES = 64 * 2**20
MAX_LOST_TRACES = 4_096


def no_messages(spans: Iterable[ReadableSpan]) -> None:
    """Forget nothing: no messages are stored."""


def needs_verdict(trace_id: str) -> Need:
    """Every trace is read."""
    return Need.VERDICT


@dataclass(frozen=True, slots=True)
class Answer:
    """A candidate with the signals of its trace.

    `is_private` is True if its text was never on a span: the verdict may be emitted, its text not.
    """

    candidate: Candidate
    signals: Signals
    is_private: bool = False


class AnswerGatherer:
    """Holds open traces; for one thread at a time. `close` returns the answers.

    The answers of a trace that lost a span, was evicted for lack of memory, or has an unreadable
    span get the decision `queue_full`: a missing passage may be the one that supports them.
    """

    def __init__(
        self,
        *,
        route: RouteCallable | None,
        complete: CompleteRecord,
        forget: Forget = no_messages,
        has_messages: HasMessages = has_no_messages,
        need_of: NeedOf = needs_verdict,
        timeouts: TraceTimeouts = TIMEOUTS,
        max_bytes: int = MAX_BYTES,
    ) -> None:
        """`complete` adds stored messages to the record of a span, `forget` drops those of spans.

        `has_messages` says of a span whether there are some. `need_of` says of a trace's id what
        its answers are read for.
        """
        self._route = route
        self._complete = complete
        self._forget = forget
        self._held = HeldTraces(need_of, timeouts, has_messages=has_messages)
        self._buffer = TraceBuffer(timeouts, max_bytes=max_bytes, on_evict=self._read_evicted)
        self._lost: OrderedDict[str, None] = OrderedDict()
        self._private: set[str] = set()
        # Only for the route callable, which receives the SDK's own spans.
        self._spans: dict[str, list[ReadableSpan]] = {}
        self._evicted: list[Answer] = []

    def add(self, spans: Iterable[ReadableSpan], now_ns: int) -> None:
        """Add ended spans; a span that cannot be read counts as lost for its trace."""
        is_being_read = self._buffer.__contains__
        for span in spans:
            # A guard for each span would cost as much as to hold it: it is entered on errors.
            try:
                due = self._held.take(span, now_ns, is_being_read)
            except BaseException:  # one span must not stop the others
                self._lose_span(span)
                with guard("holding a span", is_own_thread=True):
                    raise
                continue
            for one in due:
                self._add_readable(one, now_ns)

    def _add_readable(self, span: ReadableSpan, now_ns: int) -> None:
        is_read = False
        with guard("reading a span", is_own_thread=True):
            self._add_span(span, now_ns)
            is_read = True
        if not is_read:
            self._lose_span(span)

    def _lose_span(self, span: ReadableSpan) -> None:
        context = span.get_span_context()
        if context is not None:
            self.lose([context.trace_id])

    def _add_span(self, span: ReadableSpan, now_ns: int) -> None:
        original = record_from_readable(span)
        record = self._complete(original)
        if record is not original:
            self._private.add(record.trace_id)
        if self._route is not None:
            self._spans.setdefault(record.trace_id, []).append(span)
        self._buffer.add([record], now_ns, is_root=is_local_root(span))

    def lose(self, traces: Iterable[int]) -> None:
        """Remember traces that lost a span."""
        for trace in traces:
            self._lost[format_trace_id(trace)] = None
        while len(self._lost) > MAX_LOST_TRACES:
            self._lost.popitem(last=False)

    def close(self, now_ns: int, limit: int) -> list[Answer]:
        """The answers of traces whose timeouts have passed; `limit` is for those that are read."""
        return self._answers(self._held.close(now_ns), lambda: self._buffer.close(now_ns, limit))

    def close_rooted(self) -> list[Answer]:
        """The answers of traces whose local root has ended."""
        return self._answers(self._held.close_rooted(), self._buffer.close_rooted)

    def close_all(self) -> list[Answer]:
        """The answers of all open traces, complete or not."""
        return self._answers(self._held.close_all(), self._buffer.close_all)

    def _answers(
        self, held: Sequence[HeldTrace], close: Callable[[], Sequence[AssembledTrace]]
    ) -> list[Answer]:
        """`close` returns the traces that are due, also of those that turn out to be read."""
        unread = [answer for trace in held for answer in self._unread(trace)]
        read = [answer for trace in close() for answer in self._read(trace)]
        given_up, self._evicted = self._evicted, []
        return given_up + unread + read

    def _unread(self, trace: HeldTrace) -> list[Answer]:
        """What stands for the answers of a trace that need not be read; else it is to be read."""
        if trace.need is Need.NOTHING:
            self._forget(trace.spans)
            route = trace.own_route() or self._route_from_callable(trace.spans) or trace.route()
            return [_unread_answer(trace, route)]
        routes = None
        if trace.name not in self._lost and self._held.need_of(trace) is not Need.VERDICT:
            with guard("looking for citations", is_own_thread=True):
                routes = uncited_routes(trace.spans)
        if routes is None:
            # With the times of its spans, so that it is due now.
            for number, span in enumerate(trace.spans):
                self._add_readable(span, trace.last_ns if number else trace.first_ns)
            return []
        return [_unread_answer(trace, self._route_or_callable(trace, route)) for route in routes]

    def _route_or_callable(self, trace: HeldTrace, route: str) -> str:
        """As for an answer that is read: the route that its spans name, else the callable's."""
        if self._route is None or trace.names_route(route):
            return route
        return self._route_from_callable(trace.spans) or route

    def _read_evicted(self, trace: AssembledTrace) -> None:
        self._lost[trace.trace_id] = None
        self._evicted += self._read(trace)

    def _read(self, trace: AssembledTrace) -> list[Answer]:
        """The answers of a trace; none if it cannot be read."""
        readable = self._spans.pop(trace.trace_id, [])
        is_private = trace.trace_id in self._private
        self._private.discard(trace.trace_id)
        is_lost = trace.trace_id in self._lost
        with guard("reading a trace", is_own_thread=True):
            tree = SpanTree(trace.spans)
            candidates = candidates_in_tree(tree)
            if not candidates:
                return []
            # Of the whole trace: a rule such as `error` is about any span, not only the answer's.
            signals = reduce(Signals.merged, map(signals_of, tree))
            return [
                Answer(
                    replace(candidate, blocked=Decision.QUEUE_FULL) if is_lost else candidate,
                    replace(signals, route=candidate.route),
                    is_private,
                )
                for candidate in self._routed(candidates, trace, readable)
            ]
        return []

    def _routed(
        self, found: Sequence[Candidate], trace: AssembledTrace, spans: list[ReadableSpan]
    ) -> Sequence[Candidate]:
        """The candidates with the route that their spans name, else the route of the callable."""
        own_routes = {as_text(span.attributes.get(semconv.ROUTE)) for span in trace.spans} - {""}
        if all(candidate.route in own_routes for candidate in found):
            return found
        name = self._route_from_callable(spans)
        return [
            replace(candidate, route=name)
            if name and candidate.route not in own_routes
            else candidate
            for candidate in found
        ]

    def _route_from_callable(self, spans: list[ReadableSpan]) -> str:
        """The route from the application's callable; it receives the local root first."""
        if self._route is None or not spans:
            return ""
        with guard("the route callable", is_own_thread=True):
            return checked_route(self._route(sorted(spans, key=is_local_root, reverse=True)))
        return ""


def _unread_answer(trace: HeldTrace, route: str) -> Answer:
    """An answer outside the sample that was not read: its route alone is known."""
    exchange = Exchange("", (), "")
    candidate = Candidate(exchange, trace.name, "", 0, "", route, blocked=Decision.NOT_SAMPLED)
    return Answer(candidate, Signals(route=route))
