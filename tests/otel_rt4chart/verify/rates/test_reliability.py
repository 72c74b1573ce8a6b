"""How often verdicts are right, by the stated confidence."""

from __future__ import annotations

import random

import pytest

from otel_rt4chart.verify.rates.labels import TrustedLabel
from otel_rt4chart.verify.rates.reliability import reliability


def labels(size: int) -> list[TrustedLabel]:
    """A calibrated judge's flagged and entailed claims, unevenly drawn."""
    chance = random.Random(1)  # noqa: S311
    found = []
    for at in range(size):
        confidence, is_flagged = chance.uniform(0.5, 1.0), at % 2 == 0
        is_right = chance.random() < confidence
        found.append(
            TrustedLabel(
                answer=str(at),
                stratum="flagged" if is_flagged else "entailed",
                score=confidence if is_flagged else 1 - confidence,
                is_flagged=is_flagged,
                wrong=float(is_right == is_flagged),
                probability=chance.choice([0.1, 0.5]),
            )
        )
    return found


def test_a_calibrated_judge_is_right_as_often_as_it_states() -> None:
    """In each bin, the interval of its right verdicts holds the mean confidence."""
    found = reliability(labels(2000))

    assert [(one.low, one.high) for one in found] == [
        *((0.5, 0.6), (0.6, 0.7), (0.7, 0.8), (0.8, 0.9), (0.9, 1.0))
    ]
    assert sum(one.labels for one in found) == 2000
    for one in found:
        assert one.low <= one.confidence <= one.high
        assert one.right.low is not None
        assert one.right.high is not None
        assert one.right.low <= one.confidence <= one.right.high


def test_undecided_claims_state_no_confidence() -> None:
    """A claim of either verdict is in the bin of its confidence, and 1.0 in the last."""
    undecided = TrustedLabel("a", "undecided", 0.5, False, 1.0)
    flagged = TrustedLabel("b", "flagged", 1.0, True, 1.0)
    entailed = TrustedLabel("c", "entailed", 0.02, False, 1.0)

    (found,) = reliability([undecided, flagged, entailed])

    assert (found.low, found.labels) == (0.9, 2)
    assert found.confidence == pytest.approx(0.99)
    assert found.right.value == 0.5
    assert reliability([undecided]) == []
