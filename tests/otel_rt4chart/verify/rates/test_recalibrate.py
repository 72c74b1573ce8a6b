"""Confidences fitted to labels: taken where they help, refused where they do not."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from statistics import fmean

import pytest

from otel_rt4chart.verify.core.recalibration import Curve
from otel_rt4chart.verify.rates.labels import TrustedLabel
from otel_rt4chart.verify.rates.recalibrate import LEAST_LABELS, Fit, Method, fit_confidences

Truth = Callable[[float], float]


def labels(
    size: int, truth: Truth, *, seed: int = 1, flagged: float = 0.5, low: float = 0.5
) -> list[TrustedLabel]:
    """Labels on claims whose verdicts are right as often as `truth` says of their confidence."""
    chance = random.Random(seed)  # noqa: S311
    found = []
    for at in range(size):
        confidence, is_flagged = chance.uniform(low, 1.0), chance.random() < flagged
        is_right = chance.random() < truth(confidence)
        found.append(
            TrustedLabel(
                answer=str(at // 2),
                stratum="flagged" if is_flagged else "entailed",
                score=confidence if is_flagged else 1 - confidence,
                is_flagged=is_flagged,
                wrong=float(is_right == is_flagged),
                probability=chance.choice([0.2, 0.4]),
            )
        )
    return found


def curves(found: Fit) -> tuple[Curve, Curve]:
    """Both curves, which must be there."""
    assert found.flagged is not None
    assert found.entailed is not None
    return found.flagged, found.entailed


@pytest.mark.parametrize(
    "truth",
    [lambda c: c - 0.3, lambda c: 0.6, lambda c: 0.95 if c > 0.75 else 0.3, lambda c: 1.2 - c],
    ids=["overconfident", "no guide", "step", "turned round"],
)
def test_a_judge_that_states_wrong_confidences_is_put_right(truth: Truth) -> None:
    """Fitted confidences are much nearer to how often it is right."""
    found = fit_confidences(labels(600, truth))

    assert found.refusal == ""
    assert found.gain is not None
    assert found.gain_low is not None
    assert 0 < found.gain_low < found.gain
    grid = [at / 100 for at in range(51, 100)]
    for curve in curves(found):
        stated = fmean((one - truth(one)) ** 2 for one in grid)
        assert fmean((curve.at(one) - truth(one)) ** 2 for one in grid) < stated / 2


def test_a_calibrated_judge_is_left_alone() -> None:
    """In at most one of ten deployments, chance makes other confidences look better."""
    taken = sum(
        not fit_confidences(labels(200, lambda c: c, seed=seed)).refusal for seed in range(100)
    )

    assert taken <= 10


def test_the_refusal_says_how_much_better_it_might_be() -> None:
    """With the number of labels that would show it, if it is as large as it seems."""
    found = fit_confidences(labels(120, lambda c: c - 0.07, seed=3))

    assert "do not show" in found.refusal
    assert (found.flagged, found.entailed, found.method) == (None, None, None)
    assert found.gain_low is not None
    assert found.gain_low <= 0
    assert found.gain is not None
    assert (found.more_labels is None) == (found.gain <= 0)


@pytest.mark.parametrize("size", [0, 1, 30])
def test_too_few_labels_fit_nothing(size: int) -> None:
    """It says how many more labels of one verdict it takes."""
    found = fit_confidences(labels(size, lambda c: 0.3, flagged=1.0))

    assert found.refusal.startswith("too few labels")
    assert (found.labels, found.more_labels) == (size, LEAST_LABELS - size)


def test_labels_of_one_answer_say_little() -> None:
    """A hundred of ten answers are too few answers."""
    found = fit_confidences(
        [replace(one, answer=str(at % 10)) for at, one in enumerate(labels(100, lambda c: 0.3))]
    )

    assert found.more_labels == 10


def test_a_verdict_with_few_labels_keeps_its_confidences() -> None:
    """A judge that flags little: only the curve of entailed claims is known."""
    found = fit_confidences(labels(300, lambda c: c - 0.4, flagged=0.05))

    assert found.flagged is None
    assert found.entailed is not None


@pytest.mark.parametrize("right", [0.0, 1.0])
def test_labels_of_one_class_are_no_certainty(right: float) -> None:
    """A judge that is always wrong, or always right, keeps some doubt, and some order."""
    found = fit_confidences(labels(300, lambda c: right, low=0.55))

    for curve in curves(found):
        assert 0 < curve.at(0.6) < curve.at(0.9) < 1
        assert abs(curve.at(0.75) - right) < 0.08


def test_undecided_claims_say_nothing_of_a_confidence() -> None:
    """They state none."""
    some = labels(300, lambda c: 0.4)
    more = [replace(one, stratum="undecided", score=0.5, is_flagged=False) for one in some]

    assert fit_confidences([*some, *more]) == fit_confidences(some)


def test_isotonic_follows_what_a_logistic_curve_cannot() -> None:
    """The method is chosen by what helps on other answers."""
    steep = fit_confidences(labels(2000, lambda c: 0.97 if c > 0.9 else 0.35 if c > 0.6 else 0.3))
    smooth = fit_confidences(labels(400, lambda c: c - 0.3, seed=5))

    assert (steep.method, smooth.method) == (Method.ISOTONIC, Method.PLATT)
