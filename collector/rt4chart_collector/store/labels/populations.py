"""The claims of routes as sums, and the first claims of a draw, both computed by the database.

The formulas are those of `otel_rt4chart.verify.rates`: tests hold both equal.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, NamedTuple

from otel_rt4chart.verify.core.model import Label
from otel_rt4chart.verify.rates.label_queue import EQUAL_PART, LEAST_DOUBT, MOST_DOUBT
from otel_rt4chart.verify.rates.population import FLAGGED, Population
from rt4chart_collector.store.answers.verifications import FINAL_PER_PARTITION
from rt4chart_collector.store.engine.columns import SAMPLE_WEIGHT, stated_confidence
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.rows import StoredAs, read
from rt4chart_collector.store.engine.scope import OF_ROUTE, QueryScope, in_scope, in_time

# The strata of a draw, in the order of their names, as `population_of` has them.
STRATA = (Label.ENTAILED.value, FLAGGED, Label.UNDECIDED.value)
STRATUM_NUMBER = "if(Label IN ('contradicted', 'baseless'), 2, if(Label = 'entailed', 1, 3))"
SCORE = (
    "least(greatest(if(Label IN ('contradicted', 'baseless'), "
    "if(isNaN(Confidence), 1, toFloat64(Confidence)), if(Label = 'entailed', "
    "if(isNaN(Confidence), 0, 1 - toFloat64(Confidence)), 0.5)), 0), 1)"
)
DOUBT = f"least(greatest(sqrt(greatest(Score * (1 - Score), 0)), {LEAST_DOUBT}), {MOST_DOUBT})"
# `random_number` of the label queue: the first 53 bits of SHA-256.
RANDOM_NUMBER = (
    "(bitShiftRight(reinterpretAsUInt64(reverse(substring(SHA256(concat({seed:String}, '\\0', "
    "TraceId, '/', SpanId, '/', toString(ClaimIndex))), 1, 8))), 11) + 0.5) / 9007199254740992"
)
RouteKey = tuple[str, str]
# What was drawn from in a route: service, route, begin and end of the answers' period, and the time
# of the draw. Answers that were verified later could not be drawn.
RoutePeriod = tuple[str, str, int, int, int]

CURRENT_ANSWERS = f"""
SELECT ServiceName, Route, TraceId, SpanId, {SAMPLE_WEIGHT} AS Weight, Timestamp AS Start, Version
FROM rt4chart_verifications FINAL
WHERE IsDeleted = 0 AND Decision = 'verified' AND SampleRate > 0 AND {in_scope()}
"""  # noqa: S608 - our own names
CLAIMS_OF_SCOPE = f"""
FROM rt4chart_claims FINAL
WHERE IsDeleted = 0 AND Label != 'not_a_claim' AND {in_scope()}
"""


def _in_periods(name: str, verified: str) -> str:
    return (
        "arrayExists(p -> p.1 = ServiceName AND p.2 = Route AND Nanos >= p.3 AND Nanos < p.4 "
        f"AND {verified} <= p.5, {{{name}:Array(Tuple(String, String, Int64, Int64, UInt64))}})"
    )


# The answers that the verifier of a draw judged: no others could be drawn.
SHARED_ANSWERS = f"""
            UNION ALL
            SELECT ServiceName, Route, TraceId, SpanId, 0 AS S, 0. AS Score, 0. AS OwnWeight,
                toInt64(0) AS OwnNanos, toUInt64(0) AS OwnVersion, Version AS SharedVersion
            FROM rt4chart_verifications FINAL
            WHERE IsDeleted = 0 AND Decision = 'verified' AND SampleRate > 0
                AND (ServiceName, Route, VerifierId) IN
                    {{drawn_by:Array(Tuple(String, String, String))}}
                AND {OF_ROUTE} AND {in_time()}
"""  # noqa: S608 - our own names
# An answer's vector: its claims in each stratum, the sums of their scores, and of their doubts.
VECTOR = [
    template.format(stratum)
    for template in (
        "toFloat64(countIf(S = {}))",
        "sumIf(Score, S = {})",
        f"sumIf({DOUBT}, S = {{}})",
    )
    for stratum in (1, 2, 3)
]
NAMES = [f"V{at}" for at in range(len(VECTOR))]
ANSWER_VECTOR = ", ".join(f"{value} AS {name}" for value, name in zip(VECTOR, NAMES, strict=True))
TOTALS = ", ".join(f"sumIf({name} * Weight, Covered)" for name in NAMES)
# The products are written in one order, so that each pair is summed once.
SQUARES = ", ".join(
    f"sumIf({min(one, other)} * {max(one, other)} * Weight * Weight, Covered)"
    for one in NAMES[:6]
    for other in NAMES[:6]
)
# Claims meet the weight of their answer by a grouping of both, which is cheaper than a join. In a
# route, answers are told apart by a hash.
POPULATIONS = f"""
SELECT ServiceName AS service, Route AS route, countIf(Covered) AS answers,
    sumIf(Claims, Covered) AS claims, sum(Claims) AS all_claims,
    minIf(Nanos, Covered) AS first_ns, maxIf(Weight, Covered) AS most_weight,
    [{TOTALS}] AS totals, [{SQUARES}] AS squares
