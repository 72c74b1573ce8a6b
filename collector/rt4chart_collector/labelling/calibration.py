"""What the labels of a draw say of a judge's confidence: a threshold, and a reliability table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from otel_rt4chart.core.errors import InputError
from otel_rt4chart.core.text import printable
from otel_rt4chart.verify.rates.labels import TrustedLabel
from otel_rt4chart.verify.rates.reliability import ReliabilityBin, reliability
from otel_rt4chart.verify.rates.thresholds import (
    ThresholdChoice,
    choose_threshold,
    flagged_verdicts,
)
from rt4chart_collector.labelling.status import labels_text, rate_text
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.scope import QueryScope
from rt4chart_collector.store.labels.corrected_rates import draw_sample
from rt4chart_collector.store.labels.draws import latest_draw


@dataclass(frozen=True, slots=True)
class Calibration:
    """The lowest confidence of flagged claims with a proved error, and the reliability of all.

    `error` is the share of flagged claims that may be right, `confidence` how sure that must be.
    """

    verifier: str
    labels: int
    error: float
    confidence: float
    flagged: ThresholdChoice
    bins: Sequence[ReliabilityBin]


def calibration(
    verifier: str, labels: Sequence[TrustedLabel], *, error: float, confidence: float
) -> Calibration:
    """What these labels say of the judge's confidence."""
    flagged = flagged_verdicts(one for one in labels if one.is_flagged)
    choice = choose_threshold(flagged, error=error, confidence=confidence)
    return Calibration(verifier, len(labels), error, confidence, choice, reliability(labels))


def read_calibration(
    client: Client, scope: QueryScope, *, error: float, confidence: float
) -> Calibration:
    """The calibration by the labels of the last draw; InputError where nothing was drawn."""
    draw = latest_draw(client, scope)
    if draw is None:
        raise InputError("no claims were drawn yet: expected a draw, run rt4chart label")
    labels = draw_sample(client, draw.part(scope.service, scope.route))
    return calibration(draw.verifier, labels, error=error, confidence=confidence)


def calibration_lines(found: Calibration) -> Iterator[str]:
    """The threshold in words, then the table."""
    yield f"{printable(found.verifier)}, {found.labels} labels that were drawn by chance"
    yield _threshold_line(found)
    yield ""
    yield f"{'confidence':<12}{'labels':>7}{'stated':>8}  right"
    for one in found.bins:
        span = f"{one.low:.1f} to {one.high:.1f}"
        yield f"{span:<12}{one.labels:>7}{one.confidence:>8.0%}  {rate_text(one.right)}"


def _threshold_line(found: Calibration) -> str:
    choice = found.flagged
    aim = f"at most {found.error:.0%} of the flagged claims are right"
    if choice.threshold is not None:
        return (
            f"from a confidence of {choice.threshold:.2f} on, {aim}, with {found.confidence:.0%} "
            f"confidence ({choice.labels} labels, {choice.errors} of them right)"
        )
    if choice.more_labels is None:
        return "no threshold: too many of the labelled flagged claims are right at every confidence"
    return f"cannot tell from which confidence on {aim}: {labels_text(choice.more_labels)} on them"
