"""Verdicts: claims and verifications written so that what comes twice counts once."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Sequence
from dataclasses import asdict

from otel_rt4chart.spans.model.verdict import Candidate, Decision, Verdict
from otel_rt4chart.verify.core.model import Claim, Finding, Label, Report, Usage
from rt4chart_collector.store.connect import Client
from rt4chart_collector.store.layout import NAME, Layout, Row, token_of

ANSWER_LABELS = (
    "Enum8('entailed' = 1, 'contradicted' = 2, 'baseless' = 3, 'undecided' = 4, "
    "'no_claims' = 5, 'none' = 6)"
)
CLAIM_LABELS = (
    "Enum8('entailed' = 1, 'contradicted' = 2, 'baseless' = 3, 'undecided' = 4, 'not_a_claim' = 5)"
)
# Both tables begin with what says which answer a row is about: the first six are the sort key.
IDENTITY = (
    ("Timestamp", "DateTime64(9, 'UTC')"),
    ("TraceId", "String"),
    ("SpanId", "String"),
    ("ServiceName", NAME),
    ("Route", NAME),
    ("VerifierId", NAME),
    ("Environment", NAME),
    ("Model", NAME),
)
WRITING = (("Version", "UInt64"), ("IsDeleted", "UInt8"))
VERIFICATIONS = Layout(
    "rt4chart_verifications",
    (
        *IDENTITY,
        ("PromptVersion", NAME),
        ("Release", NAME),
        ("SessionId", "String"),
        ("Decision", NAME),
        ("Label", ANSWER_LABELS),
        ("SampleRate", "Float64"),
        ("ClaimCount", "UInt16"),
        ("EntailedCount", "UInt16"),
        ("ContradictedCount", "UInt16"),
        ("BaselessCount", "UInt16"),
        ("UndecidedCount", "UInt16"),
        ("VerifyDurationNs", "UInt64"),
        ("JudgeCalls", "UInt32"),
        ("InputTokens", "UInt32"),
        ("OutputTokens", "UInt32"),
        ("CacheHits", "UInt32"),
        ("Question", "String"),
        ("Answer", "String"),
        ("Findings", "String"),
        ("Error", "String"),
        ("Passages.Id", "Array(String)"),
        ("Passages.Stages", f"Array({NAME})"),
        ("Passages.IsContext", "Array(UInt8)"),
        *WRITING,
    ),
)
CLAIMS = Layout(
    "rt4chart_claims",
    (
        *IDENTITY,
        ("ClaimIndex", "UInt16"),
        ("Claim", "String"),
        ("Label", CLAIM_LABELS),
        ("LocalLabel", CLAIM_LABELS),
        ("Kind", NAME),
        ("Confidence", "Float32"),
        ("DecidedBy", NAME),
        ("Reason", NAME),
        ("SentenceIndex", "UInt16"),
        ("AnswerStart", "UInt32"),
        ("AnswerEnd", "UInt32"),
        ("Nearest", "String"),
        ("Evidence.DocId", "Array(String)"),
        ("Evidence.Start", "Array(UInt32)"),
        ("Evidence.End", "Array(UInt32)"),
        ("Evidence.Relation", f"Array({NAME})"),
        ("Evidence.Text", "Array(String)"),
        ("Clashes.Slot", f"Array({NAME})"),
        ("Clashes.Claimed", "Array(String)"),
        ("Clashes.Found", "Array(String)"),
        *WRITING,
    ),
)
KEY = slice(0, 6)
CLAIM_KEY = slice(0, 9)
AnswerKey = tuple[str, str]
# An answer that lacked something may be looked at again when the rest of its trace has come.
PROVISIONAL = (
    Decision.NO_CONTENT,
    Decision.NO_CONTEXT,
    Decision.REDACTED,
    Decision.TRUNCATED,
)


def insert_verdicts(client: Client, verdicts: Sequence[Verdict]) -> None:
    """Store the verdicts: claims first, then the verifications, which make them count.

    The same batch twice is stored once. A later verdict on an answer replaces the earlier one with
    all its claims, in the rollup too.
    """
    latest = {_identity(verdict)[1:]: verdict for verdict in sorted(verdicts, key=_decided)}
    if not latest:
        return
    batch = list(latest.values())
    candidates = [verdict.candidate for verdict in batch]
    before = _stored(client, VERIFICATIONS, candidates, key=KEY)
    floor = {(row[1], row[2], row[5]): row[-2] + 2 for row in before}
    versions = [max(v.decided_ns, floor.get(key, 0)) for key, v in latest.items()]
    claims = [
        _claim_row(verdict, index, claim, version)
        for verdict, version in zip(batch, versions, strict=True)
        for index, claim in enumerate(verdict.report.claims if verdict.report else ())
    ]
    gone = _superseded_claims(client, candidates, before, latest, written=claims)
    token = [_identity(verdict) for verdict in batch]
    CLAIMS.insert(client, [*claims, *gone], token=token_of("claims", token))
    rows = [_row(verdict, version) for verdict, version in zip(batch, versions, strict=True)]
    replaced = [_deleted(row) for row in before if (row[1], row[2], row[5]) in latest]
    VERIFICATIONS.insert(client, [*replaced, *rows], token=token_of("verifications", token))


def already_decided(
    client: Client, candidates: Collection[Candidate], verifier: str
) -> dict[AnswerKey, Decision]:
    """What this verifier decided on these answers before, by (trace id, span id)."""
    return {key: decision for key, (decision, _) in decided(client, candidates, verifier).items()}


def decided(
    client: Client, candidates: Collection[Candidate], verifier: str
) -> dict[AnswerKey, tuple[Decision, float]]:
    """The same with the probability that the answer was in the sample."""
    rows = _stored(client, VERIFICATIONS, candidates, key=KEY)
    names = [name for name, _ in VERIFICATIONS.columns]
    decision, rate = names.index("Decision"), names.index("SampleRate")
    return {
        (row[1], row[2]): (Decision(row[decision]), row[rate]) for row in rows if row[5] == verifier
    }


def _stored(
    client: Client, layout: Layout, candidates: Collection[Candidate], *, key: slice
) -> list[Row]:
    """The rows in force for these answers; an answer's time never changes, so it bounds them."""
    if not candidates:
        return []
    found = client.query(
        f"SELECT {layout.selection} FROM {layout.table} "  # noqa: S608 - our own names alone
        "WHERE TraceId IN {ids:Array(String)} "
        "AND Timestamp >= fromUnixTimestamp64Nano({first:Int64}) "
        "AND Timestamp <= fromUnixTimestamp64Nano({last:Int64}) ORDER BY Version",
        {
            "ids": sorted({candidate.trace_id for candidate in candidates}),
            "first": min(candidate.start_ns for candidate in candidates),
            "last": max(candidate.start_ns for candidate in candidates),
        },
    ).result_rows
    in_force = {tuple(row[key]): tuple(row) for row in found}
    wanted = {(candidate.trace_id, candidate.span_id) for candidate in candidates}
    return [row for row in in_force.values() if not row[-1] and (row[1], row[2]) in wanted]


