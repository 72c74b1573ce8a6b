"""Lists of answers: by the page, the worst of a route, and whole with their claims."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Literal

from otel_rt4chart.verify.core.model import AnswerLabel, Claim
from rt4chart_collector.store.answers.claims import claims_since
from rt4chart_collector.store.answers.verifications import FINAL_PER_PARTITION, VERIFICATIONS
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.rows import read

HOUR_NS = 3_600 * 10**9
# The time that the first query covers, and how many times longer each further query reads.
FIRST_SLICE_NS, SLICE_GROWTH = HOUR_NS, 16
# The characters of a text that a list shows.
PREVIEW_CHARACTERS = 280
Order = Literal["newest", "worst"]
UNFAITHFUL = "unfaithful"

IN_WINDOW = """
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
UNFAITHFUL_LABELS = "Label IN ('contradicted', 'baseless')"
ORDER_COLUMNS: Mapping[str, str] = {
    "newest": "start_ns DESC, TraceId, SpanId, VerifierId",
    "worst": "unfaithful DESC, start_ns DESC, TraceId, SpanId, VerifierId",
}
# Keyset pagination: the rows after a cursor, for each order. A page begins where the page before
# ended, so the hundredth page costs as much as the first.
AFTER_CURSOR: Mapping[str, str] = {
    "newest": "(-toUnixTimestamp64Nano(Timestamp), TraceId, SpanId, VerifierId) "
    "> (-{at:Int64}, {trace:String}, {span:String}, {by:String})",
    "worst": "(-toInt64(ContradictedCount + BaselessCount), -toUnixTimestamp64Nano(Timestamp), "
    "TraceId, SpanId, VerifierId) "
    "> (-{unfaithful:Int64}, -{at:Int64}, {trace:String}, {span:String}, {by:String})",
}
ANSWER_KEYS = """
SELECT toUnixTimestamp64Nano(Timestamp) AS start_ns, TraceId AS trace_id, SpanId AS span_id,
    VerifierId AS verifier, ServiceName AS service, Route AS route,
    toInt64(ContradictedCount + BaselessCount) AS unfaithful
FROM rt4chart_verifications FINAL
WHERE {where}
ORDER BY {order} LIMIT {{limit:UInt32}}
"""
# The primary key (service, route, five minutes) finds the rows. PREWHERE on the trace, which is
# equal in all versions of a row and thus safe before FINAL, reads the long texts of these traces
# only.
OF_ANSWER_KEYS = f"""
PREWHERE TraceId IN {{traces:Array(String)}}
WHERE {IN_WINDOW}
  AND ServiceName IN {{services:Array(String)}} AND Route IN {{routes:Array(String)}}
  AND toStartOfFiveMinutes(Timestamp) IN {{ticks:Array(DateTime('UTC'))}}
"""
# The fields that a listed answer has in common with its verification.
LISTED_FIELDS = (
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
LISTED_ANSWERS = f"""
SELECT {VERIFICATIONS.select(*LISTED_FIELDS)}, ClaimCount AS claims, EntailedCount AS entailed,
    ContradictedCount AS contradicted, BaselessCount AS baseless, UndecidedCount AS undecided,
    substringUTF8(Question, 1, {PREVIEW_CHARACTERS}) AS question,
    substringUTF8(Answer, 1, {PREVIEW_CHARACTERS}) AS answer,
    lengthUTF8(Answer) AS characters
FROM rt4chart_verifications FINAL {OF_ANSWER_KEYS}
"""  # noqa: S608 - our own names
WORST_CLAIMS = f"""
SELECT TraceId AS trace_id, SpanId AS span_id, VerifierId AS verifier,
    ClaimIndex AS worst_claim_index, toString(Label) AS worst_claim_label,
    substringUTF8(Claim, 1, {PREVIEW_CHARACTERS}) AS worst_claim
FROM rt4chart_claims FINAL {OF_ANSWER_KEYS} AND {UNFAITHFUL_LABELS}
ORDER BY Label, ClaimIndex LIMIT 1 BY TraceId, SpanId, VerifierId
"""  # noqa: S608 - our own names


@dataclass(frozen=True, slots=True)
class AnswerFilter:
    """The answers to list; "" matches all. The label "unfaithful" stands for two labels.

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
    """The end of a page: the values of its last row that define the order."""

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
    def cursor(self) -> AnswerCursor:
        """The cursor from which the next page continues."""
        unfaithful = self.contradicted + self.baseless
        return AnswerCursor(self.start_ns, self.trace_id, self.span_id, self.verifier, unfaithful)


@dataclass(frozen=True, slots=True)
class AnswerPage:
    """Some answers in order; `after` is the cursor of the next page, None on the last page."""

    rows: tuple[ListedAnswer, ...]
    after: AnswerCursor | None


@dataclass(frozen=True, slots=True)
class _AnswerKeyRow:
    start_ns: int
    trace_id: str
    span_id: str
    verifier: str
    service: str
    route: str
    unfaithful: int


@dataclass(frozen=True, slots=True)
class _WorstClaimRow:
    trace_id: str
    span_id: str
    verifier: str
    worst_claim: str
    worst_claim_index: int
    worst_claim_label: str


def answer_page(
    client: Client,
    selection: AnswerFilter,
    *,
    order: Order = "newest",
    after: AnswerCursor | None = None,
    limit: int = 50,
) -> AnswerPage:
    """At most `limit` answers after a cursor: one row for each verifier with a decision."""
    keys = _read_keys(client, selection, order, after, limit + 1)
    rows = _read_listed(client, selection, keys[:limit])
    return AnswerPage(rows, rows[-1].cursor if len(keys) > limit and rows else None)


def _read_keys(
    client: Client, selection: AnswerFilter, order: Order, after: AnswerCursor | None, limit: int
) -> list[_AnswerKeyRow]:
    found: list[_AnswerKeyRow] = []
    slices = (
        _time_slices(selection, after)
        if order == "newest"
        else [(selection.since_ns, selection.until_ns)]
    )
    for since, until in slices:
        part = replace(selection, since_ns=since, until_ns=until)
        text = ANSWER_KEYS.format(where=_where(part, order, after), order=ORDER_COLUMNS[order])
        parameters = {
            **_filter_parameters(part),
            **_cursor_parameters(after),
            "limit": limit - len(found),
        }
        found += read(client, _AnswerKeyRow, text, parameters, settings=FINAL_PER_PARTITION)
        if len(found) >= limit:
            break
    return found


def _time_slices(selection: AnswerFilter, after: AnswerCursor | None) -> Iterator[tuple[int, int]]:
    """Intervals from the newest back, each longer than the one before; most pages need one only."""
    until = min(selection.until_ns, after.at_ns + 1) if after else selection.until_ns
    length = FIRST_SLICE_NS
    while until > selection.since_ns:
        since = max(until - length, selection.since_ns)
        yield since, until
        until, length = since, length * SLICE_GROWTH


def _where(selection: AnswerFilter, order: Order, after: AnswerCursor | None) -> str:
    parts = [IN_WINDOW]
    for name, condition in CONDITIONS.items():
        if getattr(selection, name):
            parts.append(
                UNFAITHFUL_LABELS if (name, selection.label) == ("label", UNFAITHFUL) else condition
            )
    if after is not None:
        parts.append(AFTER_CURSOR[order])
    return " AND ".join(parts)


def _filter_parameters(selection: AnswerFilter) -> dict[str, object]:
    fields = asdict(selection)
    return {"since": fields.pop("since_ns"), "until": fields.pop("until_ns"), **fields}


def _cursor_parameters(after: AnswerCursor | None) -> dict[str, object]:
    if after is None:
        return {}
    return {
        "at": after.at_ns,
        "trace": after.trace_id,
        "span": after.span_id,
        "by": after.verifier,
        "unfaithful": after.unfaithful,
    }


def _read_listed(
    client: Client, selection: AnswerFilter, keys: Sequence[_AnswerKeyRow]
) -> tuple[ListedAnswer, ...]:
    """The answers of these keys, in the same order."""
    if not keys:
        return ()
    parameters: dict[str, object] = {
        "since": min(key.start_ns for key in keys),
        "until": max(key.start_ns for key in keys) + 1,
        "services": sorted({key.service for key in keys}),
        "routes": sorted({key.route for key in keys}),
        "ticks": sorted({key.start_ns // 10**9 // 300 * 300 for key in keys}),
        "traces": sorted({key.trace_id for key in keys}),
    }
    rows = {
        (row.start_ns, row.trace_id, row.span_id, row.verifier): row
        for row in read(
            client, ListedAnswer, LISTED_ANSWERS, parameters, settings=FINAL_PER_PARTITION
        )
    }
    worst = {
        (row.trace_id, row.span_id, row.verifier): row
        for row in read(
            client, _WorstClaimRow, WORST_CLAIMS, parameters, settings=FINAL_PER_PARTITION
        )
    }
    found = (rows.get((key.start_ns, key.trace_id, key.span_id, key.verifier)) for key in keys)
    return tuple(
        _with_worst(row, worst.get((row.trace_id, row.span_id, row.verifier)))
        for row in found
        if row
    )


def _with_worst(row: ListedAnswer, worst: _WorstClaimRow | None) -> ListedAnswer:
    if worst is None:
        return row
    return replace(
        row,
        worst_claim=worst.worst_claim,
        worst_claim_index=worst.worst_claim_index,
        worst_claim_label=worst.worst_claim_label,
    )


WORST_ANSWERS = """
SELECT TraceId AS trace_id, SpanId AS span_id, toUnixTimestamp64Nano(Timestamp) AS time_ns,
    toUInt32(ContradictedCount) + BaselessCount AS unfaithful,
    toUInt32(EntailedCount) + ContradictedCount + BaselessCount AS decided
FROM rt4chart_verifications FINAL
WHERE IsDeleted = 0 AND Decision = 'verified' AND VerifierId = {verifier:String}
  AND ServiceName = {service:String} AND Route = {route:String}
  AND Timestamp >= fromUnixTimestamp64Nano({since:Int64})
  AND Timestamp < fromUnixTimestamp64Nano({until:Int64})
  AND ContradictedCount + BaselessCount > 0
ORDER BY unfaithful DESC, ContradictedCount DESC, unfaithful / decided DESC,
    Timestamp DESC, TraceId, SpanId
LIMIT {limit:UInt32}
"""
# PREWHERE on the trace: the texts of other answers' claims are not read.
WORST_CLAIM_OF_EACH = """
SELECT TraceId AS trace_id, SpanId AS span_id, toString(Label) AS label,
    toInt32(ClaimIndex) AS index, leftUTF8(Claim, {chars:UInt32}) AS claim
FROM rt4chart_claims FINAL
PREWHERE TraceId IN {traces:Array(String)}
WHERE IsDeleted = 0 AND VerifierId = {verifier:String}
  AND ServiceName = {service:String} AND Route = {route:String}
  AND toStartOfFiveMinutes(Timestamp) IN {ticks:Array(DateTime('UTC'))}
  AND Label IN ('contradicted', 'baseless')
ORDER BY Label = 'contradicted' DESC, Confidence DESC, ClaimIndex LIMIT 1 BY TraceId, SpanId
"""


@dataclass(frozen=True, slots=True)
class WorstAnswer:
    """An answer, the number of its unfaithful claims among the decided ones, and the worst claim.

    A contradicted claim is worse than a baseless one, then confidence decides. `claim` is the start
    of its text; `label` is "" and `index` -1 where the claim has expired.
    """

    trace_id: str
    span_id: str
    time_ns: int
    unfaithful: int
    decided: int
    label: str = ""
    index: int = -1
    claim: str = ""


@dataclass(frozen=True, slots=True)
class _WorstClaim:
    trace_id: str
    span_id: str
    label: str
    index: int
    claim: str


def worst_answers(
    client: Client,
    *,
    service: str,
    route: str,
    verifier: str,
    since_ns: int,
    until_ns: int,
    limit: int = 10,
    chars: int = 300,
) -> list[WorstAnswer]:
    """The answers with the most unfaithful claims of a route and a time, the worst first."""
    of_route = {"service": service, "route": route, "verifier": verifier}
    times = {"since": since_ns, "until": until_ns, "limit": limit}
    chosen = read(
        client, WorstAnswer, WORST_ANSWERS, {**of_route, **times}, settings=FINAL_PER_PARTITION
    )
    if not chosen:
        return []
    parameters = {
        **of_route,
        "traces": [answer.trace_id for answer in chosen],
        "ticks": sorted({answer.time_ns // 10**9 // 300 * 300 for answer in chosen}),
        "chars": chars,
    }
    worst = {
        (row.trace_id, row.span_id): row
        for row in read(
            client, _WorstClaim, WORST_CLAIM_OF_EACH, parameters, settings=FINAL_PER_PARTITION
        )
    }
    return sorted((_with_claim(answer, worst) for answer in chosen), key=_sort_order)


def _with_claim(answer: WorstAnswer, worst: Mapping[tuple[str, str], _WorstClaim]) -> WorstAnswer:
    row = worst.get((answer.trace_id, answer.span_id))
    return replace(answer, label=row.label, index=row.index, claim=row.claim) if row else answer


def _sort_order(answer: WorstAnswer) -> tuple[int, bool, float, int, str, str]:
    """Of equally many unfaithful claims: contradicted first, then larger share, then newer."""
    share = answer.unfaithful / answer.decided
    is_mild = answer.label != "contradicted"
    return -answer.unfaithful, is_mild, -share, -answer.time_ns, answer.trace_id, answer.span_id


VERIFIED_ANSWERS = """
SELECT TraceId AS trace_id, SpanId AS span_id, VerifierId AS verifier, ServiceName AS service,
    Route AS route, Question AS question, Answer AS answer, toString(Label) AS label,
    Metadata AS metadata
FROM rt4chart_verifications AS v FINAL
LEFT ANY JOIN (
    SELECT TraceId, SpanId, any(SpanAttributes['metadata']) AS Metadata
    FROM otel_traces GROUP BY TraceId, SpanId
) AS t USING (TraceId, SpanId)
WHERE v.Decision = 'verified' AND v.IsDeleted = 0
  AND v.Timestamp >= fromUnixTimestamp64Nano({since:Int64})
ORDER BY ServiceName, Route, Timestamp, TraceId, SpanId, VerifierId
LIMIT {limit:UInt32}
"""


@dataclass(frozen=True, slots=True)
class StoredAnswer:
    """One verdict on an answer; `metadata` is the attribute of that name of its span."""

    trace_id: str
    span_id: str
    verifier: str
    service: str
    route: str
    question: str
    answer: str
    label: AnswerLabel
    metadata: str
    claims: tuple[Claim, ...] = ()


def verified_answers(
    client: Client, *, since_ns: int = 0, limit: int = 10_000
) -> list[StoredAnswer]:
    """The verified answers since then, by service, route and time, at most `limit` of them."""
    claims: defaultdict[tuple[str, str, str], list[Claim]] = defaultdict(list)
    for row in claims_since(client, since_ns):
        claims[row.trace_id, row.span_id, row.verifier].append(row.claim)
    found = read(client, StoredAnswer, VERIFIED_ANSWERS, {"since": since_ns, "limit": limit})
    return [
        replace(answer, claims=tuple(claims[answer.trace_id, answer.span_id, answer.verifier]))
        for answer in found
    ]
