"""The state of labelling as JSON values."""

from __future__ import annotations

from collections.abc import Sequence

from otel_rt4chart.verify.core.rates import Rate
from otel_rt4chart.verify.rates.agreement import Agreement
from otel_rt4chart.verify.rates.judge_quality import JudgeQuality
from rt4chart_collector.store.labels.corrected_rates import RouteRate
from rt4chart_collector.store.labels.draws import LabelDraw
from rt4chart_collector.store.labels.rater_agreement import RaterAgreement


def status_figures(
    draw: LabelDraw, rates: Sequence[RouteRate], agreement: RaterAgreement
) -> dict[str, object]:
    """The state as JSON values."""
    return {
        "draw": draw.id,
        "verifier": draw.verifier,
        "routes": routes_figures(rates),
        "labels_by_rater": dict(agreement.labels),
        "alpha": _agreement_figures(agreement.alpha),
        "kappa": {name: _agreement_figures(one) for name, one in agreement.by_rater.items()},
        "poor_raters": agreement.poor_raters,
    }


def routes_figures(rates: Sequence[RouteRate]) -> list[dict[str, object]]:
    """The corrected rates of routes as JSON values."""
    return [{"service": rate.service, "route": rate.route, **rate_figures(rate)} for rate in rates]


def rate_figures(rate: RouteRate) -> dict[str, object]:
    """A route's corrected rate as JSON values."""
    counts = rate.counts
    return {
        "raw": rate.raw,
        "corrected": _rate(rate.corrected.rate),
        "covered": rate.covered,
        "labels": counts.sample,
        "labels_waiting": counts.waiting,
        "labels_not_drawn": counts.not_drawn,
        "cannot_tell": counts.cannot_tell,
        "skipped": counts.skipped,
        "labels_carried": counts.carried,
        "labels_gone": counts.gone,
        "labels_not_judged": counts.not_judged,
        "pending": rate.pending,
        "more_labels": rate.corrected.more_labels,
        "more_labels_for_5_points": rate.labels_to_goal,
        "misleading": _misleading_figures(rate.of_misleading),
        "judge": _quality_figures(rate.quality),
        "judge_on_labelled_claims": _quality_figures(rate.quality_on_labels),
    }


def _misleading_figures(rate: RouteRate | None) -> dict[str, object] | None:
    """The corrected rate of misleading claims, from the labels that say whether one is."""
    if rate is None:
        return None
    return {
        "corrected": _rate(rate.corrected.rate),
        "labels": rate.corrected.labels,
        "more_labels": rate.corrected.more_labels,
        "more_labels_for_5_points": rate.labels_to_goal,
    }


def _rate(rate: Rate) -> dict[str, object]:
    return {"rate": rate.value, "low": rate.low, "high": rate.high}


def _quality_figures(quality: JudgeQuality | None) -> dict[str, object] | None:
    if quality is None:
        return None
    return {
        "precision": _rate(quality.precision),
        "recall": _rate(quality.recall),
        "labels": quality.labels,
    }


def _agreement_figures(found: Agreement) -> dict[str, object]:
    return {
        "value": found.value,
        "low": found.low,
        "high": found.high,
        "claims": found.claims,
    }
