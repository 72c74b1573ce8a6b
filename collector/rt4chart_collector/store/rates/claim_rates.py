"""Rates of claims by route, over time and by dimension."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from otel_rt4chart.core.errors import InputError
from otel_rt4chart.verify.core.model import FAULTLESS
from otel_rt4chart.verify.core.rates import (
    AnswerSums,
    Measure,
    Rate,
    claim_rate,
    part_rate,
    undecided_rate,
)
from rt4chart_collector.store.answers.verifications import FINAL_PER_PARTITION
from rt4chart_collector.store.engine.columns import SAMPLE_WEIGHT
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.grains import (
    ALL_COUNTS,
    ALL_WEIGHTS,
    COUNTS,
    IN_ARRAYS,
    KEYS,
    WEIGHTED,
    Grain,
    coarsest_of,
    sums_of,
)
from rt4chart_collector.store.engine.rows import read, read_by
from rt4chart_collector.store.engine.scope import MAX_ROUTES, QueryScope

DIMENSION_COLUMNS = {
    "route": "Route",
    "model": "Model",
    "prompt_version": "PromptVersion",
    "release": "Release",
    "environment": "Environment",
}
DIMENSIONS = tuple(DIMENSION_COLUMNS)
TICK_S = 300


# The columns of `SliceSums` over rows with `SLICE_COLUMNS`.
SLICE_COLUMNS = ("Decision", "Answers", "CheckedAnswers", *IN_ARRAYS)
SLICE_SUMS = f"""
    sumIf(Answers, Decision = 'verified') AS answers,
    sumIf(Answers, Decision != 'verified') AS unverified,
    sumIf(CheckedAnswers, Decision = 'verified') AS checked_answers,
    sumForEach({ALL_COUNTS}) AS counts,
    arrayMap(weight -> round(weight, 9), sumForEach({ALL_WEIGHTS})) AS weights,
    mapFilter((status, claims) -> abs(claims) > 0.001, sumMap(WStatuses)) AS statuses,
    sumMap(map(toString(Decision), Answers)) AS decisions