FROM (
    SELECT *, {{any_period:UInt8}} OR {_in_periods("periods", "Verified")}
        OR (Shared > 0 AND {_in_periods("shared", "Shared")}) AS Covered
    FROM (
        SELECT ServiceName, Route, cityHash64(TraceId, SpanId) AS Answer, max(OwnWeight) AS Weight,
            max(OwnNanos) AS Nanos, max(OwnVersion) AS Verified, max(SharedVersion) AS Shared,
            countIf(S > 0) AS Claims, {ANSWER_VECTOR}
        FROM (
            SELECT ServiceName, Route, TraceId, SpanId, {STRATUM_NUMBER} AS S, {SCORE} AS Score,
                0. AS OwnWeight, toInt64(0) AS OwnNanos, toUInt64(0) AS OwnVersion,
                toUInt64(0) AS SharedVersion
            {CLAIMS_OF_SCOPE}
            UNION ALL
            SELECT ServiceName, Route, TraceId, SpanId, 0 AS S, 0. AS Score, Weight AS OwnWeight,
                toUnixTimestamp64Nano(Start) AS OwnNanos, Version AS OwnVersion,
                toUInt64(0) AS SharedVersion
            FROM ({CURRENT_ANSWERS}){{{{shared_answers}}}}
        )
        GROUP BY ServiceName, Route, Answer
        HAVING Weight > 0 AND Claims > 0
    )
)
GROUP BY ServiceName, Route ORDER BY ServiceName, Route
"""  # noqa: S608
# The order of the queue is that of u / rate, where a rate is a factor of its route and stratum,
# times the answer's weight, times the claim's doubt. Only claims that may be among the first are
# joined with their answers: those whose rank with the largest weight is at most {{enough}}. These
# are few, so the join keeps them in memory and not the answers.
FIRST_OF_QUEUE = f"""
SELECT service, route, start_ns, trace_id, span_id, claim, text, label, confidence, weight, rate,
    rank, limit_rank
FROM (
    SELECT service, route,
        arrayJoin(arraySlice(Sorted, 1, {{size:UInt32}})) AS one, one.1 AS rank, one.2 AS trace_id,
        one.3 AS span_id, one.4 AS claim, one.5 AS start_ns, one.6 AS weight, one.7 AS rate,
        one.8 AS text, one.9 AS label, one.10 AS confidence,
        if(length(Sorted) > {{size:UInt32}}, Sorted[{{size:UInt32}} + 1].1, 0) AS limit_rank
    FROM (
        SELECT ServiceName AS service, Route AS route,
            groupArraySorted({{{{most}}}})(
                (U / Rate, TraceId, SpanId, ClaimIndex, Nanos, Weight, Rate, Claim, Label,
                 Confidence)
            ) AS Sorted
        FROM (
            SELECT c.ServiceName AS ServiceName, c.Route AS Route, c.TraceId AS TraceId,
                c.SpanId AS SpanId, c.ClaimIndex AS ClaimIndex, c.Claim AS Claim,
                c.Label AS Label, c.Confidence AS Confidence,
                toUnixTimestamp64Nano(c.Timestamp) AS Nanos, a.Weight AS Weight, c.U AS U,
                c.Wanted * a.Weight AS Rate
            FROM ({CURRENT_ANSWERS}) AS a
            INNER JOIN (
                SELECT ServiceName, Route, TraceId, SpanId, ClaimIndex, Timestamp, Claim, Label,
                    Confidence, f.Factors[S] * Doubt AS Wanted, {RANDOM_NUMBER} AS U
                FROM (
                    SELECT ServiceName, Route, TraceId, SpanId, ClaimIndex, Timestamp, Claim, Label,
                        Confidence, {STRATUM_NUMBER} AS S, {SCORE} AS Score, {DOUBT} AS Doubt
                    {CLAIMS_OF_SCOPE}
                ) AS c
                INNER JOIN (
                    SELECT one.1 AS ServiceName, one.2 AS Route, one.3 AS Factors FROM (
                        SELECT arrayJoin(
                            {{factors:Array(Tuple(String, String, Array(Float64)))}}) AS one)
                ) AS f USING (ServiceName, Route)
                WHERE U <= Wanted * {{enough:Float64}}
            ) AS c USING (ServiceName, Route, TraceId, SpanId)
        )
        GROUP BY service, route
    )
)
ORDER BY service, route, rank, trace_id, span_id, claim
"""  # noqa: S608


@dataclass(frozen=True, slots=True)
class RoutePopulation:
    """The claims of a route that could be drawn, as sums.

    `all_claims` also counts those outside the periods that were asked for, `first_ns` is the start
    of the oldest answer. `doubts` is the weighted sum of the doubts in each stratum, from which the
    rates of a draw follow.
    """

    service: str
    route: str
    population: Population
    all_claims: int
    first_ns: int
    most_weight: float
    doubts: Mapping[str, float]

    @property
    def key(self) -> RouteKey:
        """Service and route."""
        return (self.service, self.route)

    @property
    def factors(self) -> list[float]:
        """The rate of a claim of each of `STRATA` for one unit of weight and doubt."""
        total = sum(self.doubts.values())
        shares = {
            name: EQUAL_PART / len(self.doubts) + (1 - EQUAL_PART) * doubt / total
            for name, doubt in self.doubts.items()
        }
        return [shares[name] / self.doubts[name] if name in self.doubts else 0.0 for name in STRATA]


class SharedPeriod(NamedTuple):
    """A period in which the claims of another verifier were drawn in a route."""

    period: RoutePeriod
    verifier: str


@dataclass(frozen=True, slots=True)
class FirstClaim:
    """A claim at the head of a route's queue; `limit_rank` is the rank after the last, or 0."""

    service: str
    route: str
    start_ns: int
    trace_id: str
    span_id: str
    claim: Annotated[int, StoredAs("claim", "UInt16")]
    text: str
    label: Label
    confidence: Annotated[float | None, StoredAs("confidence", "Float32", stated_confidence)]
    weight: float
    rate: float
    rank: float
    limit_rank: float


