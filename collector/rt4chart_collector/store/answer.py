"""One answer whole: what each verifier decided on it, its claims, and the issues that hold them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from otel_rt4chart.spans.model.verdict import Decision
from otel_rt4chart.verify.core.model import Evidence, Finding
from rt4chart_collector.store.connect import Client
from rt4chart_collector.store.issue_events import RENAMED, aliases_among, last_events
from rt4chart_collector.store.passages import SeenPassage, stages_of

# A row's key holds its time, so the writings of a row never lie in two days: FINAL need not look.
BY_DAY = {"do_not_merge_across_partitions_select_final": 1}
# The trace's index finds the rows; of each writing of a row the last one counts, as under FINAL.
VERIFICATIONS = """
SELECT * FROM (
    SELECT TraceId, SpanId, toUnixTimestamp64Nano(Timestamp) AS Start, VerifierId, ServiceName,
        Route, Environment, Model, PromptVersion, Release, SessionId, Decision,
        toString(Label) AS AnswerLabel, SampleRate, ClaimCount, EntailedCount, ContradictedCount,
        BaselessCount, UndecidedCount, VerifyDurationNs, JudgeCalls, InputTokens, OutputTokens,
        CacheHits, Question, Answer, Findings, Error, Passages.Id AS PassageIds,
        Passages.Stages AS PassageStages, Passages.IsContext AS PassageIsContext, Version, IsDeleted
    FROM rt4chart_verifications
    WHERE TraceId = {trace:String} AND SpanId = {span:String}
    ORDER BY Version DESC
    LIMIT 1 BY ServiceName, Route, Start, VerifierId
)
WHERE IsDeleted = 0
ORDER BY Decision != 'verified', Version DESC, VerifierId
LIMIT 1 BY VerifierId
"""
ASSIGNED = """
SELECT ClaimIndex, IssueId FROM rt4chart_issue_assignments FINAL
WHERE ServiceName = {service:String} AND Route = {route:String} AND TraceId = {trace:String}
  AND SpanId = {span:String} AND IsDeleted = 0 AND Version > {version:UInt64}
  AND Timestamp = fromUnixTimestamp64Nano({start:Int64})
ORDER BY ClaimIndex, IssueId
"""
TITLES = """
SELECT IssueId, Title, toString(Status) FROM rt4chart_issues FINAL
WHERE IssueId IN {ids:Array(UInt64)} AND IsDeleted = 0
"""


@dataclass(frozen=True, slots=True)
class Counts:
    """Claims by label; `claims` are all that can be decided."""

    claims: int
    entailed: int
    contradicted: int
    baseless: int
    undecided: int

    @property
    def decided(self) -> int:
        """What stands in a rate's denominator."""
        return self.entailed + self.contradicted + self.baseless

    @property
    def unfaithful(self) -> int:
        """What counts against the answer."""
        return self.contradicted + self.baseless


@dataclass(frozen=True, slots=True)
class Cost:
    """What the verification took."""

    duration_ns: int
    calls: int
    input_tokens: int
    output_tokens: int
    cache_hits: int


@dataclass(frozen=True, slots=True)
class Verification:
    """What one verifier decided on one answer; `label` is "none" where it was not verified.

    `version` orders the writings; it is the time of the decision in nanoseconds, or a little later.
    """

    trace_id: str
    span_id: str
    start_ns: int
    verifier: str
    service: str
    route: str
    environment: str
    model: str
    prompt_version: str
    release: str
    session: str
    decision: Decision
    label: str
    sample_rate: float
    counts: Counts
    cost: Cost
    question: str
    answer: str
    findings: tuple[Finding, ...]
    error: str
    passages: tuple[SeenPassage, ...]
    version: int


@dataclass(frozen=True, slots=True)
class HeldBy:
    """The issue that a claim belongs to, by its number in the answer (-1: the whole answer)."""

    claim: int
    issue: int
    title: str
    state: str


