"""Draws of claims for labelling: stored with what they were drawn from, so that they repeat."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from typing import Any

from otel_rt4chart.core.errors import InputError
from otel_rt4chart.verify.rates.label_queue import random_number
from otel_rt4chart.verify.rates.population import stratum_of
from rt4chart_collector.store.answers.claims import CLAIMS, ClaimRow
from rt4chart_collector.store.answers.verifications import FINAL_PER_PARTITION
from rt4chart_collector.store.engine.columns import ClaimKey
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.rows import batch_token, read
from rt4chart_collector.store.engine.scope import QueryScope, in_time
from rt4chart_collector.store.labels.draw_rows import DRAWS, QUEUE, DrawRow, QueueRow
from rt4chart_collector.store.labels.drawn_claims import claim_hash, claim_id
from rt4chart_collector.store.labels.populations import (
    FirstClaim,
    RouteKey,
    RoutePopulation,
    first_claims,
    populations,
)

# Claims keep their random number as long as the seed is the same, so that a label counts in every
# later draw that contains its claim.
DEFAULT_SEED = "rt4chart"
DOUBLE_SHARE = 0.1
MAX_SIZE = 10_000
DRAW_CHARS = 12


@dataclass(frozen=True, slots=True)
class DrawRequest:
    """What to draw: `size` claims of each route of the scope, which names a verifier.

    Of a share of `double_share`, two people should label each claim.
    """

    scope: QueryScope
    size: int
    actor: str
    seed: str = DEFAULT_SEED
    double_share: float = DOUBLE_SHARE


@dataclass(frozen=True, slots=True)
class LabelDraw:
    """A draw in all of its routes; `queue` is in the order in which people should label."""

    id: str
    routes: tuple[DrawRow, ...]
    queue: tuple[QueueRow, ...] = field(repr=False)

    @property
    def verifier(self) -> str:
        """Whose claims were drawn."""
        return self.routes[0].verifier

    def part(self, service: str | None, route: str | None) -> LabelDraw:
        """The part in these routes; None matches any service or route."""

        def is_in(row: DrawRow | QueueRow) -> bool:
            return service in (None, row.service) and route in (None, row.route)

        return replace(
            self,
            routes=tuple(row for row in self.routes if is_in(row)),
            queue=tuple(row for row in self.queue if is_in(row)),
        )


DRAWS_IN = f"""
SELECT {DRAWS.select(table="d")} FROM rt4chart_label_draws AS d FINAL
WHERE d.Since < fromUnixTimestamp64Nano({{until:Int64}})
  AND d.Until > fromUnixTimestamp64Nano({{since:Int64}})
  AND ({{any_service:UInt8}} OR d.ServiceName = {{service:String}})
  AND ({{any_route:UInt8}} OR d.Route = {{route:String}})
ORDER BY d.At, d.DrawId, d.ServiceName, d.Route
"""  # noqa: S608 - our own names
DRAW_ROUTES = f"""
SELECT {DRAWS.select(table="d")} FROM rt4chart_label_draws AS d FINAL
WHERE d.DrawId = {{draw:String}} ORDER BY d.ServiceName, d.Route
"""  # noqa: S608
LATEST_DRAW = """
SELECT DrawId AS id FROM rt4chart_label_draws
WHERE ({any_verifier:UInt8} OR VerifierId = {verifier:String})
  AND ({any_service:UInt8} OR ServiceName = {service:String})
  AND ({any_route:UInt8} OR Route = {route:String})
ORDER BY At DESC, DrawId DESC LIMIT 1
"""
QUEUES = f"""
SELECT {QUEUE.select(table="q")} FROM rt4chart_label_queue AS q FINAL
WHERE q.DrawId IN {{draws:Array(String)}}
ORDER BY q.DrawId, q.ServiceName, q.Route, q.Rank, q.TraceId, q.SpanId, q.ClaimIndex
"""  # noqa: S608
CLAIMS_BY_KEY = f"""
SELECT {CLAIMS.select()} FROM rt4chart_claims FINAL
WHERE IsDeleted = 0 AND VerifierId = {{verifier:String}} AND {in_time()}
  AND TraceId IN {{traces:Array(String)}}
  AND (TraceId, SpanId, ClaimIndex) IN {{keys:Array(Tuple(String, String, UInt16))}}
