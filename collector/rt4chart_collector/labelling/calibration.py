"""What the labels of a draw say of a judge's confidence, and what would put it right."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from otel_rt4chart.core.errors import InputError
from otel_rt4chart.core.text import printable
from otel_rt4chart.verify.core.recalibration import Recalibration, judge_of, number_of
from otel_rt4chart.verify.rates.labels import TrustedLabel
from otel_rt4chart.verify.rates.recalibrate import Fit, fit_confidences
from otel_rt4chart.verify.rates.reliability import (
    UNDECIDED,
    ReliabilityBin,
    confidence_of,
    reliability,
)
from otel_rt4chart.verify.rates.thresholds import (
    ThresholdChoice,
    choose_threshold,
    entailed_verdicts,
    flagged_verdicts,
)
from rt4chart_collector.labelling.status import labels_text, rate_text
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.scope import QueryScope
from rt4chart_collector.store.labels.corrected_rates import draw_sample
from rt4chart_collector.store.labels.draws import latest_draw
from rt4chart_collector.store.labels.recalibrations import (
    RecalibrationEvent,
    recalibration_history,
    recalibration_numbered,
)


@dataclass(frozen=True, slots=True)
class Calibration:
    """The lowest confidences of verdicts with a proved error, the reliability, and the fit.

    `error` is the share of such verdicts that may be wrong, `confidence` how sure that must be. The
    thresholds are of the confidence that the judge states itself. `in_force` is the number of its
    recalibration now, 0 for none.
    """

    verifier: str
    labels: int
    error: float
    confidence: float
    flagged: ThresholdChoice
    entailed: ThresholdChoice
    bins: Sequence[ReliabilityBin]
    fit: Fit
    in_force: int = 0

    @property
    def judge(self) -> str:
        """The judge behind the verifier."""
        return judge_of(self.verifier)


def calibration(
    verifier: str,
    labels: Sequence[TrustedLabel],
    *,
    error: float,
    confidence: float,
    history: Sequence[RecalibrationEvent] = (),
) -> Calibration:
    """What these labels say of the judge's confidence; `history` is of its recalibrations.

    InputError for a judge that states none.
    """
    decided = [one for one in labels if one.stratum != UNDECIDED]
    if decided and not any(one.has_confidence for one in decided):
        raise InputError(
            f"{verifier} states no confidence, so there is none to trust or to put right: set "
            "RT4CHART_JUDGE_VOTES=3, or use an endpoint that tells log-probabilities"
        )
    labels = [one for one in labels if one.has_confidence or one.stratum == UNDECIDED]
    drawn = _numbered(history, number_of(verifier))
    in_force = history[-1].number if history else 0
    # A threshold is tested on confidences that no label has changed: else the test would not hold.
    stated = [_stated(one, drawn) for one in labels]
    flagged, entailed = (
        choose_threshold(verdicts, error=error, confidence=confidence)
        for verdicts in (
            flagged_verdicts(one for one in stated if one.is_flagged),
            entailed_verdicts(
                one for one in stated if not one.is_flagged and one.stratum != UNDECIDED
            ),
        )
    )
    return Calibration(
        verifier,
        len(labels),
        error,
        confidence,
        flagged,
        entailed,
        reliability(labels),
        fit_confidences(stated, _numbered(history, in_force)),
        in_force,
    )


def read_calibration(
    client: Client, scope: QueryScope, *, error: float, confidence: float
) -> Calibration:
    """The calibration by the labels of the last draw; InputError where nothing was drawn."""
    draw = latest_draw(client, scope)
    if draw is None:
        raise InputError("no claims were drawn yet: expected a draw, run rt4chart label")
    labels = draw_sample(client, draw.part(scope.service, scope.route))
    history = recalibration_history(client, judge_of(draw.verifier))
    return calibration(draw.verifier, labels, error=error, confidence=confidence, history=history)


def _numbered(history: Sequence[RecalibrationEvent], number: int) -> Recalibration | None:
    found = recalibration_numbered(history, number)
    if found is None and number:
        raise InputError(f"expected a recalibration with the number {number} in the history")
    return None if found is None else found.recalibration


def _stated(label: TrustedLabel, drawn: Recalibration | None) -> TrustedLabel:
    """The label with the confidence that the judge stated itself."""
    if drawn is None or label.stratum == UNDECIDED:
        return label
    stated = drawn.stated(confidence_of(label), is_flagged=label.is_flagged)
    return replace(label, score=stated if label.is_flagged else 1 - stated)


def calibration_lines(found: Calibration) -> Iterator[str]:
    """The thresholds and the fit in words, then the table."""
    yield f"{printable(found.verifier)}, {found.labels} labels that were drawn by chance"
    yield _threshold_line(found, found.flagged, "flagged", "right")
    yield _threshold_line(found, found.entailed, "entailed", "wrong")
    yield from fit_lines(found.fit)
    yield ""
    yield f"{'confidence':<12}{'labels':>7}{'stated':>8}  right"
    for one in found.bins:
        span = f"{one.low:.1f} to {one.high:.1f}"
        yield f"{span:<12}{one.labels:>7}{one.confidence:>8.0%}  {rate_text(one.right)}"


def fit_lines(fit: Fit) -> Iterator[str]:
    """Whether a recalibration would help, or why not."""
    if fit.before is not None and fit.after is not None and fit.gain_low is not None:
        yield (
            f"Brier score {fit.before:.3f}, by a recalibration {fit.after:.3f} (on answers that it "
            f"was not fitted to; better by at least {fit.gain_low:.3f} with 95% confidence)"
        )
    if fit.refusal:
        more = "" if fit.more_labels is None else f"; {labels_text(fit.more_labels)} may"
        yield f"no recalibration: {fit.refusal}{more}"
    else:
        yield f"a recalibration ({fit.method}) helps: rt4chart calibrate --apply"


def _threshold_line(found: Calibration, choice: ThresholdChoice, verdict: str, mistake: str) -> str:
    aim = f"at most {found.error:.0%} of the {verdict} claims are {mistake}"
    if choice.threshold is not None:
        return (
            f"from a confidence of {choice.threshold:.2f} on, {aim}, with {found.confidence:.0%} "
            f"confidence ({choice.labels} labels, {choice.errors} of them {mistake})"
        )
    if choice.more_labels is None:
        return (
            f"no threshold: too many of the labelled {verdict} claims are {mistake} at every "
            "confidence"
        )
    return f"cannot tell from which confidence on {aim}: {labels_text(choice.more_labels)} on them"
