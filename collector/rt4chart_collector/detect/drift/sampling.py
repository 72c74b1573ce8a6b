"""Adaptive sampling: where evidence rises, more is sampled: uniformly, capped and in a budget."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from rt4chart_collector.detect.drift.finding import DriftFinding
from rt4chart_collector.detect.drift.policy import HOUR_NS

Reason = Literal["rise", "over", "budget"]


@dataclass(frozen=True, slots=True)
class SamplingPolicy:
    """How far sampling may go, in verified answers an hour, and on what evidence.

    `cap_per_hour` is for a route, all its sampled answers counted. `budget_per_hour` is what all
    routes together may take beyond their own rates on average; what is not used is kept for
    `burst_hours`. A route is raised when the evidence of any rise reaches `rising_at` and that of
    one beyond the dead band `raise_at`, long before it warns, and lowered when one has fallen
    again, the latter below `lower_at`: a rise that cannot page is not worth answers.
    """

    cap_per_hour: float = 1000.0
    budget_per_hour: float = 50.0
    burst_hours: float = 7 * 24.0
    rising_at: float = 3.0
    raise_at: float = 2.5
    lower_at: float = 2.0

    def first_budget(self, at_ns: int) -> SamplingBudget:
        """The budget of a monitor that starts now: a full one."""
        return SamplingBudget(self.budget_per_hour * self.burst_hours, at_ns)


@dataclass(frozen=True, slots=True)
class SamplingBudget:
    """How many more answers may be verified beyond the routes' own rates."""

    left: float
    at_ns: int

    def after(self, at_ns: int, spent: float, policy: SamplingPolicy) -> SamplingBudget:
        """The budget at a later time, after so many answers beyond the routes' own rates."""
        earned = policy.budget_per_hour * max(at_ns - self.at_ns, 0) / HOUR_NS
        left = min(self.left + earned, policy.budget_per_hour * policy.burst_hours) - spent
        return SamplingBudget(left, max(at_ns, self.at_ns))

    def without(self, reserved: float) -> SamplingBudget:
        """The budget less what another route is expected to take."""
        return replace(self, left=self.left - reserved)


@dataclass(frozen=True, slots=True)
class RateChange:
    """The rate to sample a route with from now on, why, and what it takes beyond its own rate."""

    rate: float
    reason: Reason
    extra_per_hour: float


def next_rate(
    current: float,
    base: float,
    finding: DriftFinding,
    policy: SamplingPolicy,
    budget: SamplingBudget,
) -> RateChange | None:
    """The change of a route's sampling rate that a finding asks for; None where it stays.

    The rate depends on ticks before it alone and is one for all answers of the route, so what is
    measured stays comparable and an answer counts 1/rate as ever.
    """
    raised = current > base
    needed = policy.lower_at if raised else policy.raise_at
    rises = finding.warn >= policy.rising_at and finding.beyond >= needed
    if finding.state != "page" and (finding.state == "cold" or not rises):
        return RateChange(base, "over", 0.0) if raised else None
    if budget.left <= 0:
        return RateChange(base, "budget", 0.0) if raised else None
    traffic = finding.traffic_per_hour
    rate = min(1.0, policy.cap_per_hour / traffic) if traffic > 0 else current
    if rate <= base:
        return RateChange(base, "over", 0.0) if raised else None
    if raised and 0.8 < rate / current < 1.25:
        return None
    return RateChange(rate, "rise", (rate - base) * traffic)


def extra_answers(verified: int, current: float, base: float) -> float:
    """How many of the verified answers of a tick the raised rate brought."""
    return verified * max(1 - base / current, 0.0) if current > 0 else 0.0
