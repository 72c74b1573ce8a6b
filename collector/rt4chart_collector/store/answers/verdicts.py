"""Writes verdicts: a repeated verdict counts once, a later verdict replaces an earlier one."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from dataclasses import replace
from typing import TypeVar

from otel_rt4chart.core.tenants import tenant_of_service
from otel_rt4chart.spans.model.shortening import shorten_text
from otel_rt4chart.spans.model.verdict import Candidate, Decision, Verdict
from otel_rt4chart.verify.core.model import Advice, Claim, Label, Report, Usage
from otel_rt4chart.verify.language.question_kind import question_kind
from rt4chart_collector.store.answers.claims import CLAIMS, ClaimRow
from rt4chart_collector.store.answers.criteria import CRITERIA, criterion_row
from rt4chart_collector.store.answers.trails import TRAILS, TrailRow, trail_row
from rt4chart_collector.store.answers.verifications import (
    VERIFICATIONS,
    Checked,
    CitationCounts,
    ClaimCounts,
    Cost,
    MisleadingClaims,
    SeenPassage,
    Verification,
)
from rt4chart_collector.store.engine.columns import AnswerKey, VerdictRow
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.rows import RowTable, batch_token, field_values, read

# An incomplete answer may be decided again when the rest of its trace has arrived.
PROVISIONAL = (
    Decision.NO_CONTENT,
    Decision.NO_ANSWER,
    Decision.NO_CONTEXT,
    Decision.REDACTED,
    Decision.TRUNCATED,
)
# A question is stored with each answer that it has; the whole one is in its span. Hundreds of
# answers of one trace may share a question of megabytes.
QUESTION_BYTES = 32 * 2**10

_Stored = TypeVar("_Stored", Verification, ClaimRow, TrailRow)
_OfClaim = TypeVar("_OfClaim", ClaimRow, TrailRow)


def insert_verdicts(client: Client, verdicts: Sequence[Verdict]) -> None:
    """Store the verdicts: a verification makes its claims count, so it comes last.

    The same batch twice is stored once. A later verdict on an answer replaces the earlier verdict
    and all its claims, in the rollup too.
    """
    latest = {
        _verdict_key(verdict): verdict
        for verdict in sorted(verdicts, key=lambda verdict: verdict.decided_ns)
    }
    if not latest:
        return
    candidates = [verdict.candidate for verdict in latest.values()]
    before = [
        row
        for row in _rows_in_force(client, VERIFICATIONS, candidates, key=_sort_key)
        if _row_key(row) in latest
    ]
    # The highest version wins: it must exceed the tombstone of the replaced row (version + 1) even
    # if this writer's clock is behind.
    floor = {_row_key(row): row.version + 2 for row in before}
    rows = [
        _verification(verdict, max(verdict.decided_ns, floor.get(key, 0)))
        for key, verdict in latest.items()
    ]
    claims = [
        _claim_row(row, index, claim)
        for row, verdict in zip(rows, latest.values(), strict=True)
        for index, claim in enumerate(verdict.report.claims if verdict.report else ())
    ]
    trails = [
        trail_row(row, report.claims[blame.claim].label, blame)
        for row, verdict in zip(rows, latest.values(), strict=True)
        if (report := verdict.report) is not None
        for blame in verdict.trail
    ]
    criteria = [
        criterion_row(row, one)
        for row, verdict in zip(rows, latest.values(), strict=True)
        for one in verdict.criteria
    ]
    replaced_keys = set(floor)
    gone = _superseded(client, CLAIMS, candidates, replaced_keys, written=claims)
    lost = _superseded(client, TRAILS, candidates, replaced_keys, written=trails)
    # The token is of the verdicts alone: after an attempt that wrote the claims only, a retry finds
    # other rows in `gone`, and must be recognized all the same.
    token = [(verdict.decided_ns, *key) for key, verdict in latest.items()]
    CRITERIA.insert(client, criteria, token=batch_token("criteria", token))
    TRAILS.insert(client, [*trails, *lost], token=batch_token("trails", token))
    CLAIMS.insert(client, [*claims, *gone], token=batch_token("claims", token))
    replaced = [_deleted(row) for row in before]
    VERIFICATIONS.insert(client, [*replaced, *rows], token=batch_token("verifications", token))


def already_decided(
    client: Client, candidates: Collection[Candidate], verifier: str
) -> dict[AnswerKey, Decision]:
    """This verifier's earlier decisions on these answers, by (trace id, span id)."""
    return {
        key: decision for key, (decision, _) in past_decisions(client, candidates, verifier).items()
    }


def past_decisions(
    client: Client, candidates: Collection[Candidate], verifier: str
) -> dict[AnswerKey, tuple[Decision, float]]:
    """This verifier's earlier decisions with the sample rate of each answer."""
    rows = _rows_in_force(client, VERIFICATIONS, candidates, key=_sort_key)
    return {row.key: (row.decision, row.sample_rate) for row in rows if row.verifier == verifier}


