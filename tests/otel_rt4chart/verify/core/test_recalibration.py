"""Corrected confidences, and verdicts below a tested threshold."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_rt4chart.core.errors import InputError
from otel_rt4chart.verify.core.model import AnswerRange, Claim, Label
from otel_rt4chart.verify.core.recalibration import Curve, Recalibration, judge_of, number_of

LOWER = Curve(((0.0, 0.0), (0.5, 0.3), (1.0, 0.7)))
CLAIM = Claim(
    "A claim.", Label.BASELESS, Label.BASELESS, 0.9, "weak", "action", AnswerRange(0, 8), 0
)


def test_each_verdict_has_a_curve_of_its_own() -> None:
    """The labels stay; undecided claims state no confidence."""
    found = Recalibration(2, flagged=LOWER).claims(
        [CLAIM, replace(CLAIM, label=Label.ENTAILED), replace(CLAIM, label=Label.UNDECIDED)]
    )

    assert [one.label for one in found] == [Label.BASELESS, Label.ENTAILED, Label.UNDECIDED]
    assert [one.confidence for one in found] == [pytest.approx(0.62), 0.9, 0.9]


def test_verdicts_below_the_threshold_are_undecided_with_the_reason() -> None:
    """The threshold is of the stated confidence; the one at it counts."""
    claims = [replace(CLAIM, confidence=share) for share in (0.79, 0.8)]

    low, high = Recalibration(1, flagged=LOWER, flagged_threshold=0.8).claims(claims)
    entailed = Recalibration(1, entailed_threshold=0.8).claims(
        [replace(CLAIM, label=Label.ENTAILED, confidence=0.3)]
    )

    assert (low.label, high.label) == (Label.UNDECIDED, Label.BASELESS)
    assert low.reason == ("baseless with a confidence of 0.79, below the tested threshold of 0.80")
    assert entailed[0].label is Label.UNDECIDED


@given(st.floats(0, 1), st.booleans())
def test_the_stated_confidence_can_be_found_again(stated: float, is_flagged: bool) -> None:
    """So that a later fit is of the judge's own confidences."""
    one = Recalibration(1, flagged=LOWER)

    new = one.confidence(stated, is_flagged=is_flagged)

    assert one.stated(new, is_flagged=is_flagged) == pytest.approx(stated, abs=1e-9)


def test_its_number_is_in_the_verifiers_id() -> None:
    """And the judge's id can be read from it, whatever it contains itself."""
    name = Recalibration(12).id_of("openai/gpt-5/3")

    assert name == "openai/gpt-5/3+c12"
    assert (judge_of(name), number_of(name)) == ("openai/gpt-5/3", 12)
    assert (judge_of("cascade:local+c/4"), number_of("local/4")) == ("cascade:local+c/4", 0)


@pytest.mark.parametrize(
    "knots",
    [
        ((0.0, 0.1),),
        ((0.0, 0.1), (1.0, 0.1)),
        ((0.1, 0.1), (1.0, 0.5)),
        ((0.0, 0.1), (1.0, 1.5)),
    ],
)
def test_a_curve_that_cannot_be_turned_round_is_refused(
    knots: tuple[tuple[float, float], ...],
) -> None:
    """Such as one from a damaged row."""
    with pytest.raises(InputError, match="rise"):
        Curve(knots)