@dataclass(frozen=True, slots=True)
class _Sums:
    service: str
    route: str
    answers: int
    claims: int
    all_claims: int
    first_ns: int
    most_weight: float
    totals: Sequence[float]
    squares: Sequence[float]


def populations(
    client: Client,
    scope: QueryScope,
    periods: Sequence[RoutePeriod] | None = None,
    *,
    shared: Sequence[SharedPeriod] = (),
) -> list[RoutePopulation]:
    """The claims of each route of the scope, by service and route; of these periods if given.

    The scope names a verifier. Answers whose sampling rate is unknown cannot be drawn, nor those
    that were verified after the draw. Of `shared` periods, only answers count that the verifier of
    the period had judged by then.
    """
    parameters: dict[str, object] = {
        **scope.parameters,
        "any_period": int(periods is None),
        "periods": list(periods or ()),
        "shared": [one.period for one in shared],
        "drawn_by": sorted({(*one.period[:2], one.verifier) for one in shared}),
    }
    query = POPULATIONS.replace("{{shared_answers}}", SHARED_ANSWERS if shared else "")
    found = read(client, _Sums, query, parameters, settings=FINAL_PER_PARTITION)
    return [_route_population(sums) for sums in found]


def first_claims(
    client: Client, scope: QueryScope, found: Sequence[RoutePopulation], *, size: int, seed: str
) -> list[FirstClaim]:
    """The first `size` claims of each route's queue, in its order."""
    # The rates of a route sum to 1, so about x claims have a rank below x.
    chosen = _first_claims(client, scope, found, size=size, seed=seed, most_rank=4 * size + 50)
    counts = Counter((one.service, one.route) for one in chosen)
    short = [
        one
        for one in found
        if counts[one.key] < min(size, one.population.claims)
        or (one.population.claims > size and _lacks_limit(chosen, one.key))
    ]
    if not short:
        return chosen
    keys = {one.key for one in short}
    kept = [one for one in chosen if (one.service, one.route) not in keys]
    return kept + _first_claims(client, scope, short, size=size, seed=seed, most_rank=math.inf)


def _lacks_limit(chosen: Sequence[FirstClaim], key: RouteKey) -> bool:
    return any(one.limit_rank == 0 for one in chosen if (one.service, one.route) == key)


def _first_claims(
    client: Client,
    scope: QueryScope,
    found: Sequence[RoutePopulation],
    *,
    size: int,
    seed: str,
    most_rank: float,
) -> list[FirstClaim]:
    most_weight = max((one.most_weight for one in found), default=1.0)
    parameters = {
        **scope.parameters,
        "seed": seed,
        "size": size,
        "enough": min(most_rank * most_weight, 1e300),
        "factors": [(one.service, one.route, one.factors) for one in found],
    }
    query = FIRST_OF_QUEUE.replace("{{most}}", str(size + 1))
    return read(client, FirstClaim, query, parameters, settings=FINAL_PER_PARTITION)


def _route_population(sums: _Sums) -> RoutePopulation:
    size = len(STRATA)
    present = [at for at in range(size) if sums.totals and sums.totals[at] > 0]
    places = [*present, *(at + size for at in present)]
    names = tuple(STRATA[at] for at in present)
    population = Population(
        names,
        sums.answers,
        sums.claims,
        tuple(sums.totals[at] for at in places),
        tuple(tuple(sums.squares[2 * size * row + at] for at in places) for row in places),
    )
    doubts = {STRATA[at]: sums.totals[2 * size + at] for at in present}
    return RoutePopulation(
        sums.service,
        sums.route,
        population,
        sums.all_claims,
        sums.first_ns,
        sums.most_weight,
        doubts,
    )