def _rows_in_force(
    client: Client,
    table: RowTable[_Stored],
    candidates: Collection[Candidate],
    *,
    key: Callable[[_Stored], Hashable],
) -> list[_Stored]:
    """The current rows of these answers; their fixed start times limit the partitions to read."""
    if not candidates:
        return []
    query = (
        f"SELECT {table.select()} FROM {table.name} "  # noqa: S608 - our own names alone
        "WHERE TraceId IN {ids:Array(String)} "
        "AND Timestamp >= fromUnixTimestamp64Nano({first:Int64}) "
        "AND Timestamp <= fromUnixTimestamp64Nano({last:Int64}) ORDER BY Version"
    )
    parameters = {
        "ids": sorted({candidate.trace_id for candidate in candidates}),
        "first": min(candidate.start_ns for candidate in candidates),
        "last": max(candidate.start_ns for candidate in candidates),
    }
    in_force = {key(row): row for row in read(client, table.row, query, parameters)}
    keys = {(one.trace_id, one.span_id, tenant_of_service(one.service)) for one in candidates}
    return [
        row
        for row in in_force.values()
        if not row.is_deleted
        and (row.trace_id, row.span_id, tenant_of_service(row.service)) in keys
    ]


def _superseded(
    client: Client,
    table: RowTable[_OfClaim],
    candidates: Collection[Candidate],
    replaced: Collection[tuple[str, str, str, str]],
    *,
    written: Iterable[_OfClaim],
) -> list[_OfClaim]:
    """Tombstones for the rows of earlier verdicts' claims that the new rows do not replace."""
    if not replaced:
        return []
    rewritten = {_claim_key(row) for row in written}
    return [
        _deleted(row)
        for row in _rows_in_force(client, table, candidates, key=_claim_key)
        if _row_key(row) in replaced and _claim_key(row) not in rewritten
    ]


def _deleted(row: _Stored) -> _Stored:
    return replace(row, version=row.version + 1, is_deleted=True)


def _verdict_key(verdict: Verdict) -> tuple[str, str, str, str]:
    one = verdict.candidate
    return (one.trace_id, one.span_id, verdict.verifier, tenant_of_service(one.service))


def _row_key(row: VerdictRow) -> tuple[str, str, str, str]:
    """What a later verdict replaces: never that of another tenant, whose sender chose its ids."""
    return (row.trace_id, row.span_id, row.verifier, tenant_of_service(row.service))


def _sort_key(row: VerdictRow) -> tuple[Hashable, ...]:
    """The sorting key of the verifications: rows that share it replace each other."""
    return (row.service, row.route, row.start_ns, *_row_key(row))


def _claim_key(row: ClaimRow | TrailRow) -> tuple[Hashable, ...]:
    """The sorting key of the claims and of their trails."""
    return (*_sort_key(row), row.index)


def rows_of(verdict: Verdict) -> tuple[Verification, list[ClaimRow]]:
    """The verdict as it would be stored."""
    verification = _verification(verdict, verdict.decided_ns)
    claims = verdict.report.claims if verdict.report else ()
    return verification, [_claim_row(verification, *one) for one in enumerate(claims)]


def _verification(verdict: Verdict, version: int) -> Verification:
    candidate, report = verdict.candidate, verdict.report
    usage = report.usage if report else Usage()
    return Verification(
        **field_values(candidate, VerdictRow),
        environment=candidate.environment,
        model=candidate.model,
        prompt_version=candidate.prompt_version,
        release=candidate.release,
        session=candidate.session,
        verifier=verdict.verifier,
        decision=verdict.decision,
        label=report.label.value if report else "none",
        sample_rate=verdict.sample_rate,
        counts=_counts(report),
        misleading=_misleading(report),
        checks=report.plan.rates if report else {},
        statuses=report.status_weights if report else {},
        citations=CitationCounts(verdict.citations, verdict.citation_errors),
        advice=report.advice if report else Advice(),
        cost=Cost(duration_ns=verdict.duration_ns, **field_values(usage, Cost)),
        question=shorten_text(candidate.exchange.question, QUESTION_BYTES),
        question_kind=question_kind(candidate.exchange.question) if report else "",
        answer=candidate.exchange.answer,
        findings=verdict.findings,
        error=verdict.error,
        passages=_passages(candidate),
        version=version,
    )


def _passages(candidate: Candidate) -> tuple[SeenPassage, ...]:
    """The passages without their texts, which are in the spans."""
    context = {passage.id for passage in candidate.exchange.passages}
    return tuple(
        SeenPassage(passage.passage.id, frozenset(passage.stages), passage.passage.id in context)
        for passage in candidate.staged
    )


def _counts(report: Report | None) -> ClaimCounts:
    if report is None:
        return ClaimCounts(0, 0, 0, 0, 0)
    labels = (Label.ENTAILED, Label.CONTRADICTED, Label.BASELESS, Label.UNDECIDED)
    counts = [report.count(label) for label in labels]
    return ClaimCounts(sum(counts), *counts)


def _misleading(report: Report | None) -> MisleadingClaims:
    if report is None:
        return MisleadingClaims()
    checked = Checked.FULLY if report.plan.is_complete else Checked.PARTLY
    claims = report.misleading
    return MisleadingClaims(len(claims), sum(1 / claim.check_rate for claim in claims), checked)


def _claim_row(verification: Verification, index: int, claim: Claim) -> ClaimRow:
    """The row of a claim; every field of the claim has the same name in the row."""
    return ClaimRow(
        **field_values(verification, VerdictRow),
        environment=verification.environment,
        model=verification.model,
        index=index,
        version=verification.version,
        **field_values(claim),
    )
