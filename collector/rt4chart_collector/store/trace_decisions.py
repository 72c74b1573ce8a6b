"""What was decided on the answers of one trace, and what the store has of it."""

from __future__ import annotations

from dataclasses import dataclass

from rt4chart_collector.store.connect import Client

DECISIONS = """
SELECT SpanId, ServiceName, Route, VerifierId, toString(Decision), toString(Label), Error,
    SampleRate, ClaimCount, toUnixTimestamp64Nano(Timestamp) AS Start
FROM rt4chart_verifications FINAL
WHERE TraceId = {trace:String} AND IsDeleted = 0
ORDER BY Start, SpanId, VerifierId LIMIT {limit:UInt32}
"""
SPANS = """
SELECT uniqExact(SpanId) FROM otel_traces WHERE TraceId = {trace:String}
"""


@dataclass(frozen=True, slots=True)
class TraceDecision:
    """One answer of the trace and what one verifier decided on it; `error` says why it failed."""

    span_id: str
    service: str
    route: str
    verifier: str
    decision: str
    label: str
    error: str
    sample_rate: float
    claims: int
    start_ns: int


def trace_decisions(client: Client, trace_id: str, *, limit: int = 200) -> list[TraceDecision]:
    """Every decision on the trace's answers, by their start."""
    rows = client.query(DECISIONS, {"trace": trace_id, "limit": limit}).result_rows
    return [TraceDecision(*row) for row in rows]


def span_count(client: Client, trace_id: str) -> int:
    """How many spans of the trace are in the store."""
    return int(client.query(SPANS, {"trace": trace_id}).result_rows[0][0])
