"""Rates of claims by route, over time and by dimension."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from otel_rt4chart.core.errors import InputError
from otel_rt4chart.verify.core.rates import AnswerSums, Rate, claim_rate, part_rate, undecided_rate
from rt4chart_collector.store.engine.columns import IN_SCOPE, scope_parameters
from rt4chart_collector.store.engine.connect import Client

DIMENSION_COLUMNS = {
    "route": "Route",
    "model": "Model",
    "prompt_version": "PromptVersion",
    "release": "Release",
    "environment": "Environment",
}
DIMENSIONS = tuple(DIMENSION_COLUMNS)
TICK_S = 300
# The sums are signed: what was replaced cancels where it is added up. Whole numbers come first, so
# that it is gone before anything is weighted, to the last digit.
ANSWER_GROUPS = f"""
    SELECT {{keys}}, Decision, SampleRate, Decided, Unfaithful,
        sum(Answers) AS N, sum(Contradicted) AS C, sum(Baseless) AS B, sum(Undecided) AS U,
        if(SampleRate > 0 AND Decision = 'verified', 1 / SampleRate, 0) AS w,
        toFloat64(Decided) AS m, toFloat64(Unfaithful) AS x
    FROM rt4chart_route_5m
    WHERE VerifierId = {{verifier:String}}
      AND Tick >= fromUnixTimestamp64Nano({{since:Int64}})
      AND Tick < fromUnixTimestamp64Nano({{until:Int64}})
      AND {IN_SCOPE}
    GROUP BY ALL HAVING N > 0
"""  # noqa: S608 - our own names
RATE_SUMS = """
    sumIf(N, Decision = 'verified') AS answers, sumIf(N, Decision != 'verified') AS unverified,
    toInt64(sum(N * (m - x))) AS entailed, sum(C) AS contradicted, sum(B) AS baseless,
    sum(U) AS undecided, sum(w * C) AS w_contradicted, sum(w * B) AS w_baseless,
    sum(w * U) AS w_undecided, sum(w * w * U) AS ww_undecided,
    sum(N * w * m) AS wm, sum(N * w * x) AS wx, sum(N * w * w * m) AS wwm,
    sum(N * w * w * x * x) AS wwxx, sum(N * w * w * x * m) AS wwxm, sum(N * w * w * m * m) AS wwmm,
    sumIf(N, m > 0) AS decided_answers, sumIf(N, x > 0) AS unfaithful_answers,
    sumIf(N * w, m > 0) AS a_wm, sumIf(N * w, x > 0) AS a_wx,
    sumIf(N * w * w, m > 0) AS a_wwm, sumIf(N * w * w, x > 0) AS a_wwx
"""
ROUTE_KEYS = "ServiceName AS S, Route AS R"
REQUESTED_ROUTE = "{service:String} AS S, {route:String} AS R"
MOMENTS = ("wm", "wx", "wwm", "wwxx", "wwxm", "wwmm")

ResultRow = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class RateSlice:
    """The answers with one value of a dimension, and what their claims were found to be.

    `service` and `route` are empty where the slice is of several; `key` is the value, "" where the
    answers had none. `answers` were verified, `unverified` were decided otherwise. Counts are of
    what was seen, `weighted` and the sums by one over the sampling rate. `sums` are over claims,
    `answer_sums` over answers with a decided claim, each as one claim, unfaithful if it has one.
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

    @property
    def claims(self) -> int:
        """The decided claims: what the rates are shares of."""
        return self.sums.claims

    @property
    def rate(self) -> Rate:
        """The share of claims that are contradicted or baseless."""
        return claim_rate(self.sums)

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
    """Claims by one over the sampling rate, and the undecided ones by its square as well."""

    contradicted: float
    baseless: float
    undecided: float
    undecided_squared: float


@dataclass(frozen=True, slots=True)
class RatePoint:
    """The answers of one step of time, which starts then."""

    start_ns: int
    slice: RateSlice


def rates_by(
    client: Client,
    dimension: str,
    *,
    since_ns: int,
    until_ns: int,
    verifier: str,
    service: str | None = None,
    route: str | None = None,
) -> list[RateSlice]:
    """One slice for each value of the dimension, in order, over ticks that start in [since, until).

    Without a service or a route, all of them together; by the dimension `route`, every service
    is apart. Raises InputError for a dimension that is none of `DIMENSIONS`.
    """
    if dimension not in DIMENSION_COLUMNS:
        raise InputError(f"expected a dimension of {', '.join(DIMENSIONS)}; got {dimension!r}")
    column = DIMENSION_COLUMNS[dimension]
    names = ROUTE_KEYS if dimension == "route" else REQUESTED_ROUTE
    given = _parameters(since_ns, until_ns, verifier, service, route)
    return [
        _slice_from_row(row, key=str(row["K"]))
        for row in _rows(client, f"{names}, {column} AS K", given)
    ]


