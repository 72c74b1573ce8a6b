"""Rates by what an answer was made with, and over time, from the answers per five minutes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from otel_rt4chart.core.errors import InputError
from otel_rt4chart.verify.core.rates import AnswerSums, Rate, claim_rate, part_rate, undecided_rate
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.filters import OF_SCOPE, scope

COLUMNS = {
    "route": "Route",
    "model": "Model",
    "prompt_version": "PromptVersion",
    "release": "Release",
    "environment": "Environment",
}
DIMENSIONS = tuple(COLUMNS)
TICK_S = 300
# The sums are signed: what was replaced cancels where it is added up. Whole numbers come first, so
# that it is gone before anything is weighted, to the last digit.
ALIKE = f"""
    SELECT {{keys}}, Decision, SampleRate, Decided, Unfaithful,
        sum(Answers) AS N, sum(Contradicted) AS C, sum(Baseless) AS B, sum(Undecided) AS U,
        if(SampleRate > 0 AND Decision = 'verified', 1 / SampleRate, 0) AS w,
        toFloat64(Decided) AS m, toFloat64(Unfaithful) AS x
    FROM rt4chart_route_5m
    WHERE VerifierId = {{verifier:String}}
      AND Tick >= fromUnixTimestamp64Nano({{since:Int64}})
      AND Tick < fromUnixTimestamp64Nano({{until:Int64}})
      AND {OF_SCOPE}
    GROUP BY ALL HAVING N > 0
"""  # noqa: S608 - our own names
SUMS = """
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
EACH_ROUTE = "ServiceName AS S, Route AS R"
AS_ASKED = "{service:String} AS S, {route:String} AS R"
MOMENTS = ("wm", "wx", "wwm", "wwxx", "wwxm", "wwmm")

Row = Mapping[str, object]


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
    if dimension not in COLUMNS:
        raise InputError(f"expected a dimension of {', '.join(DIMENSIONS)}; got {dimension!r}")
    column = COLUMNS[dimension]
    names = EACH_ROUTE if dimension == "route" else AS_ASKED
    given = _given(since_ns, until_ns, verifier, service, route)
    return [
        slice_of(row, key=str(row["K"])) for row in _rows(client, f"{names}, {column} AS K", given)
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
    given = _given(since_ns, until_ns, verifier, service, route)
    return next(
        (slice_of(row, key="") for row in _rows(client, f"{AS_ASKED}, '' AS K", given)), None
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
    given = {**_given(since_ns, until_ns, verifier, service, route), "step": step_s}
    rows = _rows(client, f"{AS_ASKED}, {start}", given)
    return [RatePoint(int(str(row["K"])) * 10**9, slice_of(row, key="")) for row in rows]


def _given(
    since_ns: int, until_ns: int, verifier: str, service: str | None, route: str | None
) -> dict[str, object]:
    times = {"since": since_ns, "until": until_ns}
    return {**times, "verifier": verifier, **scope(service, route)}


def _rows(client: Client, keys: str, given: Mapping[str, object]) -> Sequence[Row]:
    """The sums by these keys, which are named S, R and K."""
    alike = ALIKE.replace("{keys}", keys)
    query = f"SELECT S, R, K, {SUMS} FROM ({alike}) GROUP BY S, R, K ORDER BY S, R, K"  # noqa: S608 - our own names
    return list(client.query(query, given).named_results())


def slice_of(row: Row, *, key: str) -> RateSlice:
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
