"""The answers that may be on a page of a list, by any version of their verdicts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from rt4chart_collector.store.answers.answers import FAILED_COUNT
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.rows import read
from rt4chart_collector.store.engine.scope import QueryScope
from rt4chart_collector.store.lists.answer_filter import AnswerFilter

HOUR_NS = 3_600 * 10**9
# The time that the first query covers, and how many times longer each further query reads.
FIRST_SLICE_NS, SLICE_GROWTH = HOUR_NS, 16
Order = Literal["newest", "worst"]
Place = tuple[int, int, str, str, str]
BY_PLACE = "Timestamp DESC, TraceId, SpanId, VerifierId"
ORDER_COLUMNS: Mapping[Order, str] = {"newest": BY_PLACE, "worst": f"failures DESC, {BY_PLACE}"}
# Keyset pagination: the rows after a cursor, for each order. A page begins where the page before
# ended, so the hundredth page costs as much as the first.
AFTER_CURSOR: Mapping[Order, str] = {
    "newest": "(-toUnixTimestamp64Nano(Timestamp), TraceId, SpanId, VerifierId) "
    "> (-{at:Int64}, {trace:String}, {span:String}, {by:String})",
    "worst": "(-failures, -toUnixTimestamp64Nano(Timestamp), TraceId, SpanId, VerifierId) "
    "> (-{failures:Int64}, -{at:Int64}, {trace:String}, {span:String}, {by:String})",
}
CANDIDATES = """
SELECT toUnixTimestamp64Nano(Timestamp) AS start_ns, TraceId AS trace_id, SpanId AS span_id,
    VerifierId AS verifier, ServiceName AS service, Route AS route, {failures} AS failures
FROM {table} WHERE {where} ORDER BY {order} LIMIT {{limit:UInt32}}
"""
# The sorting key of this table is the order by failures: a page reads its beginning.
FAILED, FAILED_ORDER = "rt4chart_failed_answers", f"Failures DESC, {BY_PLACE}"


@dataclass(frozen=True, slots=True)
class AnswerCursor:
    """The end of a page: the values of its last row that define the order."""

    at_ns: int
    trace_id: str
    span_id: str
    verifier: str
    failures: int = 0


@dataclass(frozen=True, slots=True)
class ListCandidate:
    """A version of an answer's verdict, which may not be in force."""

    start_ns: int
    trace_id: str
    span_id: str
    verifier: str
    service: str
    route: str
    failures: int

    @property
    def key(self) -> tuple[int, str, str, str]:
        """What all versions of it have."""
        return self.start_ns, self.trace_id, self.span_id, self.verifier

    @property
    def cursor(self) -> AnswerCursor:
        """Its place in the order."""
        return AnswerCursor(*self.key, self.failures)


@dataclass(frozen=True, slots=True)
class ListPart:
    """A part of the list: of a time, and of answers that meet a condition on their `failures`."""

    order: Order
    scope: QueryScope
    is_failed: bool = False
    condition: str = "true"

    def place(self, cursor: AnswerCursor) -> Place:
        """Where a row stands in the order; the first is the smallest."""
        failures = cursor.failures if self.order == "worst" else 0
        return -failures, -cursor.at_ns, cursor.trace_id, cursor.span_id, cursor.verifier


def sources(
    selection: AnswerFilter, order: Order, after: AnswerCursor | None
) -> Iterator[ListPart]:
    """The parts of the list after a cursor, one after the other."""
    if order == "newest":
        yield from _by_time(selection.scope, order, after)
    elif selection.searches_texts:
        # Texts are in the one table alone.
        yield ListPart(order, selection.scope)
    else:
        if after is None or after.failures:
            yield ListPart(order, selection.scope, is_failed=True, condition="failures > 0")
        if selection.measure is None:
            begun = after if after is not None and not after.failures else None
            yield from _by_time(selection.scope, order, begun, "failures = 0")


def _by_time(
    scope: QueryScope, order: Order, after: AnswerCursor | None, condition: str = "true"
) -> Iterator[ListPart]:
    """Intervals from the newest back, each longer than the one before; most pages need one only."""
    until = min(scope.until_ns, after.at_ns + 1) if after else scope.until_ns
    length = FIRST_SLICE_NS
    while until > scope.since_ns:
        since = max(until - length, scope.since_ns)
        yield ListPart(order, scope.of_time(since, until), condition=condition)
        until, length = since, length * SLICE_GROWTH


def read_candidates(
    client: Client,
    source: ListPart,
    selection: AnswerFilter,
    after: AnswerCursor | None,
    limit: int,
) -> list[ListCandidate]:
    """The first rows of a source after a cursor, any version of which meets the filter."""
    conditions = [selection.condition, source.condition]
    if source.is_failed:
        conditions.append(f"Measure = '{selection.counted}'")
        conditions += ["Failures <= {failures:Int64}"] if after else []
    else:
        conditions += ["IsDeleted = 0", *selection.indexed_conditions]
    if after is not None:
        conditions.append(AFTER_CURSOR[source.order])
    query = CANDIDATES.format(
        failures="toInt64(Failures)" if source.is_failed else FAILED_COUNT[selection.counted],
        table=FAILED if source.is_failed else "rt4chart_verifications",
        where=" AND ".join(conditions),
        order=FAILED_ORDER if source.is_failed else ORDER_COLUMNS[source.order],
    )
    parameters = {
        **selection.parameters,
        **source.scope.parameters,
        **_cursor_parameters(after),
        "limit": limit,
    }
    return read(client, ListCandidate, query, parameters)


def _cursor_parameters(after: AnswerCursor | None) -> dict[str, object]:
    if after is None:
        return {}
    return {
        "at": after.at_ns,
        "trace": after.trace_id,
        "span": after.span_id,
        "by": after.verifier,
        "failures": after.failures,
    }