def rates_together(
    client: Client,
    *,
    since_ns: int,
    until_ns: int,
    verifier: str,
    service: str | None = None,
    route: str | None = None,
) -> RateSlice | None:
    """All these answers as one slice; None where there is none."""
    given = _parameters(since_ns, until_ns, verifier, service, route)
    return next(
        (
            _slice_from_row(row, key="")
            for row in _rows(client, f"{REQUESTED_ROUTE}, '' AS K", given)
        ),
        None,
    )


def rates_over_time(
    client: Client,
    *,
    since_ns: int,
    until_ns: int,
    step_s: int,
    verifier: str,
    service: str | None,
    route: str | None,
) -> list[RatePoint]:
    """The slices of each step, by time, of the ticks that start in [since, until).

    Steps begin at whole multiples of their length since 1970; those without an answer are left out.
    Without a service or a route, all of them together. Raises InputError for a step that is no
    multiple of five minutes.
    """
    if step_s < TICK_S or step_s % TICK_S:
        raise InputError(f"expected a step of whole five minutes, in seconds; got {step_s}")
    start = "intDiv(toUnixTimestamp(Tick), {step:UInt32}) * {step:UInt32} AS K"
    given = {**_parameters(since_ns, until_ns, verifier, service, route), "step": step_s}
    rows = _rows(client, f"{REQUESTED_ROUTE}, {start}", given)
    return [RatePoint(int(str(row["K"])) * 10**9, _slice_from_row(row, key="")) for row in rows]


def _parameters(
    since_ns: int, until_ns: int, verifier: str, service: str | None, route: str | None
) -> dict[str, object]:
    times = {"since": since_ns, "until": until_ns}
    return {**times, "verifier": verifier, **scope_parameters(service, route)}


def _rows(client: Client, keys: str, given: Mapping[str, object]) -> Sequence[ResultRow]:
    """The sums by these keys, which are named S, R and K."""
    alike = ANSWER_GROUPS.replace("{keys}", keys)
    query = f"SELECT S, R, K, {RATE_SUMS} FROM ({alike}) GROUP BY S, R, K ORDER BY S, R, K"  # noqa: S608 - our own names
    return list(client.query(query, given).named_results())


def _slice_from_row(row: ResultRow, *, key: str) -> RateSlice:
    """The slice that a row of `SUMS` with S and R is."""
    number = {name: value for name, value in row.items() if isinstance(value, int | float)}
    count = {name: int(value) for name, value in number.items()}
    claims = count["entailed"] + count["contradicted"] + count["baseless"]
    moments = {name: float(number[name]) for name in MOMENTS}
    rated, a_wx, a_wwm, a_wwx = (float(number[n]) for n in ("a_wm", "a_wx", "a_wwm", "a_wwx"))
    decided = count["decided_answers"]
    return RateSlice(
        service=str(row["S"]),
        route=str(row["R"]),
        key=key,
        answers=count["answers"],
        unverified=count["unverified"],
        entailed=count["entailed"],
        contradicted=count["contradicted"],
        baseless=count["baseless"],
        undecided=count["undecided"],
        sums=AnswerSums(answers=count["answers"], claims=claims, **moments),
        unfaithful_answers=count["unfaithful_answers"],
        answer_sums=AnswerSums(decided, decided, rated, a_wx, a_wwm, a_wwx, a_wwx, a_wwm),
        weighted=WeightedCounts(
            contradicted=float(number["w_contradicted"]),
            baseless=float(number["w_baseless"]),
            undecided=float(number["w_undecided"]),
            undecided_squared=float(number["ww_undecided"]),
        ),
    )


WHOLE_PART, TIME_PART = "whole", "time"


@dataclass(frozen=True, slots=True)
class RouteRates:
    """`whole` is None without an answer; `slices` has a list for each dimension asked for."""

    whole: RateSlice | None
    points: tuple[RatePoint, ...]
    slices: Mapping[str, Sequence[RateSlice]]


