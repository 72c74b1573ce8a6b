"""Alerts on what labels say: a corrected rate above a limit, and a judge that got worse."""

from __future__ import annotations

from dataclasses import replace

from otel_rt4chart.verify.core.rates import Rate
from otel_rt4chart.verify.rates.corrected import CorrectedRate
from otel_rt4chart.verify.rates.judge_quality import JudgeQuality
from rt4chart_collector.core.alerts.alert import Alert
from rt4chart_collector.core.alerts.facts import (
    CorrectedRateFacts,
    JudgeDriftFacts,
    MeasuredRate,
    QualityChange,
)
from rt4chart_collector.core.alerts.state import AlertEventKind, AlertState
from rt4chart_collector.detect.monitor.corrected_rates import LabelledPeriods
from rt4chart_collector.detect.monitor.label_alerts import judge_drift_alerts, limit_alerts
from rt4chart_collector.notify.alert_message import fact_lines
from rt4chart_collector.notify.next_step import next_step
from rt4chart_collector.store.labels.corrected_rates import LabelCounts, RouteRate
from tests.rt4chart_collector.records import NOON, VERIFIER

GOOD, BAD = Rate(0.9, 0.8, 0.96), Rate(0.5, 0.35, 0.65)
NOW = RouteRate(
    service="shop",
    route="support",
    verifier=VERIFIER,
    raw=0.08,
    corrected=CorrectedRate(Rate(0.1, 0.06, 0.15), 60, 0),
    quality=JudgeQuality(GOOD, GOOD, 60),
    quality_on_labels=None,
    counts=LabelCounts(sample=60),
    covered=0.75,
)
BEFORE = replace(NOW, corrected=CorrectedRate(Rate(0.12, 0.08, 0.18), 80, 0))


def worse(*, precision: Rate = GOOD, recall: Rate = GOOD) -> RouteRate:
    """The route now, with such a judge."""
    return replace(NOW, quality=JudgeQuality(precision, recall, 60))


def compared(now: RouteRate, before: RouteRate = BEFORE) -> list[Alert]:
    """The alerts on the judge of these periods."""
    return judge_drift_alerts(LabelledPeriods((now,), (before,)), NOON)


def lines(alert: Alert) -> dict[str, str]:
    """The facts in messages."""
    state = AlertState(alert, AlertEventKind.FIRED, fired_ns=NOON)
    return dict(fact_lines(state, NOON, console="", with_texts=False)[0])


def test_a_corrected_rate_above_the_limit_is_an_error_of_its_route() -> None:
    """The lower end of its interval is above it; without a limit there is no alert."""
    (alert,) = limit_alerts([NOW], 0.05, NOON)

    assert (alert.rule, alert.severity, alert.route) == ("corrected_rate", "error", "support")
    assert alert.title == (
        "support: 10.0% (6.0% to 15.0%) of claims are unfaithful, above the limit of 5%"
    )
    assert alert.facts == CorrectedRateFacts(
        limit=0.05,
        rate=MeasuredRate(rate=0.1, low=0.06, high=0.15, claims=60),
        raw=0.08,
        covered=0.75,
        verifier=VERIFIER,
    )
    assert lines(alert) == {
        "service": "shop",
        "route": "support",
        "since": "2096-10-02T07:06:40Z, 0 min ago",
        "corrected rate, last 7 days": "10.0% (6.0% to 15.0%), 60 labels",
        "limit": "5%",
        "judge's own rate": "8.0%",
        "labels drawn from": "75% of the claims",
        "verifier": VERIFIER,
        "next": next_step("corrected_rate"),
    }
    assert limit_alerts([NOW], 0.07, NOON) == []
    assert limit_alerts([NOW], 0.0, NOON) == []
    assert limit_alerts([replace(NOW, covered=0.4)], 0.05, NOON) == []


def test_a_judge_whose_intervals_do_not_overlap_is_an_alert_that_says_what_was_compared() -> None:
    """Precision and recall are in one alert of the route, with the rates of both periods."""
    (alert,) = compared(worse(precision=BAD, recall=BAD))

    old, new = (MeasuredRate(rate=one.value, low=one.low, high=one.high) for one in (GOOD, BAD))
    assert (alert.rule, alert.severity, alert.title) == (
        "judge_drift",
        "warning",
        "support: labels say that the judge's precision and recall fell",
    )
    assert alert.facts == JudgeDriftFacts(
        verifier=VERIFIER,
        changes=(QualityChange("precision", old, new), QualityChange("recall", old, new)),
        labels_before=80,
        labels_after=60,
        rate_before=MeasuredRate(rate=0.12, low=0.08, high=0.18, claims=80),
        rate_after=MeasuredRate(rate=0.1, low=0.06, high=0.15, claims=60),
    )
    told = lines(alert)
    assert told["recall of the judge"] == "90.0% (80.0% to 96.0%) → 50.0% (35.0% to 65.0%)"
    assert told["compared"] == (
        "60 labels on answers of the last 7 days with 80 on those of the 21 days before; the 95% "
        "intervals do not overlap"
    )
    assert told["corrected rate"] == "12.0% (8.0% to 18.0%) → 10.0% (6.0% to 15.0%)"


def test_a_fall_that_chance_explains_is_no_alert() -> None:
    """Nor is a judge that got better, or one of which nothing was known before."""
    near = Rate(0.7, 0.55, 0.81)
    better = replace(BEFORE, quality=JudgeQuality(BAD, BAD, 80))

    assert compared(worse(recall=near)) == []
    assert compared(NOW, better) == []
    assert compared(worse(recall=BAD), replace(BEFORE, route="other")) == []
    assert compared(worse(recall=BAD), replace(BEFORE, quality=None)) == []


def test_too_few_labels_say_nothing_of_the_judge() -> None:
    """In neither of the two periods."""
    for few in (
        CorrectedRate(Rate(None, None, None), 19, 1),
        CorrectedRate(Rate(None, None, None), 25, 3),  # on seven answers
    ):
        assert compared(replace(worse(recall=BAD), corrected=few)) == []
        assert compared(worse(recall=BAD), replace(BEFORE, corrected=few)) == []


def test_the_alerts_of_a_round_are_limited() -> None:
    """Of more routes than that, the first ones alert."""
    many = tuple(replace(worse(recall=BAD), route=f"r{at}") for at in range(60))
    before = tuple(replace(BEFORE, route=f"r{at}") for at in range(60))

    assert len(limit_alerts(many, 0.05, NOON)) == 50
    assert len(judge_drift_alerts(LabelledPeriods(many, before), NOON)) == 50


def test_without_a_flagged_label_there_is_no_precision_to_compare() -> None:
    """An unknown value is not a fall."""
    unknown = Rate(None, None, None)

    assert compared(worse(precision=unknown)) == []
    earlier = replace(BEFORE, quality=JudgeQuality(unknown, GOOD, 80))
    assert compared(worse(precision=BAD), earlier) == []
