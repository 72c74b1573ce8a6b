"""What labels say of a judge that states no confidence, or not always one."""

from __future__ import annotations

import pytest

from otel_rt4chart.core.errors import InputError
from otel_rt4chart.verify.rates.labels import TrustedLabel
from rt4chart_collector.labelling.calibration import calibration


def labels(*, has_confidence: bool, score: float) -> list[TrustedLabel]:
    """Forty labels on flagged claims, three in four of them right."""
    return [
        TrustedLabel(
            f"a{n}", "flagged", score, True, float(n % 4 > 0), has_confidence=has_confidence
        )
        for n in range(40)
    ]


def test_a_judge_without_confidence_cannot_be_calibrated() -> None:
    """More labels would not help; the message says what would."""
    with pytest.raises(InputError, match=r"single/x states no confidence.*RT4CHART_JUDGE_VOTES=3"):
        calibration("single/x", labels(has_confidence=False, score=1.0), error=0.2, confidence=0.9)


def test_claims_without_confidence_are_in_no_bin_and_no_curve() -> None:
    """Of a judge that states one for some claims, these count."""
    stated = labels(has_confidence=True, score=0.7)
    silent = labels(has_confidence=False, score=1.0)

    both = calibration("x/1", stated + silent, error=0.2, confidence=0.9)

    assert both.bins == calibration("x/1", stated, error=0.2, confidence=0.9).bins
    assert [one.labels for one in both.bins] == [40]
