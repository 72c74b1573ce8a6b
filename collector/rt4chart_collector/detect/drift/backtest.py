"""Backtests of the drift rules: the alarms that each would have raised on stored ticks. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from otel_rt4chart.verify.core.rates import Measure, Rate, claim_rate
from rt4chart_collector.detect.drift.detector import replay
from rt4chart_collector.detect.drift.finding import DriftFinding
from rt4chart_collector.detect.drift.policy import DAY_NS, RULES, TICK_NS, DriftPolicy
from rt4chart_collector.store.rates.ticks import RouteTicks, answer_sums

# History before the period under test: two windows of the baseline, because the hours of an alarm
# in the first are left out of the second.
HISTORY_NS = 28 * DAY_NS
MONTH_NS = 30 * DAY_NS


@dataclass(frozen=True, slots=True)
class Alarm:
    """One alarm of one rule: when the rise began, when it paged, and when it ended (0 if open).

    `before` is the baseline's rate, without a value if the rule has none, and `after` the route's
    rate from the beginning of the rise until the end, each with its number of decided claims.
    """

    rule: str
    service: str
    route: str
    began_ns: int
    paged_ns: int
    ended_ns: int
    before: Rate
    before_claims: int
    after: Rate
    after_claims: int


@dataclass(frozen=True, slots=True)
class Backtest:
    """The alarms of one rule on one measure in `route_months` of data.

    `cold` counts the routes without a baseline in the whole period.
    """

    rule: str
    measure: Measure
    alarms: tuple[Alarm, ...]
    route_months: float
    routes: int
    cold: int

    @property
    def per_route_month(self) -> float:
        """Alarms per month of a route."""
        return len(self.alarms) / self.route_months if self.route_months else 0.0


def backtest(
    routes: Sequence[RouteTicks],
    policy: DriftPolicy,
    *,
    since_ns: int,
    until_ns: int,
    only: Sequence[str] = RULES,
) -> Iterator[Backtest]:
    """Replay each rule on the same ticks, which must begin `HISTORY_NS` before `since_ns`.

    The results are those of each measure that has ticks.
    """
    watched = {ticks.measure for ticks in routes} or {Measure.UNFAITHFUL}
    for measure in (measure for measure in Measure if measure in watched):
        of_measure = [ticks for ticks in routes if ticks.measure is measure]
        for rule in (rule for rule in RULES if rule in only):
            rule_policy = replace(policy, rule=rule)
            alarms: list[Alarm] = []
            months, cold = 0.0, 0
            for route_ticks in of_measure:
                found = replay(route_ticks, rule_policy, since_ns=since_ns)
                if found:
                    months += (until_ns - found[0].tick_ns) / MONTH_NS
                    cold += all(finding.state == "cold" for finding in found)
                    alarms += alarms_of(rule, route_ticks, found)
            alarms.sort(key=lambda alarm: (alarm.paged_ns, alarm.service, alarm.route))
            yield Backtest(rule, measure, tuple(alarms), months, len(of_measure), cold)


def alarms_of(rule: str, ticks: RouteTicks, findings: Sequence[DriftFinding]) -> list[Alarm]:
    """Consecutive findings that page are one alarm; one that pages to the last tick is open."""
    found = []
    for paging, group in groupby(findings, key=lambda finding: finding.state == "page"):
        if paging:
            span = list(group)
            is_last = span[-1] is findings[-1]
            ended_ns = 0 if is_last else span[-1].tick_ns + TICK_NS
            found.append(_alarm(rule, ticks, span[0], ended_ns))
    return found


def _alarm(rule: str, ticks: RouteTicks, first: DriftFinding, ended_ns: int) -> Alarm:
    began_ns = first.began_ns or first.tick_ns
    after = answer_sums(
        bin_
        for tick in ticks.ticks
        if began_ns <= tick.start_ns and (not ended_ns or tick.start_ns < ended_ns)
        for bin_ in tick.bins
    )
    known = first.baseline
    return Alarm(
        rule=rule,
        service=ticks.service,
        route=ticks.route,
        began_ns=began_ns,
        paged_ns=first.tick_ns + TICK_NS,
        ended_ns=ended_ns,
        before=known.measured_rate if known else Rate(None, None, None),
        before_claims=known.claims if known else 0,
        after=claim_rate(after),
        after_claims=after.claims,
    )
