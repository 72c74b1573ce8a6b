"""The answers of a route with the most unfaithful claims, each with its worst one."""

from __future__ import annotations

from dataclasses import dataclass

from rt4chart_collector.store.answer import BY_DAY
from rt4chart_collector.store.connect import Client

CHOSEN = """
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
"""
# Read by their keys: the texts of other answers' claims stay where they are.
CLAIMS = """
SELECT TraceId, SpanId,
    argMax((toString(Label), toInt32(ClaimIndex), leftUTF8(Claim, {chars:UInt32})),
        (Label = 'contradicted', Confidence)) AS Worst
FROM rt4chart_claims FINAL
PREWHERE TraceId IN {traces:Array(String)}
WHERE IsDeleted = 0 AND VerifierId = {verifier:String}
  AND ServiceName = {service:String} AND Route = {route:String}
  AND toStartOfFiveMinutes(Timestamp) IN {ticks:Array(DateTime('UTC'))}
  AND Label IN ('contradicted', 'baseless')
GROUP BY TraceId, SpanId
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
    of_route = {"service": service, "route": route, "verifier": verifier}
    times = {"since": since_ns, "until": until_ns, "limit": limit}
    chosen = client.query(CHOSEN, {**of_route, **times}, settings=BY_DAY).result_rows
    if not chosen:
        return []
    given = {
        **of_route,
        "traces": [trace for trace, *_ in chosen],
        "ticks": sorted({time_ns // 10**9 // 300 * 300 for _, _, time_ns, *_ in chosen}),
        "chars": chars,
    }
    worst = {
        (trace, span): told
        for trace, span, told in client.query(CLAIMS, given, settings=BY_DAY).result_rows
    }
    found = [WorstAnswer(*row, *worst.get((row[0], row[1]), ("", -1, ""))) for row in chosen]
    return sorted(found, key=_order)


def _order(one: WorstAnswer) -> tuple[int, bool, float, int, str, str]:
    """Of as many unfaithful claims a contradicted one is worse, then the larger share, then new."""
    share = one.unfaithful / one.decided
    is_mild = one.label != "contradicted"
    return -one.unfaithful, is_mild, -share, -one.time_ns, one.trace_id, one.span_id
