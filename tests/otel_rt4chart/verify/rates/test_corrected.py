from __future__ import annotations

import random
from dataclasses import replace
from itertools import pairwise
from statistics import fmean, stdev

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from otel_rt4chart.core.errors import InputError
from otel_rt4chart.verify.core.rates import Rate
from otel_rt4chart.verify.rates.corrected import (
    MIN_LABELS,
    CorrectedRate,
    LimitDecision,
    LimitVerdict,
    corrected_rate,
    decide_limit,
)
from otel_rt4chart.verify.rates.label_queue import LabelCandidate, draw_labels
from otel_rt4chart.verify.rates.labels import TrustedLabel
from otel_rt4chart.verify.rates.population import ScoredAnswer, ScoredClaim, population_of
from tests.otel_rt4chart.verify.rates.rate_worlds import (
    KnownClaim,
    label,
    labels_drawn,
    make_claims,
    population_from,
)

UNKNOWN = Rate(None, None, None)


def ends(found: CorrectedRate) -> tuple[float, float, float]:
    """The rate and the ends of its interval, which must be there."""
    assert found.rate.value is not None
    assert found.rate.low is not None
    assert found.rate.high is not None
    return found.rate.low, found.rate.value, found.rate.high


def world(seed: int, **kinds: float) -> list[KnownClaim]:
    """A world of a thousand claims."""
    rates = {"rate": 0.2, "recall": 0.8, "alarms": 0.1} | kinds
    return make_claims(random.Random(seed), **rates)  # type: ignore[arg-type] # noqa: S311


@pytest.mark.parametrize("size", [0, 1, 12, 19])
def test_too_few_labels_give_a_number_of_labels_instead_of_a_rate(size: int) -> None:
    """It says how many more it needs."""
    claims = world(1)

    found = corrected_rate(population_from(claims), labels_drawn(claims, 50, "seed")[:size])

    assert found == CorrectedRate(UNKNOWN, size, MIN_LABELS - size, left=1000 - size)
    assert found.labels_for(0.05) is None
    assert decide_limit(found, 0.1) == LimitDecision(LimitVerdict.CANNOT_TELL, MIN_LABELS - size)


def test_labels_of_few_answers_give_no_rate() -> None:
    """Twenty-five labels of five answers say little more than five."""
    claims = world(1)

    found = corrected_rate(population_from(claims), [label(one) for one in claims[:25]])

    assert (found.rate, found.more_labels) == (UNKNOWN, 5)


def test_a_route_without_claims_has_no_rate() -> None:
    """Also if there are labels from before."""
    labels = labels_drawn(world(1), 50, "seed")

    assert corrected_rate(population_of([]), labels) == CorrectedRate(UNKNOWN, 50, 1)


def test_a_perfect_judge_is_not_corrected() -> None:
    """Where every label confirms the verdict, the rate is the raw one, with doubt left."""
    claims = [one._replace(score=float(one.is_wrong), is_flagged=one.is_wrong) for one in world(2)]
    raw = sum(one.is_flagged for one in claims) / len(claims)

    few, many = (
        corrected_rate(population_from(claims), labels_drawn(claims, size, "a"))
        for size in (25, 400)
    )

    assert ends(few)[1] == ends(many)[1] == pytest.approx(raw)
    assert ends(few)[0] < raw < ends(few)[2]
    assert many.label_variance < few.label_variance / 100


def test_labels_of_one_class_leave_doubt() -> None:
    """Twenty-five claims without an error do not make a rate of zero certain."""
    claims = [one._replace(is_wrong=False, is_flagged=False, score=0.1) for one in world(3)]
    wrong = [one._replace(is_wrong=True) for one in claims]

    low, value, high = ends(corrected_rate(population_from(claims), labels_drawn(claims, 25, "a")))
    other = ends(corrected_rate(population_from(wrong), labels_drawn(wrong, 25, "a")))

    assert value == 0.0
    assert low == pytest.approx(0, abs=0.01)
    assert 0.05 < high < 0.15
    assert other == pytest.approx((1 - high, 1.0, 1 - low))


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 1000), st.floats(0, 1), st.floats(0, 1), st.floats(0.01, 0.9), st.randoms())
def test_an_interval_holds_its_rate_and_the_order_of_labels_is_nothing(
    seed: int, recall: float, alarms: float, rate: float, chance: random.Random
) -> None:
    """Whatever the judge, 0 ≤ low ≤ rate ≤ high ≤ 1, and shuffled labels say the same."""
    claims = make_claims(
        random.Random(seed),  # noqa: S311
        rate=rate,
        recall=recall,
        alarms=alarms,
        answers=60,
    )
    labels = labels_drawn(claims, 30, str(seed))
    population = population_from(claims)
    shuffled = list(labels)
    chance.shuffle(shuffled)

    found, again = corrected_rate(population, labels), corrected_rate(population, shuffled)

    low, value, high = ends(found)
    assert 0 <= low <= value <= high <= 1
    assert 0 <= found.tuning <= 1
    assert ends(again) == pytest.approx((low, value, high))


