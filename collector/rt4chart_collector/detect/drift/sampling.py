"""Adaptive sampling: a route with rising evidence is sampled more, within a cap and a budget."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from rt4chart_collector.detect.drift.finding import DriftFinding
from rt4chart_collector.detect.drift.policy import HOUR_NS

Reason = Literal["rise", "over", "budget"]


@dataclass(frozen=True, slots=True)
class SamplingPolicy:
    """The limits of sampling in verified answers an hour, and the evidence that raises a rate.

    `cap_per_hour` limits all sampled answers of a route. `budget_per_hour` limits the average
    number of answers of all routes beyond their own rates; unused budget lasts for `burst_hours`. A
    route is raised when the evidence for any rise reaches `rising_at` and that for one beyond the
    dead band `raise_at`, long before it warns. It is lowered when the former falls below
    `rising_at` or the latter below `lower_at`: a rise that cannot page is not worth the cost.
    """

    cap_per_hour: float = 1000.0
    budget_per_hour: float = 50.0
    burst_hours: float = 7 * 24.0
    rising_at: float = 3.0
    raise_at: float = 2.5
    lower_at: float = 2.0

    def first_budget(self, at_ns: int) -> SamplingBudget:
        """A full budget at this time."""
        return SamplingBudget(self.budget_per_hour * self.burst_hours, at_ns)


@dataclass(frozen=True, slots=True)
class SamplingBudget:
    """The number of answers that may still be verified beyond the routes' own rates."""

    left: float
    at_ns: int

    def after(self, at_ns: int, spent: float, policy: SamplingPolicy) -> SamplingBudget:
        """The budget at a later time, after `spent` answers beyond the routes' own rates."""
        earned = policy.budget_per_hour * max(at_ns - self.at_ns, 0) / HOUR_NS
        left = min(self.left + earned, policy.budget_per_hour * policy.burst_hours) - spent
        return SamplingBudget(left, max(at_ns, self.at_ns))

    def without(self, reserved: float) -> SamplingBudget:
        """The budget minus what another route is expected to take."""
        return replace(self, left=self.left - reserved)


@dataclass(frozen=True, slots=True)
class RateChange:
    """A new sampling rate of a route, the reason, and its cost beyond the route's own rate."""

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
    """The change of a route's sampling rate after a finding; None if the rate stays.

    The rate depends only on earlier ticks and is the same for all answers of the route, so the
    measured rates stay unbiased with the usual weight of 1/rate.
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
    # The traffic fluctuates; a rate that changed every minute would be hard to follow.
    if raised and 0.8 < rate / current < 1.25:
        return None
    return RateChange(rate, "rise", (rate - base) * traffic)


def extra_answers(verified: int, current: float, base: float) -> float:
    """The number of verified answers that are due to the raised rate."""
    return verified * max(1 - base / current, 0.0) if current > 0 else 0.0
