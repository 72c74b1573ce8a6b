"""Alerts that labels give rise to: a corrected rate above a limit, and a judge that got worse."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from otel_rt4chart.verify.core.rates import Rate
from otel_rt4chart.verify.rates.corrected import LimitVerdict
from otel_rt4chart.verify.rates.judge_quality import JudgeQuality
from rt4chart_collector.core.alerts.alert import Alert, Rule, Severity
from rt4chart_collector.core.alerts.facts import (
    CorrectedRateFacts,
    JudgeDriftFacts,
    MeasuredRate,
    QualityChange,
)
from rt4chart_collector.detect.monitor.corrected_rates import LabelledPeriods, has_enough_labels
from rt4chart_collector.store.labels.corrected_rates import RouteRate

MAX_ALERTS = 50


def limit_alerts(rates: Sequence[RouteRate], limit: float, now_ns: int) -> list[Alert]:
    """The routes whose corrected rate is above the limit with 95% confidence; 0 is no limit."""
    if not limit:
        return []
    above = [rate for rate in rates if rate.decide(limit).verdict is LimitVerdict.ABOVE]
    return [_limit_alert(rate, limit, now_ns) for rate in above[:MAX_ALERTS]]


def _limit_alert(rate: RouteRate, limit: float, now_ns: int) -> Alert:
    title = (
        f"{rate.route or 'A route'}: {_text(rate.corrected.rate)} of claims are unfaithful, above "
        f"the limit of {limit * 100:.4g}%"
    )
    facts = CorrectedRateFacts(
        limit=limit,
        rate=_measured(rate),
        raw=rate.raw,
        covered=rate.covered,
        verifier=rate.verifier,
    )
    return Alert(
        Rule.CORRECTED_RATE, Severity.ERROR, rate.service, rate.route, 0, title, facts, now_ns
    )


def judge_drift_alerts(periods: LabelledPeriods, now_ns: int) -> list[Alert]:
    """The routes on which labels say that the judge is worse than in the weeks before.

    The 95% intervals of its precision, or of its recall, in both periods do not overlap.
    """
    before = {(rate.service, rate.route): rate for rate in periods.before}
    found = []
    for rate in periods.rates:
        earlier = before.get((rate.service, rate.route))
        if earlier is not None and (changes := tuple(_fallen(earlier, rate))):
            found.append(_drift_alert(earlier, rate, changes, now_ns))
    return found[:MAX_ALERTS]


def _fallen(before: RouteRate, now: RouteRate) -> Iterator[QualityChange]:
    if before.quality is None or now.quality is None:
        return
    if not (has_enough_labels(before) and has_enough_labels(now)):
        return
    for name in ("precision", "recall"):
        old, new = _quality(before.quality, name), _quality(now.quality, name)
        if old.low is not None and new.high is not None and new.high < old.low:
            yield QualityChange(
                name,
                MeasuredRate(rate=old.value, low=old.low, high=old.high),
                MeasuredRate(rate=new.value, low=new.low, high=new.high),
            )


def _drift_alert(
    before: RouteRate, now: RouteRate, changes: tuple[QualityChange, ...], now_ns: int
) -> Alert:
    names = " and ".join(change.name for change in changes)
    title = f"{now.route or 'A route'}: labels say that the judge's {names} fell"
    facts = JudgeDriftFacts(
        verifier=now.verifier,
        changes=changes,
        labels_before=before.corrected.labels,
        labels_after=now.corrected.labels,
        rate_before=_measured(before),
        rate_after=_measured(now),
    )
    return Alert(
        Rule.JUDGE_DRIFT, Severity.WARNING, now.service, now.route, 0, title, facts, now_ns
    )


def _quality(quality: JudgeQuality, name: str) -> Rate:
    return quality.precision if name == "precision" else quality.recall


def _measured(rate: RouteRate) -> MeasuredRate:
    found = rate.corrected.rate
    return MeasuredRate(
        rate=found.value, low=found.low, high=found.high, claims=rate.corrected.labels
    )


def _text(rate: Rate) -> str:
    low, high = (rate.low or 0.0) * 100, (rate.high or 0.0) * 100
    return f"{(rate.value or 0.0) * 100:.1f}% ({low:.1f}% to {high:.1f}%)"
