"""Answers by the page, the newest or the worst first.

A page begins where the page before ended (`Place`), so the hundredth page costs as much as the
first. Texts are read for the rows of the page only.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Literal

from rt4chart_collector.store.answers.verifications import BY_DAY, VERIFICATIONS
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.rows import read

HOUR_NS = 3_600 * 10**9
# The time that the first query covers, and how many times longer each further one is.
FIRST_NS, FURTHER = HOUR_NS, 16
# Characters of a text that a list shows.
SHOWN = 280
Order = Literal["newest", "worst"]
UNFAITHFUL = "unfaithful"

WHERE = """
    Timestamp >= fromUnixTimestamp64Nano({since:Int64})
    AND Timestamp < fromUnixTimestamp64Nano({until:Int64}) AND IsDeleted = 0
"""
CONDITIONS = {
    "service": "ServiceName = {service:String}",
    "route": "Route = {route:String}",
    "verifier": "VerifierId = {verifier:String}",
    "decision": "Decision = {decision:String}",
    "label": "Label = {label:String}",
    "model": "Model = {model:String}",
    "prompt_version": "PromptVersion = {prompt_version:String}",
    "release": "Release = {release:String}",
    "environment": "Environment = {environment:String}",
    "trace_id": "TraceId = {trace_id:String}",
    "q": "(positionCaseInsensitiveUTF8(Question, {q:String}) > 0 "
    "OR positionCaseInsensitiveUTF8(Answer, {q:String}) > 0)",
}
BAD = "Label IN ('contradicted', 'baseless')"
ORDERS: Mapping[str, str] = {
    "newest": "start_ns DESC, TraceId, SpanId, VerifierId",
    "worst": "unfaithful DESC, start_ns DESC, TraceId, SpanId, VerifierId",
}
# What comes after a place in each order.
AFTER: Mapping[str, str] = {
    "newest": "(-toUnixTimestamp64Nano(Timestamp), TraceId, SpanId, VerifierId) "
    "> (-{at:Int64}, {trace:String}, {span:String}, {by:String})",
    "worst": "(-toInt64(ContradictedCount + BaselessCount), -toUnixTimestamp64Nano(Timestamp), "
    "TraceId, SpanId, VerifierId) "
    "> (-{unfaithful:Int64}, -{at:Int64}, {trace:String}, {span:String}, {by:String})",
}
KEYS = """
SELECT toUnixTimestamp64Nano(Timestamp) AS start_ns, TraceId AS trace_id, SpanId AS span_id,
    VerifierId AS verifier, ServiceName AS service, Route AS route,
    toInt64(ContradictedCount + BaselessCount) AS unfaithful
FROM rt4chart_verifications FINAL
WHERE {where}
ORDER BY {order} LIMIT {{limit:UInt32}}
"""
# Each trace's rows lie under their services, routes and times: the primary key finds them. Their
# texts are read where the trace is one of these (all writings of a row have the same one).
OF_KEYS = f"""
PREWHERE TraceId IN {{traces:Array(String)}}
WHERE {WHERE} AND ServiceName IN {{services:Array(String)}} AND Route IN {{routes:Array(String)}}
  AND toStartOfFiveMinutes(Timestamp) IN {{ticks:Array(DateTime('UTC'))}}
"""
# The fields that a listed answer has in common with its verification.
LISTED = (
    "start_ns",
    "trace_id",
    "span_id",
    "verifier",
    "service",
    "route",
    "environment",
    "model",
    "prompt_version",
    "release",
    "decision",
    "label",
    "sample_rate",
)
ROWS = f"""
SELECT {VERIFICATIONS.select(*LISTED)}, ClaimCount AS claims, EntailedCount AS entailed,
    ContradictedCount AS contradicted, BaselessCount AS baseless, UndecidedCount AS undecided,
    substringUTF8(Question, 1, {SHOWN}) AS question, substringUTF8(Answer, 1, {SHOWN}) AS answer,
    lengthUTF8(Answer) AS characters
FROM rt4chart_verifications FINAL {OF_KEYS}
"""  # noqa: S608 - our own names
WORST_CLAIMS = f"""
SELECT TraceId AS trace_id, SpanId AS span_id, VerifierId AS verifier,
    ClaimIndex AS worst_claim_index, toString(Label) AS worst_claim_label,
    substringUTF8(Claim, 1, {SHOWN}) AS worst_claim