@given(st.floats(0.01, 1), st.floats(1, 1e5))
def test_common_factors_of_probabilities_and_weights_are_nothing(
    share: float, weight: float
) -> None:
    """Rates are ratios: only how labels differ from each other counts."""
    claims = world(4)
    labels = labels_drawn(claims, 40, "a")
    scaled = [replace(one, probability=one.probability * share, weight=weight) for one in labels]
    population = population_from(claims)

    plain, other = corrected_rate(population, labels), corrected_rate(population, scaled)

    assert ends(other) == pytest.approx(ends(plain))


def test_a_useless_judge_costs_little_and_a_good_one_saves_much() -> None:
    """Against the same number of labels of a judge that says nothing."""
    useless, good = world(5, recall=0.3, alarms=0.3), world(5, recall=0.95, alarms=0.02)

    widths = [
        high - low
        for claims in (useless, good)
        for low, _, high in [
            ends(corrected_rate(population_from(claims), labels_drawn(claims, 100, "a")))
        ]
    ]

    alone = 2 * 1.96 * (0.2 * 0.8 / 100) ** 0.5
    assert widths[0] < 1.35 * alone
    assert widths[1] < 0.7 * alone


def test_scores_are_believed_as_far_as_they_agree_with_labels() -> None:
    """Without strata, λ follows the scores' worth; noise has next to none."""
    chance = random.Random(6)  # noqa: S311
    claims = [one._replace(is_flagged=False) for one in world(6, recall=0.95, alarms=0.05)]
    noise = [one._replace(score=chance.random()) for one in claims]

    informed = corrected_rate(population_from(claims), labels_drawn(claims, 200, "a"))
    blind = corrected_rate(population_from(noise), labels_drawn(noise, 200, "a"))

    assert informed.tuning > 0.6
    assert blind.tuning < 0.2
    assert informed.label_variance < 0.6 * blind.label_variance


@pytest.mark.parametrize(
    ("recall", "alarms"), [(0.3, 0.02), (0.9, 0.4), (0.5, 0.5)], ids=["blind", "nervous", "random"]
)
def test_the_rate_is_right_on_average_whatever_the_judge_does(recall: float, alarms: float) -> None:
    """Over 200 draws from the same claims; the raw rate is far away."""
    claims = world(7, recall=recall, alarms=alarms)
    truth = sum(one.is_wrong for one in claims) / len(claims)
    population = population_from(claims)

    values = [
        ends(corrected_rate(population, labels_drawn(claims, 40, str(seed))))[1]
        for seed in range(200)
    ]

    assert sum(values) / len(values) == pytest.approx(truth, abs=0.015)
    assert abs(sum(one.is_flagged for one in claims) / len(claims) - truth) > 0.05


@pytest.mark.parametrize("rate", [0.06, 0.3])
@pytest.mark.parametrize(("recall", "alarms"), [(0.4, 0.15), (0.9, 0.05)])
def test_intervals_of_25_labels_cover_the_truth(rate: float, recall: float, alarms: float) -> None:
    """In 92% of 150 deployments or more: the claims of an answer are alike, answers come anew."""
    held = 0
    for seed in range(150):
        claims = make_claims(
            random.Random(seed),  # noqa: S311
            rate=rate,
            recall=recall,
            alarms=alarms,
            answers=80,
        )
        low, _, high = ends(
            corrected_rate(population_from(claims), labels_drawn(claims, 25, str(seed)))
        )
        held += low <= rate <= high

    assert held >= 138


def test_more_labels_are_asked_for_narrower_intervals() -> None:
    """Too few answers cannot be made up for by labels."""
    claims = world(8)
    found = corrected_rate(population_from(claims), labels_drawn(claims, 50, "a"))

    asked = [found.labels_for(width) for width in (0.15, 0.1, 0.07, 0.05)]

    assert all(one is not None and two is not None and one < two for one, two in pairwise(asked))
    assert found.labels_for(0.001) is None


@pytest.mark.parametrize("answers", [18, 40])
def test_no_more_labels_are_asked_for_than_there_are_claims(answers: int) -> None:
    """A small route: all of its claims give the least width, and a narrower one takes answers."""
    claims = world(8, answers=answers)
    every = corrected_rate(population_from(claims), [label(one) for one in claims])
    found = corrected_rate(population_from(claims), labels_drawn(claims, 25, "a"))
    least = found.least_half_width

    assert (found.left, every.left) == (5 * answers - 25, 0)
    assert least is not None
    for width in (0.01, 0.02, 0.05, least * 0.99, least * 1.01, 0.2, 0.3):
        wanted = found.labels_for(width)
        assert (wanted is None) == (width < least)
        assert wanted is None or 1 <= wanted <= 5 * answers
    low, _, high = ends(every)
    assert every.least_half_width == pytest.approx((high - low) / 2, rel=0.25)
    assert every.labels_for(0.001) is None
    assert decide_limit(every, (low + high) / 2).more_labels is None


