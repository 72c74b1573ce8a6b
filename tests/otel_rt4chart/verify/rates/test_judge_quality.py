from __future__ import annotations

import random
from dataclasses import replace

import pytest

from otel_rt4chart.verify.core.rates import Rate
from otel_rt4chart.verify.rates.judge_quality import JudgeQuality, judge_quality
from tests.otel_rt4chart.verify.rates.rate_worlds import (
    labels_drawn,
    make_claims,
    population_from,
)


def test_precision_and_recall_are_those_of_all_claims() -> None:
    """The queue draws flagged claims more often; their weights undo it."""
    chance = random.Random(1)  # noqa: S311
    claims = make_claims(chance, rate=0.1, recall=0.7, alarms=0.05)
    flagged = [one.is_wrong for one in claims if one.is_flagged]
    wrong = [one.is_flagged for one in claims if one.is_wrong]

    found = judge_quality(population_from(claims), labels_drawn(claims, 400, "a"))

    for rate, truth in (
        (found.precision, sum(flagged) / len(flagged)),
        (found.recall, sum(wrong) / len(wrong)),
    ):
        assert rate.value == pytest.approx(truth, abs=0.08)
        assert rate.low is not None
        assert rate.high is not None
        assert rate.low < truth < rate.high


def test_intervals_cover_precision_and_recall() -> None:
    """Of 60 labels each, in 90% of 150 deployments or more."""
    held = [0, 0]
    for seed in range(150):
        chance = random.Random(seed)  # noqa: S311
        claims = make_claims(chance, rate=0.25, recall=0.7, alarms=0.1)
        found = judge_quality(population_from(claims), labels_drawn(claims, 60, str(seed)))
        precision = 0.25 * 0.7 / (0.25 * 0.7 + 0.75 * 0.1)
        for at, (rate, truth) in enumerate(((found.precision, precision), (found.recall, 0.7))):
            assert rate.low is not None
            assert rate.high is not None
            held[at] += rate.low <= truth <= rate.high

    assert min(held) >= 135


def test_without_labels_of_a_kind_there_is_no_number() -> None:
    """No flagged label, no precision; no wrong one, no recall; no label at all, neither."""
    unknown = Rate(None, None, None)
    chance = random.Random(2)  # noqa: S311
    claims = make_claims(chance, rate=0.1, recall=0.7, alarms=0.05)
    population = population_from(claims)
    right = [replace(one, wrong=0.0) for one in labels_drawn(claims, 40, "a") if not one.is_flagged]

    wrong = [replace(right[0], wrong=1.0), *right[1:]]
    assert judge_quality(population, wrong).recall == Rate(0.0, 0.0, 1.0)
    assert judge_quality(population, []) == JudgeQuality(unknown, unknown, 0)
    assert judge_quality(population, right) == JudgeQuality(unknown, unknown, len(right))