def verifications_of(client: Client, trace_id: str, span_id: str) -> list[Verification]:
    """What every verifier decided on the answer: those that verified it first, the last of them on
    top; nothing where the answer is not known.
    """
    given = {"trace": trace_id, "span": span_id}
    return [_verification(row) for row in client.query(VERIFICATIONS, given).named_results()]


def issues_holding(client: Client, one: Verification) -> list[HeldBy]:
    """The issues that the answer's claims belong to, by claim; an alias is what it stands for."""
    given = {
        "service": one.service,
        "route": one.route,
        "trace": one.trace_id,
        "span": one.span_id,
        "start": one.start_ns,
        "version": one.version,
    }
    assigned: Sequence[Sequence[int]] = client.query(ASSIGNED, given, settings=BY_DAY).result_rows
    if not assigned:
        return []
    events = last_events(client)
    roots = aliases_among(events)
    pairs = [(claim, roots.get(issue, issue)) for claim, issue in assigned]
    rows = client.query(TITLES, {"ids": sorted({issue for _, issue in pairs})}).result_rows
    written: dict[int, tuple[str, str]] = {issue: (title, state) for issue, title, state in rows}

    def held(claim: int, issue: int) -> HeldBy:
        title, state = written.get(issue, ("", ""))
        last = {kind: event.value for kind, event in events.get(issue, {}).items()}
        named = last.get(RENAMED, "") or last.get("titled", "") or title
        return HeldBy(claim, issue, named, last.get("state", state))

    return [held(*pair) for pair in pairs]


def _verification(row: Mapping[str, Any]) -> Verification:
    return Verification(
        trace_id=row["TraceId"],
        span_id=row["SpanId"],
        start_ns=row["Start"],
        verifier=row["VerifierId"],
        service=row["ServiceName"],
        route=row["Route"],
        environment=row["Environment"],
        model=row["Model"],
        prompt_version=row["PromptVersion"],
        release=row["Release"],
        session=row["SessionId"],
        decision=Decision(row["Decision"]),
        label=row["AnswerLabel"],
        sample_rate=row["SampleRate"],
        counts=_counts(row),
        cost=_cost(row),
        question=row["Question"],
        answer=row["Answer"],
        findings=findings_from(row["Findings"]),
        error=row["Error"],
        passages=_seen(row["PassageIds"], row["PassageStages"], row["PassageIsContext"]),
        version=row["Version"],
    )


def _counts(row: Mapping[str, Any]) -> Counts:
    return Counts(
        row["ClaimCount"],
        row["EntailedCount"],
        row["ContradictedCount"],
        row["BaselessCount"],
        row["UndecidedCount"],
    )


def _cost(row: Mapping[str, Any]) -> Cost:
    return Cost(
        row["VerifyDurationNs"],
        row["JudgeCalls"],
        row["InputTokens"],
        row["OutputTokens"],
        row["CacheHits"],
    )


def _seen(
    ids: Sequence[str], stages: Sequence[str], is_context: Sequence[int]
) -> tuple[SeenPassage, ...]:
    return tuple(
        SeenPassage(name, stages_of(written), bool(given))
        for name, written, given in zip(ids, stages, is_context, strict=True)
    )


def findings_from(written: str) -> tuple[Finding, ...]:
    """Findings as the store has them (JSON); what a later version wrote and we cannot read is left
    out.
    """
    try:
        listed = json.loads(written or "[]")
    except ValueError:
        return ()
    return tuple(_finding(one) for one in listed if isinstance(one, dict) and "name" in one)


def _finding(one: Mapping[str, Any]) -> Finding:
    return Finding(
        name=str(one["name"]),
        detail=str(one.get("detail", "")),
        kind=str(one.get("kind", "")),
        claim=one.get("claim"),
        passage_ids=tuple(one.get("passage_ids", ())),
        evidence=tuple(
            Evidence(
                str(given.get("passage_id", "")),
                int(given.get("start", 0)),
                int(given.get("end", 0)),
                str(given.get("text", "")),
                given.get("relation", "supports"),
            )
            for given in one.get("evidence", ())
        ),
        value=one.get("value"),
    )
