"""In which steps the unfaithful claims of answers entered: shares with intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from otel_rt4chart.verify.core.rates import AnswerSums, Rate, claim_rate
from rt4chart_collector.store.answers.verifications import FINAL_PER_PARTITION
from rt4chart_collector.store.engine.columns import SAMPLE_WEIGHT, ClaimKey
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.rows import read_by
from rt4chart_collector.store.engine.scope import QueryScope, in_scope

MAX_STAGES = 12
# Of misleading claims only those are traced whose step is certain: no share is known.
# An answer with m traced claims, of which x are of one kind: the sums of `AnswerSums` over all
# answers need x only where it is not 0.
OF_ANSWERS = f"""
    SELECT ServiceName, Route, TraceId, SpanId, VerifierId, {{kind}} AS kind, count() AS x,
        any({SAMPLE_WEIGHT}) AS w, any(toUnixTimestamp64Nano(Timestamp)) AS at,
        toInt32(min(ClaimIndex)) AS first_claim,
        sum(count()) OVER (PARTITION BY ServiceName, Route, TraceId, SpanId, VerifierId) AS m,
        count() OVER (PARTITION BY ServiceName, Route, TraceId, SpanId, VerifierId) AS kinds
    FROM rt4chart_trails FINAL
    WHERE IsDeleted = 0 AND Label IN ('contradicted', 'baseless') AND {in_scope()}
    GROUP BY ServiceName, Route, TraceId, SpanId, VerifierId, kind
"""  # noqa: S608 - our own names
SHARES = f"""
SELECT ServiceName, Route, kind, toInt64(sum(x)) AS claims, uniqExact(TraceId, SpanId) AS answers,
    sum(w * x) AS wx, sum(w * w * x * x) AS wwxx, sum(w * w * x * m) AS wwxm,
    argMax(TraceId, at) AS trace_id, argMax(SpanId, at) AS span_id,
    argMax(first_claim, at) AS claim,
    sum(toFloat64(1) / kinds) AS whole_answers, sum(w * m / kinds) AS wm,
    sum(w * w * m / kinds) AS wwm, sum(w * w * m * m / kinds) AS wwmm, sum(m / kinds) AS whole
FROM ({OF_ANSWERS})
GROUP BY ServiceName, Route, kind
ORDER BY ServiceName, Route, kind != '' DESC, wx DESC, kind
"""  # noqa: S608


@dataclass(frozen=True, slots=True)
class TrailShare:
    """The failed claims of one kind: their number, and their share of all that were traced.

    `kind` is a stage, or where the passage got lost; "" is not known. `example` is the first such
    claim of the newest answer.
    """

    kind: str
    claims: int
    answers: int
    rate: Rate
    example: ClaimKey


@dataclass(frozen=True, slots=True)
class TrailShares:
    """The shares of one route: the largest first, and last what is not known.

    `claims` were traced, of `answers` answers. `more` counts the stages that are not listed.
    """

    claims: int
    answers: int
    shares: tuple[TrailShare, ...]
    more: int = 0

    @property
    def known(self) -> tuple[TrailShare, ...]:
        """Without what is not known."""
        return tuple(share for share in self.shares if share.kind)

    @property
    def top(self) -> TrailShare | None:
        """The largest share that is known."""
        return max(self.known, key=lambda share: share.rate.value or 0.0, default=None)


@dataclass(frozen=True, slots=True)
class _KindSums:
    kind: str
    claims: int
    answers: int
    wx: float
    wwxx: float
    wwxm: float
    whole: float
    whole_answers: float
    wm: float
    wwm: float
    wwmm: float
    trace_id: str
    span_id: str
    claim: int


def stage_shares(client: Client, scope: QueryScope) -> dict[tuple[str, str], TrailShares]:
    """The stages in which failed claims entered, by service and route."""
    return _shares(client, scope, "Stage")


def retrieval_shares(client: Client, scope: QueryScope) -> dict[tuple[str, str], TrailShares]:
    """Where the passages got lost that would have prevented failed claims, likewise."""
    return _shares(client, scope, "toString(Retrieval)")


def _shares(client: Client, scope: QueryScope, kind: str) -> dict[tuple[str, str], TrailShares]:
    query = SHARES.replace("{kind}", kind)
    found: Mapping[tuple[str, str], Sequence[_KindSums]] = read_by(
        client,
        ("ServiceName", "Route"),
        _KindSums,
        query,
        scope.parameters,
        settings=FINAL_PER_PARTITION,
    )
    return {route: _of_route(rows) for route, rows in found.items()}


def _of_route(rows: Sequence[_KindSums]) -> TrailShares:
    """The shares of a route from the sums of its kinds, which add up to those of all answers."""
    answers = round(sum(row.whole_answers for row in rows))
    claims = round(sum(row.whole for row in rows))
    wm, wwm, wwmm = (sum(getattr(row, name) for row in rows) for name in ("wm", "wwm", "wwmm"))
    shares = [
        TrailShare(
            row.kind,
            row.claims,
            row.answers,
            claim_rate(AnswerSums(answers, claims, wm, row.wx, wwm, row.wwxx, row.wwxm, wwmm)),
            (row.trace_id, row.span_id, row.claim),
        )
        for row in rows
    ]
    listed = [share for share in shares if share.kind]
    unknown = [share for share in shares if not share.kind]
    more = max(len(listed) - MAX_STAGES, 0)
    return TrailShares(claims, answers, (*listed[:MAX_STAGES], *unknown), more)
