"""How the rates of two versions differ, over the routes that both have, each weighted alike."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from otel_rt4chart.verify.core.model import FAULTLESS, ClaimStatus
from otel_rt4chart.verify.core.rates import AnswerSums, Measure, Rate, part_rate
from otel_rt4chart.verify.rates.difference import (
    RateDifference,
    answers_to_tell,
    rate_difference,
    standardised,
)
from rt4chart_collector.store.rates.claim_rates import RateSlice

RouteRates: TypeAlias = Mapping[tuple[str, str], RateSlice]
# The difference that more answers are counted for.
GOAL = 0.02


@dataclass(frozen=True, slots=True)
class ComparedRate:
    """A rate of both versions, with the claims and answers it is of, and b's minus a's.

    `more_answers` of each version would tell a difference of `GOAL`; 0 if these do, None if it is
    not known.
    """

    a: Rate
    b: Rate
    difference: RateDifference
    claims: tuple[int, int]
    answers: tuple[int, int]
    more_answers: int | None


@dataclass(frozen=True, slots=True)
class MatchedRoute:
    """A route with decided claims in both versions."""

    service: str
    route: str
    a: RateSlice
    b: RateSlice


@dataclass(frozen=True, slots=True)
class UnmatchedRoute:
    """A route with answers of which one version at most has decided claims."""

    service: str
    route: str
    answers: tuple[int, int]


@dataclass(frozen=True, slots=True)
class ComparedRates:
    """All rates of two versions; `matched` are the routes that they are of."""

    matched: tuple[MatchedRoute, ...]
    unmatched: tuple[UnmatchedRoute, ...]
    measures: Mapping[Measure, ComparedRate]
    labels: Mapping[str, ComparedRate]
    statuses: Mapping[str, ComparedRate]

    def of_measures(self, one: MatchedRoute) -> dict[Measure, ComparedRate]:
        """The rates of one route."""
        return {measure: _of_measure([one], measure) for measure in Measure}


def compare_rates(a: RouteRates, b: RouteRates) -> ComparedRates:
    """Compare the rates of two versions, given by route."""
    matched, unmatched = _match(a, b)
    statuses = {name for route in matched for one in (route.a, route.b) for name in one.statuses}
    return ComparedRates(
        matched=matched,
        unmatched=unmatched,
        measures={measure: _of_measure(matched, measure) for measure in Measure},
        labels={
            "contradicted": compared(matched, lambda rates: rates.contradicted_rate),
            "baseless": compared(matched, lambda rates: rates.baseless_rate),
            "undecided": compared(
                matched, lambda rates: rates.undecided_rate, more=lambda rates: rates.undecided
            ),
        },
        statuses={
            status: part_compared(matched, _status_weights(matched, status))
            for status in map(str, ClaimStatus)
            if status in statuses and status not in FAULTLESS
        },
    )


def compared(
    matched: Sequence[MatchedRoute],
    rate_of: Callable[[RateSlice], Rate],
    sums: Callable[[RateSlice], AnswerSums] = lambda rates: rates.sums,
    more: Callable[[RateSlice], int] = lambda _: 0,
) -> ComparedRate:
    """A rate over the routes; `sums` has the claims and answers that it is of.

    `more` are claims beside those of the sums.
    """
    known = [
        (route, rate_of(route.a), rate_of(route.b))
        for route in matched
        if rate_of(route.a).value is not None and rate_of(route.b).value is not None
    ]
    a, b = standardised([(first, second) for _, first, second in known])
    routes = [route for route, _, _ in known]
    answers = _total(routes, lambda rates: sums(rates).answers)
    return ComparedRate(
        a=a,
        b=b,
        difference=rate_difference(a, b),
        claims=_total(routes, lambda rates: sums(rates).claims + more(rates)),
        answers=answers,
        more_answers=answers_to_tell(a, b, answers, GOAL),
    )


def part_compared(
    matched: Sequence[MatchedRoute],
    weights: Mapping[tuple[str, str], tuple[float, float]],
) -> ComparedRate:
    """The share of some failures, given by route as the sums of their weights in both versions.

    It is of the claims that were checked for misleading ones, where there are any.
    """
    given = {
        id(rates): weight
        for route in matched
        for rates, weight in zip(
            (route.a, route.b), weights.get((route.service, route.route), (0.0, 0.0)), strict=True
        )
    }
    return compared(matched, lambda rates: part_rate(_checked(rates), given[id(rates)]), _checked)


def _of_measure(matched: Sequence[MatchedRoute], measure: Measure) -> ComparedRate:
    return compared(
        matched, lambda rates: rates.rate_of(measure), lambda rates: rates.sums_of(measure)
    )


def _total(routes: Sequence[MatchedRoute], number: Callable[[RateSlice], int]) -> tuple[int, int]:
    """A number of both versions, over the routes."""
    return sum(number(route.a) for route in routes), sum(number(route.b) for route in routes)


def _match(
    a: RouteRates, b: RouteRates
) -> tuple[tuple[MatchedRoute, ...], tuple[UnmatchedRoute, ...]]:
    matched, unmatched = [], []
    for key in sorted(a.keys() | b.keys()):
        first, second = a.get(key), b.get(key)
        if first and second and first.claims and second.claims:
            matched.append(MatchedRoute(*key, first, second))
        elif any(one.answers for one in (first, second) if one):
            answers = (first.answers if first else 0, second.answers if second else 0)
            unmatched.append(UnmatchedRoute(*key, answers))
    return tuple(matched), tuple(unmatched)


def _status_weights(
    matched: Sequence[MatchedRoute], status: str
) -> dict[tuple[str, str], tuple[float, float]]:
    return {
        (route.service, route.route): (
            route.a.statuses.get(status, 0.0),
            route.b.statuses.get(status, 0.0),
        )
        for route in matched
    }


def _checked(rates: RateSlice) -> AnswerSums:
    return rates.either_sums if rates.either_sums.claims else rates.sums