@pytest.mark.parametrize(("answers", "labels"), [(3, 0), (3, 15), (9, 20)])
def test_a_route_with_too_few_claims_asks_for_no_labels(answers: int, labels: int) -> None:
    """Labels on all of them would not be enough for a rate."""
    claims = world(1, answers=answers)

    found = corrected_rate(population_from(claims), [label(one) for one in claims[:labels]])

    assert (found.rate, found.is_too_small) == (UNKNOWN, True)
    assert decide_limit(found, 0.1) == LimitDecision(LimitVerdict.CANNOT_TELL)


def test_a_limit_is_decided_by_the_interval() -> None:
    """Above, not above, or so many labels more."""
    claims = world(9)
    found = corrected_rate(population_from(claims), labels_drawn(claims, 50, "a"))
    low, value, high = ends(found)
    between = (value + high) / 2

    assert decide_limit(found, low - 0.01) == LimitDecision(LimitVerdict.ABOVE)
    assert decide_limit(found, high) == LimitDecision(LimitVerdict.NOT_ABOVE)
    open_ = decide_limit(found, between)
    assert open_.verdict is LimitVerdict.CANNOT_TELL
    assert open_.more_labels is not None
    assert open_.more_labels > 50
    assert decide_limit(found, value) == LimitDecision(LimitVerdict.CANNOT_TELL)


def test_labels_with_a_verdict_that_the_judge_gives_no_more_still_count() -> None:
    """They join the stratum with the nearest score."""
    claims = world(10)
    labels = labels_drawn(claims, 60, "a")
    moved = [
        replace(one, stratum="undecided", score=0.5) if at % 4 == 0 else one
        for at, one in enumerate(labels)
    ]

    assert corrected_rate(population_from(claims), moved).rate.value is not None


def test_one_rare_stratum_without_labels_joins_another() -> None:
    """A handful of undecided claims needs no labels of its own."""
    claims = world(11)
    labels = labels_drawn(claims, 60, "a")
    rare = ScoredAnswer([ScoredClaim("undecided", 0.5)])
    answers = [
        ScoredAnswer([ScoredClaim(one.stratum, one.score) for one in claims[at : at + 5]])
        for at in range(0, len(claims), 5)
    ]

    plain = corrected_rate(population_of(answers), labels)
    found = corrected_rate(population_of([*answers, rare]), labels)

    assert ends(found) == pytest.approx(ends(plain), abs=0.01)


def test_disagreeing_raters_count_as_their_mean() -> None:
    """A claim that one of two raters calls wrong is half a wrong claim."""
    claims = world(12)
    split = [replace(label(one), wrong=0.5) for one in claims[::20]]

    assert ends(corrected_rate(population_from(claims), split))[1] == pytest.approx(0.5)


@pytest.mark.parametrize(
    "wrong",
    [
        {"probability": 0.0},
        {"probability": 1.1},
        {"wrong": 2.0},
        {"score": -0.1},
        {"weight": 0.0},
        {"weight": float("inf")},
    ],
)
def test_an_impossible_label_is_refused(wrong: dict[str, float]) -> None:
    """A probability of zero would make one claim stand for all."""
    values: dict[str, float] = {"score": 0.5, "wrong": 1.0, "probability": 0.5, "weight": 1.0}

    with pytest.raises(InputError):
        TrustedLabel("a", "flagged", is_flagged=True, has_confidence=True, **(values | wrong))


def test_labels_drawn_by_a_former_judge_are_right_under_the_strata_of_a_new_one() -> None:
    """Probabilities that differ within a stratum are weighed out: no bias, and intervals hold."""
    chance = random.Random(7)  # noqa: S311
    claims = world(7)
    # The former judge is sure of some wrong claims and doubts the right ones.
    former = [
        one._replace(
            is_flagged=chance.random() < (0.2 if one.is_wrong else 0.5),
            score=0.02 if one.is_wrong else 0.5,
        )
        for one in claims
    ]
    truth = sum(one.is_wrong for one in claims) / len(claims)
    population = population_from(claims)
    errors, held = [], 0
    for seed in range(60):
        drawn = draw_labels(
            [LabelCandidate(str(at), "r", one.stratum, one.score) for at, one in enumerate(former)],
            100,
            seed=str(seed),
        )
        labels = [label(claims[int(one.claim)], one.probability) for one in drawn]
        low, value, high = ends(corrected_rate(population, labels))
        errors.append(value - truth)
        held += low <= truth <= high

    assert abs(fmean(errors)) < 3 * stdev(errors) / len(errors) ** 0.5
    assert held >= 55