"""
SLICE_SUMMED = SLICE_COLUMNS[1:]
STEP_SUMS = f"""sum(g.Answers) AS Answers, sum(g.CheckedAnswers) AS CheckedAnswers,
    sumForEach(g.{ALL_COUNTS}) AS {ALL_COUNTS}, sumForEach(g.{ALL_WEIGHTS}) AS {ALL_WEIGHTS},
    sumMap(g.WStatuses) AS WStatuses"""
_AT = {name: at for at, name in enumerate(COUNTS)}
# Of those with the most claims, decided or not, before others.
MOST_CLAIMS = f"""counts[{_AT["Claims"] + 1}] + counts[{_AT["Undecided"] + 1}] DESC,
    counts[{_AT["Answers"] + 1}] DESC"""
# The weights of `AnswerSums` in order, and those of `WeightedCounts`.
UNFAITHFUL_WEIGHTS = ("WM", "WX", "WWM", "WWXX", "WWXM", "WWMM")
MISLEADING_WEIGHTS = ("KWM", "KWY", "KWWM", "KWWYY", "KWWYM", "KWWMM")
ANSWER_WEIGHTS = (
    "WDecidedAnswers",
    "WUnfaithfulAnswers",
    "WWDecidedAnswers",
    "WWUnfaithfulAnswers",
    "WWUnfaithfulAnswers",
    "WWDecidedAnswers",
)
LABEL_WEIGHTS = ("WContradicted", "WBaseless", "WUndecided", "WWUndecided")
ROUTE_KEYS = "ServiceName AS service, Route AS route"
REQUESTED_ROUTE = "{service:String} AS service, {route:String} AS route"


@dataclass(frozen=True, slots=True)
class RateSlice:
    """The answers with one value of a dimension, and the labels of their claims.

    `service` and `route` are empty if the slice has several; `key` is the value, "" if the answers
    had none. `answers` were verified, `unverified` have another decision. Counts are unweighted;
    `weighted` and the sums are weighted by 1 / sample rate. `sums` are over claims, `answer_sums`
    over answers with a decided claim, where an answer with an unfaithful claim is unfaithful.
    `misleading_sums` and `either_sums` are over the answers that were checked for misleading
    claims. `statuses` has the weighted number of claims by status. `citing_answers` have a
    citation, `miscited_answers` one that is wrong; both are of all answers, verified or not.
    `decisions` has the number of answers by decision.
    """

    service: str
    route: str
    key: str
    answers: int
    unverified: int
    entailed: int
    contradicted: int
    baseless: int
    undecided: int
    sums: AnswerSums
    unfaithful_answers: int
    answer_sums: AnswerSums
    weighted: WeightedCounts
    misleading: int
    misleading_sums: AnswerSums
    either_sums: AnswerSums
    statuses: Mapping[str, float]
    citing_answers: int
    miscited_answers: int
    decisions: Mapping[str, int] = field(default_factory=dict)

    @property
    def claims(self) -> int:
        """The decided claims: the denominator of the rates."""
        return self.sums.claims

    @property
    def rate(self) -> Rate:
        """The share of claims that are contradicted or baseless."""
        return claim_rate(self.sums)

    @property
    def misleading_rate(self) -> Rate:
        """The share of claims that are entailed and mislead, of the answers checked for it."""
        return claim_rate(self.misleading_sums)

    @property
    def status_shares(self) -> dict[str, float]:
        """The share of the decided claims with each faulty status, of the answers checked for it.

        Claims without a fault are left out: those that a check did not look at are among them.
        """
        decided = self.misleading_sums.wm
        return {
            status: claims / decided
            for status, claims in self.statuses.items()
            if decided > 0 and status not in FAULTLESS
        }

    def rate_of(self, measure: Measure) -> Rate:
        """The rate of a measure."""
        return claim_rate(self.sums_of(measure))

    def sums_of(self, measure: Measure) -> AnswerSums:
        """The sums of a measure, whose `claims` are the denominator of its rate."""
        return {
            Measure.UNFAITHFUL: self.sums,
            Measure.MISLEADING: self.misleading_sums,
            Measure.EITHER: self.either_sums,
        }[measure]

    @property
    def contradicted_rate(self) -> Rate:
        """The share of claims that the passages contradict."""
        return part_rate(self.sums, self.weighted.contradicted)

    @property
    def baseless_rate(self) -> Rate:
        """The share of claims that are not in the passages."""
        return part_rate(self.sums, self.weighted.baseless)

    @property
    def undecided_rate(self) -> Rate:
        """The share of claims without a verdict, of these and the decided ones."""
        found = self.weighted
        return undecided_rate(self.sums, self.undecided, found.undecided, found.undecided_squared)

    @property
    def answer_rate(self) -> Rate:
        """The share of answers with an unfaithful claim, of those with a decided one."""
        return claim_rate(self.answer_sums)


@dataclass(frozen=True, slots=True)
class WeightedCounts:
    """Claims weighted by 1 / sample rate; undecided ones also by its square, for intervals."""

    contradicted: float
    baseless: float
    undecided: float
    undecided_squared: float


@dataclass(frozen=True, slots=True)
class SliceSums:
    """A slice as the store adds it up: `counts` are the `COUNTS` in order, `weights` the others."""

    service: str
    route: str
    key: str
    answers: int
    unverified: int
    checked_answers: int
    counts: Sequence[int]
    weights: Sequence[float]
    statuses: Mapping[str, float]
    decisions: Mapping[str, int]

    @property
    def slice(self) -> RateSlice:
        """The slice; an answer is one claim to `answer_sums`, with m and x of 0 or 1."""
        count = dict(zip(COUNTS, self.counts, strict=True))
        w = dict(zip(WEIGHTED, self.weights, strict=True))
        of_all = self.answers, count["Claims"]
        of_checked = self.checked_answers, count["CheckedClaims"]
        decided = count["DecidedAnswers"]
        return RateSlice(
            *(self.service, self.route, self.key, self.answers, self.unverified),
            entailed=count["Claims"] - count["UnfaithfulClaims"],
            contradicted=count["Contradicted"],
            baseless=count["Baseless"],
            undecided=count["Undecided"],
            sums=AnswerSums(*of_all, *map(w.__getitem__, UNFAITHFUL_WEIGHTS)),
            unfaithful_answers=count["UnfaithfulAnswers"],
            answer_sums=AnswerSums(decided, decided, *map(w.__getitem__, ANSWER_WEIGHTS)),
            weighted=WeightedCounts(*map(w.__getitem__, LABEL_WEIGHTS)),
            misleading=count["MisleadingClaims"],
            misleading_sums=AnswerSums(*of_checked, *map(w.__getitem__, MISLEADING_WEIGHTS)),
            either_sums=AnswerSums(
                *of_checked,
                wm=w["KWM"],
                wx=w["KWX"] + w["KWY"],
                wwm=w["KWWM"],
                wwxx=w["KWWXX"] + 2 * w["KWWXY"] + w["KWWYY"],
                wwxm=w["KWWXM"] + w["KWWYM"],
                wwmm=w["KWWMM"],
            ),
            statuses=self.statuses,
            citing_answers=count["CitingAnswers"],
            miscited_answers=count["MiscitingAnswers"],
            decisions=self.decisions,
        )


@dataclass(frozen=True, slots=True)
class RatePoint:
    """The answers of one step of time, which starts at `start_ns`."""

    start_ns: int
    slice: RateSlice


def rates_by(client: Client, dimension: str, scope: QueryScope) -> list[RateSlice]:
    """One slice for each value of the dimension, in order, over ticks that start in the scope.

    Without a service or a route, of all of them together; the dimension `route` separates services
    too, and has the `MAX_ROUTES` with the most claims. Raises InputError for an unknown dimension.
    """
    if dimension not in DIMENSION_COLUMNS:
        raise InputError(f"expected a dimension of {', '.join(DIMENSIONS)}; got {dimension!r}")
    if dimension == "route":
        routes = rate_slices(client, f"{ROUTE_KEYS}, '' AS key", scope, is_by_route=True)
        found = [replace(one, key=one.route) for one in routes]
    else:
        keys = f"{REQUESTED_ROUTE}, {DIMENSION_COLUMNS[dimension]} AS key"
        found = rate_slices(client, keys, scope)
    return sorted(found, key=lambda one: (one.service, one.route, one.key))


def rates_together(client: Client, scope: QueryScope) -> RateSlice | None:
    """All answers of the scope in one slice; None without an answer."""
    return next(iter(rate_slices(client, f"{REQUESTED_ROUTE}, '' AS key", scope)), None)


def rates_over_time(client: Client, scope: QueryScope, *, step_s: int) -> list[RatePoint]:
    """One slice for each step, by time, of the ticks that start in the scope.

    Steps start at multiples of their length since 1970; steps without an answer are skipped.
    Raises InputError for a step that is not a multiple of five minutes.
    """
    if step_s < TICK_S or step_s % TICK_S:
        raise InputError(f"expected a step in seconds, a multiple of {TICK_S}; got {step_s}")
    keys = f"{REQUESTED_ROUTE}, toString({STEP}) AS key"
    found = rate_slices(client, keys, scope, coarsest=coarsest_of(step_s), step=step_s)
    return sorted(map(_point, found), key=lambda point: point.start_ns)


# The start of the step that a row is in, in seconds since 1970.
STEP = "intDiv(toUnixTimestamp(Tick), {step:UInt32}) * {step:UInt32}"


BUSIEST = f"{MOST_CLAIMS}, service, route, key LIMIT {MAX_ROUTES} BY key"


def rate_slices(
    client: Client,
    keys: str,
    scope: QueryScope,
    condition: str = "true",
    *,
    is_by_route: bool = False,
    coarsest: Grain = Grain.DAY,
    **parameters: object,
) -> list[RateSlice]:
    """The slices by these expressions, which are named service, route and key.

    `condition` is on these names and on `KEYS`, `parameters` are those of both. The keys have one
    value in all the time of a row no longer than `coarsest`. `is_by_route` gives the `MAX_ROUTES`
    slices of a key with the most claims, in this order; the key is not the route.
    """
    columns = {*KEYS, "Tick", *SLICE_COLUMNS}
    sums = sums_of(client, scope, sorted(columns), coarsest=coarsest)
    query = f"""
