"""The rivals of the corrected rate, and that rate beside the published estimator."""

from __future__ import annotations

import random
from statistics import fmean

import pytest

from benchmarks.rates.rivals import labels_alone, power_tuned_mean, rogan_gladen
from otel_rt4chart.verify.core.rates import Rate
from otel_rt4chart.verify.rates.corrected import corrected_rate
from otel_rt4chart.verify.rates.labels import TrustedLabel
from otel_rt4chart.verify.rates.population import ScoredAnswer, ScoredClaim, population_of

LABELS = [1, 0, 0, 1, 1, 0, 0, 0, 1, 0, 1, 0, 0, 0, 1, 0, 0, 1, 0, 0]
CLEAR = [0.9, 0.2, 0.1, 0.7, 0.4, 0.3, 0.05, 0.6, 0.8, 0.1,
         0.95, 0.2, 0.15, 0.35, 0.55, 0.1, 0.45, 0.85, 0.25, 0.05]  # fmt: skip
NOISY = [0.9, 0.2, 0.7, 0.3, 0.4, 0.3, 0.65, 0.6, 0.2, 0.5,
         0.55, 0.2, 0.15, 0.75, 0.85, 0.1, 0.75, 0.6, 0.25, 0.45]  # fmt: skip
UNLABELLED = [(37 * at + 11) % 101 / 101 * 0.8 for at in range(200)]


@pytest.mark.parametrize(
    ("scores", "expected"),
    [
        (CLEAR, (0.34302475, 0.2132145, 0.472835)),
        (NOISY, (0.3185098, 0.11413691, 0.5228827)),
    ],
    ids=["λ at its bound", "λ between"],
)
def test_ppi_agrees_with_ppi_python(
    scores: list[float], expected: tuple[float, float, float]
) -> None:
    """`ppi_mean_pointestimate` and `ppi_mean_ci(alpha=0.05)` of ppi-python 0.2.3.

    Its figures are written down here: with numba and statsmodels it weighs 650 MB.
    """
    labels = [float(one) for one in LABELS]

    assert power_tuned_mean(labels, scores, UNLABELLED)[:3] == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("noise", [0.1, 0.4])
def test_the_corrected_rate_without_strata_is_the_published_one(noise: float) -> None:
    """An even draw of 400 labels, an answer for each claim: the same λ, value and interval."""
    chance = random.Random(1)  # noqa: S311
    labels, unlabelled = [], []
    for at in range(8_000):
        is_wrong = chance.random() < 0.3
        score = min(max(chance.gauss(0.7 if is_wrong else 0.3, noise), 0.0), 1.0)
        if at < 400:
            labels.append(
                TrustedLabel(str(at), "all", score, is_flagged=False, wrong=float(is_wrong))
            )
        else:
            unlabelled.append(score)
    value, low, high, tuning = power_tuned_mean(
        [one.wrong for one in labels], [one.score for one in labels], unlabelled
    )

    found = corrected_rate(
        population_of(ScoredAnswer([ScoredClaim("all", one)]) for one in unlabelled), labels
    )

    assert found.tuning == pytest.approx(tuning, abs=0.06)
    assert found.rate.value == pytest.approx(
        found.tuning * fmean(unlabelled)
        + fmean(one.wrong - found.tuning * one.score for one in labels)
    )
    assert found.rate.value == pytest.approx(value, abs=0.003)
    assert found.rate.low == pytest.approx(low, abs=0.006)
    assert found.rate.high == pytest.approx(high, abs=0.006)


def test_rogan_gladen_corrects_a_known_judge() -> None:
    """A recall of .8 and a specificity of .9 turn 24% flagged into 20% wrong, roughly."""
    seen = [(True, True)] * 80 + [(True, False)] * 20 + [(False, True)] * 10 + [(False, False)] * 90
    labels = [
        TrustedLabel(str(at), "", 0.5, flagged, float(wrong))
        for at, (wrong, flagged) in enumerate(seen)
    ]

    found = rogan_gladen(0.24, 10_000, labels)

    assert found.value == pytest.approx(0.2, abs=0.01)
    assert found.low is not None
    assert found.high is not None
    assert 0.08 < found.low < 0.14 < 0.24 < found.high < 0.32


def test_rogan_gladen_says_nothing_of_a_judge_no_better_than_chance() -> None:
    """Nor of one that was seen on one class alone."""
    unknown = Rate(None, None, None)
    bad = [TrustedLabel(str(at), "", 0.5, at % 2 == 0, float(at % 4 < 2)) for at in range(40)]

    assert rogan_gladen(0.5, 100, bad[:10]) == unknown
    assert rogan_gladen(0.5, 100, [one for one in bad if one.wrong]) == unknown


def test_labels_alone_are_weighted_by_what_they_stand_for() -> None:
    """A wrong claim drawn at a tenth of the rate counts ten times."""
    labels = [
        TrustedLabel("a", "", 0.5, False, 1.0, probability=0.1),
        *(TrustedLabel(str(at), "", 0.5, False, 0.0, probability=1.0) for at in range(30)),
    ]

    assert labels_alone(labels).value == pytest.approx(10 / 40)
