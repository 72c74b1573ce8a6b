"""In which steps the unfaithful claims of answers entered: shares with intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from otel_rt4chart.verify.core.rates import AnswerSums, Rate, claim_rate
from rt4chart_collector.store.answers.verifications import FINAL_PER_PARTITION
from rt4chart_collector.store.engine.columns import SAMPLE_WEIGHT, ClaimKey
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.rows import read_by
from rt4chart_collector.store.engine.scope import QueryScope, in_scope

MAX_STAGES = 12
STAGE, RETRIEVAL = "stage", "retrieval"
# What a traced claim is counted by.
KINDS = {STAGE: "Stage", RETRIEVAL: "toString(Retrieval)"}
# Of misleading claims only those are traced whose step is certain: no share is known.
# An answer with m traced claims, of which x are of one kind: the sums of `AnswerSums` over all
# answers need x only where it is not 0.
OF_ANSWERS = f"""
    SELECT ServiceName, Route, TraceId, SpanId, VerifierId, part.1 AS dimension, part.2 AS kind,
        count() AS x,
        any({SAMPLE_WEIGHT}) AS w, any(toUnixTimestamp64Nano(Timestamp)) AS at,
        toInt32(min(ClaimIndex)) AS first_claim,
        sum(count()) OVER answer AS m, count() OVER answer AS kinds
    FROM rt4chart_trails FINAL ARRAY JOIN [{{dimensions}}] AS part
    WHERE IsDeleted = 0 AND Label IN ('contradicted', 'baseless') AND {in_scope()}
    GROUP BY ServiceName, Route, TraceId, SpanId, VerifierId, dimension, kind
    WINDOW answer AS (PARTITION BY ServiceName, Route, TraceId, SpanId, VerifierId, dimension)
"""  # noqa: S608 - our own names
SHARES = f"""
SELECT dimension, ServiceName, Route, kind, toInt64(sum(x)) AS claims,
    uniqExact(TraceId, SpanId) AS answers, sum(w * x) AS wx,
    sum(w * w * x * x) AS wwxx, sum(w * w * x * m) AS wwxm,
    argMax(TraceId, at) AS trace_id, argMax(SpanId, at) AS span_id,
    argMax(first_claim, at) AS claim,
    sum(toFloat64(1) / kinds) AS whole_answers, sum(w * m / kinds) AS wm,
    sum(w * w * m / kinds) AS wwm, sum(w * w * m * m / kinds) AS wwmm, sum(m / kinds) AS whole
FROM ({OF_ANSWERS})
GROUP BY dimension, ServiceName, Route, kind
ORDER BY dimension, ServiceName, Route, kind != '' DESC, wx DESC, kind
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


RouteShares: TypeAlias = Mapping[tuple[str, str], TrailShares]


def stage_shares(client: Client, scope: QueryScope) -> RouteShares:
    """The stages in which failed claims entered, by service and route."""
    return _shares(client, scope, STAGE)[STAGE]


def retrieval_shares(client: Client, scope: QueryScope) -> RouteShares:
    """Where the passages got lost that would have prevented failed claims, likewise."""
    return _shares(client, scope, RETRIEVAL)[RETRIEVAL]


def trail_shares(client: Client, scope: QueryScope) -> tuple[RouteShares, RouteShares]:
    """The results of `stage_shares` and `retrieval_shares` in one statement."""
    found = _shares(client, scope, STAGE, RETRIEVAL)
    return found[STAGE], found[RETRIEVAL]


def _shares(client: Client, scope: QueryScope, *dimensions: str) -> dict[str, RouteShares]:
    listed = ", ".join(f"('{name}', {KINDS[name]})" for name in dimensions)
    rows: Mapping[tuple[str, str, str], Sequence[_KindSums]] = read_by(
        client,
        ("dimension", "ServiceName", "Route"),
        _KindSums,
        SHARES.replace("{dimensions}", listed),
        scope.parameters,
        settings=FINAL_PER_PARTITION,
    )
    found: dict[str, dict[tuple[str, str], TrailShares]] = {name: {} for name in dimensions}
    for (dimension, service, route), kinds in rows.items():
        found[dimension][service, route] = _of_route(kinds)
    return dict(found)


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