SELECT {keys}, {SLICE_SUMS} FROM {sums} WHERE {condition}
GROUP BY service, route, key HAVING sum(Answers) > 0
ORDER BY {BUSIEST if is_by_route else "service, route, key"}
"""  # noqa: S608 - our own names
    found = read(client, SliceSums, query, {**scope.parameters, **parameters})
    return [one.slice for one in found]


def _point(step: RateSlice) -> RatePoint:
    """The point of a slice whose key is the start of a step."""
    return RatePoint(int(step.key) * 10**9, replace(step, key=""))


WHOLE_PART, TIME_PART = "whole", "time"
# The values of a dimension that are read: clients choose them, and can put an id into a release.
MAX_SLICES = 50


class SliceOrder(StrEnum):
    """Which values of a dimension are read."""

    NEWEST = "last DESC, answers DESC"
    MOST_ANSWERS = "answers DESC"


@dataclass(frozen=True, slots=True)
class RouteRates:
    """The rates of a route; `whole` is None without an answer, `slices` are by dimension.

    A dimension has at most as many slices as were asked for; `numbers` has those that there are.
    """

    whole: RateSlice | None
    points: tuple[RatePoint, ...]
    slices: Mapping[str, Sequence[RateSlice]]
    numbers: Mapping[str, int] = field(default_factory=dict)


def route_rates(
    client: Client,
    dimensions: Sequence[str],
    scope: QueryScope,
    *,
    step_s: int,
    limit: int = MAX_SLICES,
    order: SliceOrder = SliceOrder.NEWEST,
    also: Collection[str] = (),
) -> RouteRates:
    """The results of `rates_together`, `rates_over_time` and `rates_by` in one statement.

    `limit` bounds the values of a dimension, not the steps. The values in `also` come first, those
    of the newest step with the most answers next, unless the `order` is another one.
    """
    columns = ", ".join(f"toString({DIMENSION_COLUMNS[name]}) AS {name}" for name in dimensions)
    parts = ", ".join(f"('{name}', {name})" for name in dimensions)
    given = sums_of(client, scope, (*KEYS, "Tick", *SLICE_SUMMED), coarsest=coarsest_of(step_s))
    query = f"""
