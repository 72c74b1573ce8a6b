"""Rates of claims by route, over time and by dimension."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from otel_rt4chart.core.errors import InputError
from otel_rt4chart.verify.core.rates import AnswerSums, Rate, claim_rate, part_rate, undecided_rate
from rt4chart_collector.store.answers.verifications import FINAL_PER_PARTITION
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
# The rows of rt4chart_route_5m are signed: a replaced verdict is added again with its sign turned,
# and both cancel in the sum. Integers are summed first, so that they cancel exactly, before weights
# turn them into floats.
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
    """The answers with one value of a dimension, and the labels of their claims.

    `service` and `route` are empty if the slice has several; `key` is the value, "" if the answers
    had none. `answers` were verified, `unverified` have another decision. Counts are unweighted;
    `weighted` and the sums are weighted by 1 / sample rate. `sums` are over claims, `answer_sums`
    over answers with a decided claim, where an answer with an unfaithful claim is unfaithful.
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
        """The decided claims: the denominator of the rates."""
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
    """Claims weighted by 1 / sample rate; undecided ones also by its square, for intervals."""

    contradicted: float
    baseless: float
    undecided: float
    undecided_squared: float


@dataclass(frozen=True, slots=True)
class RatePoint:
    """The answers of one step of time, which starts at `start_ns`."""

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

    Without a service or a route, of all of them together; the dimension `route` separates services
    too. Raises InputError for an unknown dimension.
    """
    if dimension not in DIMENSION_COLUMNS:
        raise InputError(f"expected a dimension of {', '.join(DIMENSIONS)}; got {dimension!r}")
    column = DIMENSION_COLUMNS[dimension]
    names = ROUTE_KEYS if dimension == "route" else REQUESTED_ROUTE
    parameters = _parameters(since_ns, until_ns, verifier, service, route)
    return [
        _slice_from_row(row, key=str(row["K"]))
        for row in _rows(client, f"{names}, {column} AS K", parameters)
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
    """All answers of that time in one slice; None without an answer."""
    parameters = _parameters(since_ns, until_ns, verifier, service, route)
    return next(
        (
            _slice_from_row(row, key="")
            for row in _rows(client, f"{REQUESTED_ROUTE}, '' AS K", parameters)
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
    """One slice for each step, by time, of the ticks that start in [since, until).

    Steps start at multiples of their length since 1970; steps without an answer are skipped.
    Without a service or a route, of all of them together. Raises InputError for a step that is not
    a multiple of five minutes.
    """
    if step_s < TICK_S or step_s % TICK_S:
        raise InputError(f"expected a step in seconds, a multiple of {TICK_S}; got {step_s}")
    start = "intDiv(toUnixTimestamp(Tick), {step:UInt32}) * {step:UInt32} AS K"
    parameters = {**_parameters(since_ns, until_ns, verifier, service, route), "step": step_s}
    rows = _rows(client, f"{REQUESTED_ROUTE}, {start}", parameters)
    return [RatePoint(int(str(row["K"])) * 10**9, _slice_from_row(row, key="")) for row in rows]


def _parameters(
    since_ns: int, until_ns: int, verifier: str, service: str | None, route: str | None
) -> dict[str, object]:
    times = {"since": since_ns, "until": until_ns}
    return {**times, "verifier": verifier, **scope_parameters(service, route)}


def _rows(client: Client, keys: str, parameters: Mapping[str, object]) -> Sequence[ResultRow]:
    """The rate sums by these keys, which have the aliases S, R and K."""
    alike = ANSWER_GROUPS.replace("{keys}", keys)
    query = f"SELECT S, R, K, {RATE_SUMS} FROM ({alike}) GROUP BY S, R, K ORDER BY S, R, K"  # noqa: S608 - our own names
    return list(client.query(query, parameters).named_results())


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
    """The rates of a route; `whole` is None without an answer, `slices` are by dimension."""

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
    """The results of `rates_together`, `rates_over_time` and `rates_by` in one statement."""
    columns = ", ".join(f"toString({DIMENSION_COLUMNS[name]}) AS {name}" for name in dimensions)
    start = "intDiv(toUnixTimestamp(Tick), {step:UInt32}) * {step:UInt32} AS Start"
    parts = ", ".join(f"('{name}', {name})" for name in dimensions)
    query = f"""
SELECT {{service:String}} AS S, {{route:String}} AS R, part.1 AS D, part.2 AS K, {RATE_SUMS}
FROM ({ANSWER_GROUPS.replace("{keys}", f"{columns}, {start}")})
ARRAY JOIN [('{WHOLE_PART}', ''), ('{TIME_PART}', toString(Start)), {parts}] AS part
GROUP BY D, K ORDER BY D, K
"""  # noqa: S608 - our own names
    parameters = {
        "verifier": verifier,
        "since": since_ns,
        "until": until_ns,
        "step": step_s,
        **scope_parameters(service, route),
    }
    found: dict[str, list[RateSlice]] = {}
    for row in client.query(query, parameters).named_results():
        found.setdefault(str(row["D"]), []).append(_slice_from_row(row, key=str(row["K"])))
    times = sorted(found.get(TIME_PART, ()), key=lambda step: int(step.key))
    return RouteRates(
        whole=next(iter(found.get(WHOLE_PART, ())), None),
        points=tuple(RatePoint(int(step.key) * 10**9, replace(step, key="")) for step in times),
        slices={name: found.get(name, []) for name in dimensions},
    )


# Exact: read from the verifications, not from the rollup. FINAL keeps one row of each answer,
# however often it was written. Use the rollup for long windows.
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
    sums: AnswerSums

    @property
    def claims(self) -> int:
        """The decided claims: the denominator of the rate."""
        return self.entailed + self.contradicted + self.baseless


def route_sums(client: Client, *, since_ns: int = 0, verifier: str = "") -> list[RouteSums]:
    """Every route with an answer since then; an empty `verifier` counts all verifiers."""
    parameters = {"since": since_ns, "verifier": verifier}
    rows = client.query(ROUTE_SUMS, parameters, settings=FINAL_PER_PARTITION)
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
