"""The answers of a route with the most unfaithful claims, each with its worst one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from rt4chart_collector.store.answers.verifications import BY_DAY
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.rows import read

CHOSEN = """
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
# Read by their keys: the texts of other answers' claims stay where they are.
CLAIMS = """
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
    """An answer by its span, how many of its decided claims are unfaithful, and the worst of them.

    The worst is a contradicted claim before a baseless one, then the surest; `claim` is its text,
    cut, `label` and `index` are "" and -1 where it cannot be read any more.
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
    chosen = read(client, WorstAnswer, CHOSEN, {**of_route, **times}, settings=BY_DAY)
    if not chosen:
        return []
    given = {
        **of_route,
        "traces": [one.trace_id for one in chosen],
        "ticks": sorted({one.time_ns // 10**9 // 300 * 300 for one in chosen}),
        "chars": chars,
    }
    worst = {
        (row.trace_id, row.span_id): row
        for row in read(client, _WorstClaim, CLAIMS, given, settings=BY_DAY)
    }
    return sorted((_with_claim(one, worst) for one in chosen), key=_order)


def _with_claim(one: WorstAnswer, worst: Mapping[tuple[str, str], _WorstClaim]) -> WorstAnswer:
    row = worst.get((one.trace_id, one.span_id))
    return replace(one, label=row.label, index=row.index, claim=row.claim) if row else one


def _order(one: WorstAnswer) -> tuple[int, bool, float, int, str, str]:
    """Of as many unfaithful claims a contradicted one is worse, then the larger share, then new."""
    share = one.unfaithful / one.decided
    is_mild = one.label != "contradicted"
    return -one.unfaithful, is_mild, -share, -one.time_ns, one.trace_id, one.span_id
