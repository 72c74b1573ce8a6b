"""Verified answers with their claims, read back whole."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace

from otel_rt4chart.verify.core.model import AnswerLabel, Claim
from rt4chart_collector.store.answers.claims import claims_since
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.rows import read

ANSWERS = """
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
    claims: tuple[Claim, ...] = ()


def answers(client: Client, *, since_ns: int = 0, limit: int = 10_000) -> list[StoredAnswer]:
    """The verified answers since then, by service, route and time, at most `limit` of them."""
    claims: defaultdict[tuple[str, str, str], list[Claim]] = defaultdict(list)
    for row in claims_since(client, since_ns):
        claims[row.trace_id, row.span_id, row.verifier].append(row.claim)
    found = read(client, StoredAnswer, ANSWERS, {"since": since_ns, "limit": limit})
    return [
        replace(one, claims=tuple(claims[one.trace_id, one.span_id, one.verifier])) for one in found
    ]