def _superseded_claims(
    client: Client,
    candidates: Collection[Candidate],
    before: Sequence[Row],
    latest: Collection[tuple[str, str, str]],
    *,
    written: Iterable[Row],
) -> list[Row]:
    """Tombstones for the claims of earlier verdicts that the new rows do not overwrite."""
    if not any((row[1], row[2], row[5]) in latest for row in before):
        return []
    kept = {row[CLAIM_KEY] for row in written}
    stored = _stored(client, CLAIMS, candidates, key=CLAIM_KEY)
    return [
        _deleted(row)
        for row in stored
        if (row[1], row[2], row[5]) in latest and row[CLAIM_KEY] not in kept
    ]


def _deleted(row: Row) -> Row:
    return (*row[:-2], row[-2] + 1, 1)


def _decided(verdict: Verdict) -> int:
    return verdict.decided_ns


def _identity(verdict: Verdict) -> tuple[int, str, str, str]:
    candidate = verdict.candidate
    return (verdict.decided_ns, candidate.trace_id, candidate.span_id, verdict.verifier)


def _identity_columns(verdict: Verdict) -> Row:
    candidate = verdict.candidate
    return (
        candidate.start_ns,
        candidate.trace_id,
        candidate.span_id,
        candidate.service,
        candidate.route,
        verdict.verifier,
        candidate.environment,
        candidate.model,
    )


def _row(verdict: Verdict, version: int) -> Row:
    report = verdict.report
    usage = report.usage if report else Usage()
    return (
        *_identity_columns(verdict),
        verdict.candidate.prompt_version,
        verdict.candidate.release,
        verdict.candidate.session,
        verdict.decision.value,
        report.label.value if report else "none",
        verdict.sample_rate,
        *_counts(report),
        verdict.duration_ns,
        usage.calls,
        usage.input_tokens,
        usage.output_tokens,
        usage.cache_hits,
        verdict.candidate.exchange.question,
        verdict.candidate.exchange.answer,
        _json([_told(finding) for finding in report.findings] if report else []),
        verdict.error,
        *_passage_columns(verdict.candidate),
        version,
        0,
    )


def _passage_columns(candidate: Candidate) -> tuple[list[str], list[str], list[int]]:
    """The passages' ids, stages and whether the answer had them; their texts are in the spans."""
    context = {passage.id for passage in candidate.exchange.passages}
    return (
        [one.passage.id for one in candidate.staged],
        [",".join(one.stages) for one in candidate.staged],
        [int(one.passage.id in context) for one in candidate.staged],
    )


def _told(finding: Finding) -> dict[str, object]:
    """A finding without the fields that say nothing."""
    return {name: value for name, value in asdict(finding).items() if value not in (None, "", ())}


def _counts(report: Report | None) -> tuple[int, ...]:
    """All claims that can be decided, then those of each label."""
    labels = (Label.ENTAILED, Label.CONTRADICTED, Label.BASELESS, Label.UNDECIDED)
    counts = tuple(report.count(label) if report else 0 for label in labels)
    return (sum(counts), *counts)


def _claim_row(verdict: Verdict, index: int, claim: Claim, version: int) -> Row:
    evidence, clashes = claim.evidence, claim.clashes
    return (
        *_identity_columns(verdict),
        index,
        claim.text,
        claim.label.value,
        claim.local_label.value,
        claim.kind,
        claim.confidence,
        claim.decided_by,
        claim.reason,
        claim.sentence,
        *claim.answer_range,
        claim.nearest,
        [found.passage_id for found in evidence],
        [found.start for found in evidence],
        [found.end for found in evidence],
        [found.relation for found in evidence],
        [found.text for found in evidence],
        [clash.slot for clash in clashes],
        [clash.claimed for clash in clashes],
        [clash.found for clash in clashes],
        version,
        0,
    )


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