def route_rates(
    client: Client,
    dimensions: Sequence[str],
    *,
    service: str,
    route: str,
    verifier: str,
    since_ns: int,
    until_ns: int,
    step_s: int,
) -> RouteRates:
    """The same as `rates_over_time` and, for each dimension, `rates_by` of this route."""
    columns = ", ".join(f"toString({DIMENSION_COLUMNS[name]}) AS {name}" for name in dimensions)
    start = "intDiv(toUnixTimestamp(Tick), {step:UInt32}) * {step:UInt32} AS Start"
    parts = ", ".join(f"('{name}', {name})" for name in dimensions)
    query = f"""
SELECT {{service:String}} AS S, {{route:String}} AS R, part.1 AS D, part.2 AS K, {RATE_SUMS}
FROM ({ANSWER_GROUPS.replace("{keys}", f"{columns}, {start}")})
ARRAY JOIN [('{WHOLE_PART}', ''), ('{TIME_PART}', toString(Start)), {parts}] AS part
GROUP BY D, K ORDER BY D, K
"""  # noqa: S608 - our own names
    given = {
        "verifier": verifier,
        "since": since_ns,
        "until": until_ns,
        "step": step_s,
        **scope_parameters(service, route),
    }
    found: dict[str, list[RateSlice]] = {}
    for row in client.query(query, given).named_results():
        found.setdefault(str(row["D"]), []).append(_slice_from_row(row, key=str(row["K"])))
    times = sorted(found.get(TIME_PART, ()), key=lambda one: int(one.key))
    return RouteRates(
        whole=next(iter(found.get(WHOLE_PART, ())), None),
        points=tuple(RatePoint(int(one.key) * 10**9, replace(one, key="")) for one in times),
        slices={name: found.get(name, []) for name in dimensions},
    )


# FINAL keeps one row for each answer, however often it was written. Long windows use the rollup.
ROUTE_SUMS = """
SELECT ServiceName, Route,
    countIf(Decision = 'verified') AS answers,
    countIf(Decision != 'verified') AS unverified,
    countIf(Label IN ('contradicted', 'baseless')) AS unfaithful_answers,
    sum(toUInt64(EntailedCount)) AS entailed,
    sum(toUInt64(ContradictedCount)) AS contradicted,
    sum(toUInt64(BaselessCount)) AS baseless,
    sum(toUInt64(UndecidedCount)) AS undecided,
    sum(w * m) AS wm, sum(w * x) AS wx, sum(w * w * m) AS wwm,
    sum(w * w * x * x) AS wwxx, sum(w * w * x * m) AS wwxm, sum(w * w * m * m) AS wwmm
FROM (
    SELECT *, if(SampleRate > 0, 1 / SampleRate, 0) AS w,
        toFloat64(ContradictedCount) + BaselessCount AS x,
        toFloat64(EntailedCount) + ContradictedCount + BaselessCount AS m
    FROM rt4chart_verifications FINAL
    WHERE Timestamp >= fromUnixTimestamp64Nano({since:Int64}) AND IsDeleted = 0
      AND ({verifier:String} = '' OR VerifierId = {verifier:String})
)
GROUP BY ServiceName, Route ORDER BY ServiceName, Route
"""

# The day of an answer's time is in its key: no key lies in two partitions.
EACH_DAY_ALONE = {"do_not_merge_across_partitions_select_final": 1}


@dataclass(frozen=True, slots=True)
class RouteSums:
    """One route's counts since a time; `sums` gives the rate through `rates.claim_rate`.

    `answers` were verified, `unverified` were decided otherwise (not sampled, no context, …).
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
    sums: AnswerSums

    @property
    def claims(self) -> int:
        """The decided claims: what the rate is a share of."""
        return self.entailed + self.contradicted + self.baseless


def route_sums(client: Client, *, since_ns: int = 0, verifier: str = "") -> list[RouteSums]:
    """Every route with a candidate answer since then; an empty `verifier` takes all of them."""
    given = {"since": since_ns, "verifier": verifier}
    rows = client.query(ROUTE_SUMS, given, settings=EACH_DAY_ALONE)
    return [_route_from_row(row) for row in rows.named_results()]


def _route_from_row(row: dict[str, object]) -> RouteSums:
    number = {key: value for key, value in row.items() if isinstance(value, int | float)}
    claims = int(number["entailed"] + number["contradicted"] + number["baseless"])
    moments = {key: float(number[key]) for key in ("wm", "wx", "wwm", "wwxx", "wwxm", "wwmm")}
    return RouteSums(
        service=str(row["ServiceName"]),
        route=str(row["Route"]),
        answers=int(number["answers"]),
        unverified=int(number["unverified"]),
        unfaithful_answers=int(number["unfaithful_answers"]),
        entailed=int(number["entailed"]),
        contradicted=int(number["contradicted"]),
        baseless=int(number["baseless"]),
        undecided=int(number["undecided"]),
        sums=AnswerSums(answers=int(number["answers"]), claims=claims, **moments),
    )