"""  # noqa: S608


@dataclass(frozen=True, slots=True)
class _DrawId:
    id: str


def draw_claims(client: Client, request: DrawRequest, *, now_ns: int) -> LabelDraw:
    """Draw claims by chance, and store the draw.

    InputError where there is no claim to draw from, or the request is out of range.
    """
    _check(request)
    # Answers that begin later are in no draw that was made before.
    scope = replace(request.scope, until_ns=min(request.scope.until_ns, now_ns))
    found = [one for one in populations(client, scope) if one.population.claims]
    if not found:
        raise InputError(
            f"no claims of {scope.verifier or 'any verifier'} in that time"
            + (f" on the route {scope.route!r}" if scope.route is not None else "")
            + ": expected verified answers with a known sampling rate; try a longer --since"
        )
    chosen = first_claims(client, scope, found, size=request.size, seed=request.seed)
    draw_id = _draw_id(request, scope, now_ns)
    rows = [_draw_row(one, request, scope, draw_id, now_ns) for one in found]
    queue = [_queue_row(one, request, draw_id, now_ns) for one in chosen]
    # The queue comes first: a draw without a row in rt4chart_label_draws does not exist.
    QUEUE.insert(client, queue, token=batch_token("queue", [(draw_id, row.id) for row in queue]))
    DRAWS.insert(client, rows, token=batch_token("draw", [(draw_id, *row.key) for row in rows]))
    return LabelDraw(draw_id, tuple(rows), tuple(_in_turns(queue)))


def latest_draw(client: Client, scope: QueryScope) -> LabelDraw | None:
    """The last draw with a claim of the verifier, service and route of the scope, whole."""
    found = latest_draw_id(client, scope)
    return read_draw(client, found) if found else None


def latest_draw_id(client: Client, scope: QueryScope) -> str:
    """The id of that draw, "" if there is none."""
    found = read(client, _DrawId, LATEST_DRAW, scope.parameters)
    return found[0].id if found else ""


def read_draw(client: Client, draw_id: str) -> LabelDraw:
    """The draw with this id; InputError for an unknown one."""
    routes = read(client, DrawRow, DRAW_ROUTES, {"draw": draw_id})
    if not routes:
        raise InputError(f"expected the id of a draw, got {draw_id!r}")
    return LabelDraw(draw_id, tuple(routes), tuple(_in_turns(queues(client, [draw_id]))))


def draws_in(client: Client, scope: QueryScope) -> list[DrawRow]:
    """The draws whose period meets that of the scope, of any verifier, the oldest first.

    Labels are of claims, so those on the claims of another verifier count too.
    """
    return read(client, DrawRow, DRAWS_IN, scope.parameters)


def queues(client: Client, draws: Sequence[str]) -> list[QueueRow]:
    """The claims of these draws, by draw, route and rank."""
    return read(client, QueueRow, QUEUES, {"draws": sorted(set(draws))}) if draws else []


def claims_by_key(
    client: Client, scope: QueryScope, keys: Sequence[ClaimKey]
) -> dict[ClaimKey, ClaimRow]:
    """These claims as the scope's verifier judged them, where they are stored still."""
    if not keys:
        return {}
    parameters = {
        **scope.parameters,
        "keys": list(keys),
        "traces": sorted({trace for trace, _, _ in keys}),
    }
    rows = read(client, ClaimRow, CLAIMS_BY_KEY, parameters, settings=FINAL_PER_PARTITION)
    return {(row.trace_id, row.span_id, row.index): row for row in rows}


def _in_turns(queue: Sequence[QueueRow]) -> list[QueueRow]:
    """The routes take turns, so that whoever stops early has labelled some of each."""
    routes: defaultdict[RouteKey, list[QueueRow]] = defaultdict(list)
    for row in queue:
        routes[row.service, row.route].append(row)
    ordered = (sorted(own, key=_rank) for _, own in sorted(routes.items()))
    return [row for turn in zip_longest(*ordered) for row in turn if row is not None]


def _rank(row: QueueRow) -> tuple[float, str]:
    return (row.rank, row.id)


def _check(request: DrawRequest) -> None:
    if not 1 <= request.size <= MAX_SIZE or not 0 <= request.double_share <= 1:
        raise InputError(
            f"expected 1 to {MAX_SIZE} claims a route and a share in [0, 1] for two raters, got "
            f"{request.size} and {request.double_share}"
        )
    if not request.scope.verifier or not request.actor:
        raise InputError("expected a verifier and the name of who draws, got an empty one")


def _draw_id(request: DrawRequest, scope: QueryScope, now_ns: int) -> str:
    parts = (now_ns, request.actor, request.seed, request.size, *scope.parameters.items())
    return hashlib.sha256("\x1f".join(map(str, parts)).encode()).hexdigest()[:DRAW_CHARS]


def _draw_row(
    one: RoutePopulation, request: DrawRequest, scope: QueryScope, draw_id: str, now_ns: int
) -> DrawRow:
    population = one.population
    return DrawRow(
        id=draw_id,
        service=one.service,
        route=one.route,
        verifier=scope.verifier or "",
        seed=request.seed,
        size=request.size,
        double_share=request.double_share,
        since_ns=scope.since_ns,
        until_ns=scope.until_ns,
        strata=population.strata,
        answers=population.answers,
        claims=population.claims,
        totals=population.totals,
        squares=tuple(value for row in population.squares for value in row),
        actor=request.actor,
        at_ns=now_ns,
    )


def _queue_row(one: FirstClaim, request: DrawRequest, draw_id: str, now_ns: int) -> QueueRow:
    name = claim_id((one.trace_id, one.span_id, one.claim))
    is_double = random_number(f"{request.seed} second rater", name) < request.double_share
    return QueueRow(
        start_ns=one.start_ns,
        trace_id=one.trace_id,
        span_id=one.span_id,
        service=one.service,
        route=one.route,
        verifier=request.scope.verifier or "",
        claim=one.claim,
        text_hash=claim_hash(one.text),
        judge_label=one.label,
        confidence=one.confidence,
        weight=one.weight,
        draw=draw_id,
        stratum=stratum_of(one.label),
        rank=one.rank,
        rate=one.rate,
        probability=min(1.0, one.limit_rank * one.rate) if one.limit_rank else 1.0,
        raters=2 if is_double else 1,
        at_ns=now_ns,
    )


def verdict_values(row: ClaimRow, weight: float) -> dict[str, Any]:
    """The fields of `ClaimVerdictRow` that the claim itself has."""
    return {
        "start_ns": row.start_ns,
        "trace_id": row.trace_id,
        "span_id": row.span_id,
        "service": row.service,
        "route": row.route,
        "verifier": row.verifier,
        "claim": row.index,
        "text_hash": claim_hash(row.text),
        "judge_label": row.label,
        "confidence": row.confidence,
        "weight": weight,
    }