SELECT {REQUESTED_ROUTE}, part.1 AS dimension, part.2 AS key, {SLICE_SUMS},
    max(step) AS last, count() OVER (PARTITION BY dimension) AS number
FROM (
    SELECT {columns}, {STEP} AS step, Decision, {STEP_SUMS} FROM {given} AS g
    GROUP BY {", ".join(dimensions)}, step, Decision
)
ARRAY JOIN [('{WHOLE_PART}', ''), ('{TIME_PART}', toString(step)), {parts}] AS part
GROUP BY dimension, key HAVING sum(Answers) > 0
ORDER BY dimension, key IN {{also:Array(String)}} DESC, {order}, key
LIMIT {{limit:UInt32}} BY dimension, if(dimension = '{TIME_PART}', key, '')
"""  # noqa: S608 - our own names
    parameters = {**scope.parameters, "step": step_s, "limit": limit, "also": [*also]}
    numbered = read_by(client, ("dimension", "number"), SliceSums, query, parameters)
    found = {
        name: sorted((one.slice for one in rows), key=lambda one: one.key)
        for (name, _), rows in numbered.items()
    }
    times = sorted(found.get(TIME_PART, ()), key=lambda step: int(step.key))
    return RouteRates(
        whole=next(iter(found.get(WHOLE_PART, ())), None),
        points=tuple(map(_point, times)),
        slices={name: found.get(name, []) for name in dimensions},
        numbers={name: number for name, number in numbered if name in dimensions},
    )


def _sums(name: str, counted: str, answers: str = "1") -> str:
    """The columns of `AnswerSums` for these claims of the answers with a 1 in `answers`."""
    n = f"N * {answers}"
    return f"""
    toInt64(sumIf({n}, Decision = 'verified')) AS {name}_answers,
    toInt64(sum({n} * m)) AS {name}_claims,
    sum({n} * w * m) AS {name}_wm, sum({n} * w * {counted}) AS {name}_wx,
    sum({n} * w * w * m) AS {name}_wwm, sum({n} * w * w * {counted} * {counted}) AS {name}_wwxx,
    sum({n} * w * w * {counted} * m) AS {name}_wwxm, sum({n} * w * w * m * m) AS {name}_wwmm"""


# Exact: read from the verifications, not from the rollup. FINAL keeps one row of each answer,
# however often it was written. Use the rollup for long windows.
ROUTE_SUMS = f"""
SELECT ServiceName AS service, Route AS route,
    countIf(Decision = 'verified') AS answers,
    countIf(Decision != 'verified') AS unverified,
    countIf(Label IN ('contradicted', 'baseless')) AS unfaithful_answers,
    sum(toUInt64(EntailedCount)) AS entailed,
    sum(toUInt64(ContradictedCount)) AS contradicted,
    sum(toUInt64(BaselessCount)) AS baseless,
    sum(toUInt64(UndecidedCount)) AS undecided,
    sum(toUInt64(MisleadingCount)) AS misleading,
    {_sums("sums", "x")},
    {_sums("misleading_sums", "y", "k")}
