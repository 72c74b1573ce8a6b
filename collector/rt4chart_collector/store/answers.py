"""Verified answers with their claims and evidence, read back whole."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from otel_rt4chart.verify import AnswerLabel, AnswerRange, Evidence, Label
from rt4chart_collector.store.connect import Client
from rt4chart_collector.store.evidence import evidence_from_row
from rt4chart_collector.store.verdicts import AnswerKey

ANSWERS = """
SELECT TraceId, SpanId, VerifierId, ServiceName, Route, Question, Answer,
    toString(Label) AS Label, Metadata
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
OF_CLAIMS = """\
SELECT TraceId, SpanId, VerifierId, Claim, toString(Label) AS Label, Confidence,
    AnswerStart, AnswerEnd, Reason,
    Evidence.DocId AS DocId, Evidence.Start AS EvidenceStart, Evidence.End AS EvidenceEnd,
    Evidence.Text AS EvidenceText, Evidence.Relation AS Relation
FROM rt4chart_claims FINAL"""
CLAIMS = f"""
{OF_CLAIMS}
WHERE IsDeleted = 0 AND Timestamp >= fromUnixTimestamp64Nano({{since:Int64}})
ORDER BY TraceId, SpanId, ClaimIndex
"""
CLAIMS_OF = f"""
{OF_CLAIMS}
WHERE IsDeleted = 0 AND (TraceId, SpanId) IN {{keys:Array(Tuple(String, String))}}
  AND (TraceId, SpanId, VerifierId) IN (
    SELECT TraceId, SpanId, argMax(VerifierId, Version) FROM rt4chart_verifications FINAL
    WHERE IsDeleted = 0 AND Decision = 'verified'
      AND (TraceId, SpanId) IN {{keys:Array(Tuple(String, String))}}
    GROUP BY TraceId, SpanId)
ORDER BY TraceId, SpanId, ClaimIndex
"""  # noqa: S608 - our own names


@dataclass(frozen=True, slots=True)
class StoredClaim:
    """One claim as it was written; `answer_range` is in characters of the answer."""

    text: str
    label: Label
    confidence: float
    answer_range: AnswerRange
    reason: str
    evidence: tuple[Evidence, ...]


@dataclass(frozen=True, slots=True)
class StoredAnswer:
    """One verdict on an answer; `metadata` is its span's attribute of that name, as written."""

    trace_id: str
    span_id: str
    verifier: str
    service: str
    route: str
    question: str
    answer: str
    label: AnswerLabel
    metadata: str
    claims: tuple[StoredClaim, ...]


def answers(client: Client, *, since_ns: int = 0, limit: int = 10_000) -> list[StoredAnswer]:
    """The verified answers since then, by service, route and time, at most `limit` of them."""
    claims: defaultdict[tuple[str, ...], list[StoredClaim]] = defaultdict(list)
    for row in client.query(CLAIMS, parameters={"since": since_ns}).named_results():
        claims[_key(row)].append(_claim_from_row(row))
    found = client.query(ANSWERS, parameters={"since": since_ns, "limit": limit})
    return [
        StoredAnswer(
            trace_id=row["TraceId"],
            span_id=row["SpanId"],
            verifier=row["VerifierId"],
            service=row["ServiceName"],
            route=row["Route"],
            question=row["Question"],
            answer=row["Answer"],
            label=AnswerLabel(row["Label"]),
            metadata=row["Metadata"],
            claims=tuple(claims[_key(row)]),
        )
        for row in found.named_results()
    ]


def claims_of(client: Client, keys: Sequence[AnswerKey]) -> dict[AnswerKey, list[StoredClaim]]:
    """The claims of these answers (trace and span) by the verifier that judged each last."""
    found: defaultdict[AnswerKey, list[StoredClaim]] = defaultdict(list)
    for row in client.query(CLAIMS_OF, parameters={"keys": list(keys)}).named_results():
        found[row["TraceId"], row["SpanId"]].append(_claim_from_row(row))
    return dict(found)


def _key(row: Mapping[str, Any]) -> tuple[str, ...]:
    return (row["TraceId"], row["SpanId"], row["VerifierId"])


def _claim_from_row(row: Mapping[str, Any]) -> StoredClaim:
    return StoredClaim(
        text=row["Claim"],
        label=Label(row["Label"]),
        confidence=row["Confidence"],
        answer_range=AnswerRange(row["AnswerStart"], row["AnswerEnd"]),
        reason=row["Reason"],
        evidence=evidence_from_row(row),
    )