FROM rt4chart_claims FINAL {OF_KEYS} AND {BAD}
ORDER BY Label, ClaimIndex LIMIT 1 BY TraceId, SpanId, VerifierId
"""  # noqa: S608 - our own names


@dataclass(frozen=True, slots=True)
class AnswerFilter:
    """The answers to list; an empty text takes all. The label "unfaithful" stands for two labels.

    `q` is searched for in questions and answers, ignoring case.
    """

    since_ns: int
    until_ns: int
    service: str = ""
    route: str = ""
    verifier: str = ""
    decision: str = ""
    label: str = ""
    model: str = ""
    prompt_version: str = ""
    release: str = ""
    environment: str = ""
    trace_id: str = ""
    q: str = ""


@dataclass(frozen=True, slots=True)
class AnswerCursor:
    """Where a page ended: the values of its last row by which the list is ordered."""

    at_ns: int
    trace_id: str
    span_id: str
    verifier: str
    unfaithful: int = 0


@dataclass(frozen=True, slots=True)
class ListedAnswer:
    """An answer in a list; `question` and `answer` are their first characters.

    `worst_claim` is its first contradicted claim, else its first baseless one, with its number.
    """

    start_ns: int
    trace_id: str
    span_id: str
    verifier: str
    service: str
    route: str
    environment: str
    model: str
    prompt_version: str
    release: str
    decision: str
    label: str
    claims: int
    entailed: int
    contradicted: int
    baseless: int
    undecided: int
    sample_rate: float
    question: str
    answer: str
    characters: int
    worst_claim: str = ""
    worst_claim_index: int = -1
    worst_claim_label: str = ""

    @property
    def place(self) -> AnswerCursor:
        """The place from which the next page goes on."""
        unfaithful = self.contradicted + self.baseless
        return AnswerCursor(self.start_ns, self.trace_id, self.span_id, self.verifier, unfaithful)


@dataclass(frozen=True, slots=True)
class AnswerPage:
    """Some answers in order; `after` is where the next page begins, None where there is none."""

    rows: tuple[ListedAnswer, ...]
    after: AnswerCursor | None


@dataclass(frozen=True, slots=True)
class _Key:
    start_ns: int
    trace_id: str
    span_id: str
    verifier: str
    service: str
    route: str
    unfaithful: int


@dataclass(frozen=True, slots=True)
class _WorstOf:
    trace_id: str
    span_id: str
    verifier: str
    worst_claim: str
    worst_claim_index: int
    worst_claim_label: str


def answer_page(
    client: Client,
    wanted: AnswerFilter,
    *,
    order: Order = "newest",
    after: AnswerCursor | None = None,
    limit: int = 50,
) -> AnswerPage:
    """The answers after that place, at most `limit`: one row for each verifier that decided."""
    keys = _keys(client, wanted, order, after, limit + 1)
    rows = _listed(client, wanted, keys[:limit])
    return AnswerPage(rows, rows[-1].place if len(keys) > limit and rows else None)


def _keys(
    client: Client, wanted: AnswerFilter, order: Order, after: AnswerCursor | None, limit: int
) -> list[_Key]:
    found: list[_Key] = []
    slices = _slices(wanted, after) if order == "newest" else [(wanted.since_ns, wanted.until_ns)]
    for since, until in slices:
        part = replace(wanted, since_ns=since, until_ns=until)
        text = KEYS.format(where=_where(part, order, after), order=ORDERS[order])
        given = {**_given(part), **_place(after), "limit": limit - len(found)}
        found += read(client, _Key, text, given, settings=BY_DAY)
        if len(found) >= limit:
            break
    return found


def _slices(wanted: AnswerFilter, after: AnswerCursor | None) -> Iterator[tuple[int, int]]:
    """Intervals from the newest back, each longer than the one before: most pages need one."""
    until = min(wanted.until_ns, after.at_ns + 1) if after else wanted.until_ns
    length = FIRST_NS
    while until > wanted.since_ns:
        since = max(until - length, wanted.since_ns)
        yield since, until
        until, length = since, length * FURTHER


def _where(wanted: AnswerFilter, order: Order, after: AnswerCursor | None) -> str:
    parts = [WHERE]
    for name, condition in CONDITIONS.items():
        if getattr(wanted, name):
            parts.append(BAD if (name, wanted.label) == ("label", UNFAITHFUL) else condition)
    if after is not None:
        parts.append(AFTER[order])
    return " AND ".join(parts)


def _given(wanted: AnswerFilter) -> dict[str, object]:
    fields = asdict(wanted)
    return {"since": fields.pop("since_ns"), "until": fields.pop("until_ns"), **fields}


def _place(after: AnswerCursor | None) -> dict[str, object]:
    if after is None:
        return {}
    return {
        "at": after.at_ns,
        "trace": after.trace_id,
        "span": after.span_id,
        "by": after.verifier,
        "unfaithful": after.unfaithful,
    }


def _listed(client: Client, wanted: AnswerFilter, keys: Sequence[_Key]) -> tuple[ListedAnswer, ...]:
    """The rows of these keys, in their order."""
    if not keys:
        return ()
    given: dict[str, object] = {
        "since": min(key.start_ns for key in keys),
        "until": max(key.start_ns for key in keys) + 1,
        "services": sorted({key.service for key in keys}),
        "routes": sorted({key.route for key in keys}),
        "ticks": sorted({key.start_ns // 10**9 // 300 * 300 for key in keys}),
        "traces": sorted({key.trace_id for key in keys}),
    }
    rows = {
        (row.start_ns, row.trace_id, row.span_id, row.verifier): row
        for row in read(client, ListedAnswer, ROWS, given, settings=BY_DAY)
    }
    worst = {
        (row.trace_id, row.span_id, row.verifier): row
        for row in read(client, _WorstOf, WORST_CLAIMS, given, settings=BY_DAY)
    }
    found = (rows.get((key.start_ns, key.trace_id, key.span_id, key.verifier)) for key in keys)
    return tuple(
        _with_worst(row, worst.get((row.trace_id, row.span_id, row.verifier)))
        for row in found
        if row
    )


def _with_worst(row: ListedAnswer, worst: _WorstOf | None) -> ListedAnswer:
    if worst is None:
        return row
    return replace(
        row,
        worst_claim=worst.worst_claim,
        worst_claim_index=worst.worst_claim_index,
        worst_claim_label=worst.worst_claim_label,
    )