FROM (
    SELECT *, 1 AS N, {SAMPLE_WEIGHT} AS w,
        toFloat64(ContradictedCount) + BaselessCount AS x, MisleadingWeight AS y,
        toFloat64(EntailedCount) + ContradictedCount + BaselessCount AS m,
        toFloat64(Checked != 'no') AS k
    FROM rt4chart_verifications FINAL
    WHERE Timestamp >= fromUnixTimestamp64Nano({{since:Int64}}) AND IsDeleted = 0
      AND ({{verifier:String}} = '' OR VerifierId = {{verifier:String}})
)
GROUP BY ServiceName, Route ORDER BY ServiceName, Route
"""  # noqa: S608 - our own names


@dataclass(frozen=True, slots=True)
class RouteSums:
    """One route's counts since a time; `claim_rate(sums)` is its rate.

    `answers` were verified, `unverified` have another decision (not sampled, no context, …).
    """

    service: str
    route: str
    answers: int
    unverified: int
    unfaithful_answers: int
    entailed: int
    contradicted: int
    baseless: int
    undecided: int
    misleading: int
    sums: AnswerSums
    misleading_sums: AnswerSums

    @property
    def claims(self) -> int:
        """The decided claims: the denominator of the rate."""
        return self.entailed + self.contradicted + self.baseless


def route_sums(client: Client, *, since_ns: int = 0, verifier: str = "") -> list[RouteSums]:
    """Every route with an answer since then; an empty `verifier` counts all verifiers."""
    parameters = {"since": since_ns, "verifier": verifier}
    return read(client, RouteSums, ROUTE_SUMS, parameters, settings=FINAL_PER_PARTITION)
