"""The answers of a route with the most unfaithful claims, each with its worst one."""

from __future__ import annotations

from dataclasses import dataclass

from rt4chart_collector.store.connect import Client

# The verifications alone tell which; the claims are read of those few answers.
WORST = """
WITH chosen AS (
    SELECT TraceId, SpanId, toUnixTimestamp64Nano(Timestamp) AS Time,
        toUInt32(ContradictedCount) + BaselessCount AS Unfaithful,
        toUInt32(EntailedCount) + ContradictedCount + BaselessCount AS Decided
    FROM rt4chart_verifications FINAL
    WHERE IsDeleted = 0 AND Decision = 'verified' AND VerifierId = {verifier:String}
      AND ServiceName = {service:String} AND Route = {route:String}
      AND Timestamp >= fromUnixTimestamp64Nano({since:Int64})
      AND Timestamp < fromUnixTimestamp64Nano({until:Int64})
      AND ContradictedCount + BaselessCount > 0
    ORDER BY Unfaithful DESC, ContradictedCount DESC, Unfaithful / Decided DESC,
        Timestamp DESC, TraceId, SpanId
    LIMIT {limit:UInt32}
)
SELECT a.TraceId, a.SpanId, a.Time, a.Unfaithful, a.Decided, c.Worst.1, c.Worst.2, c.Worst.3
FROM chosen AS a
LEFT JOIN (
    SELECT TraceId, SpanId,
        argMax((toString(Label), toInt32(ClaimIndex), leftUTF8(Claim, {chars:UInt32})),
            (Label = 'contradicted', Confidence)) AS Worst
    FROM rt4chart_claims FINAL
    WHERE IsDeleted = 0 AND VerifierId = {verifier:String}
      AND ServiceName = {service:String} AND Route = {route:String}
      AND Timestamp >= fromUnixTimestamp64Nano({since:Int64})
      AND Timestamp < fromUnixTimestamp64Nano({until:Int64})
      AND Label IN ('contradicted', 'baseless')
      AND (TraceId, SpanId) IN (SELECT TraceId, SpanId FROM chosen)
    GROUP BY TraceId, SpanId
) AS c ON c.TraceId = a.TraceId AND c.SpanId = a.SpanId
ORDER BY a.Unfaithful DESC, c.Worst.1 = 'contradicted' DESC, a.Unfaithful / a.Decided DESC,
    a.Time DESC, a.TraceId, a.SpanId
"""


@dataclass(frozen=True, slots=True)
class WorstAnswer:
    """An answer by its span, how many of its decided claims are unfaithful, and the worst of them.

    The worst is a contradicted claim before a baseless one, then the surest; `claim` is its text,
    cut, `label` and `index` are "" and -1 where it cannot be read any more.
    """

    trace_id: str
    span_id: str
    time_ns: int
    unfaithful: int
    decided: int
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
    given = {
        "service": service,
        "route": route,
        "verifier": verifier,
        "since": since_ns,
        "until": until_ns,
        "limit": limit,
        "chars": chars,
    }
    return [
        WorstAnswer(trace, span, time_ns, unfaithful, decided, label, index if label else -1, claim)
        for trace, span, time_ns, unfaithful, decided, label, index, claim in client.query(
            WORST, given
        ).result_rows
    ]
