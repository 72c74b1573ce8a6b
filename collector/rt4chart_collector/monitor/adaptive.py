"""Adaptive sampling: what the findings ask for is written down, in a budget of all routes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rt4chart_collector.drift.finding import Finding
from rt4chart_collector.drift.policy import DAY_NS, HOUR_NS
from rt4chart_collector.drift.sampling import SamplingPolicy, extra_answers, next_rate
from rt4chart_collector.store.connect import Client
from rt4chart_collector.store.sampling_rates import (
    RateSet,
    rates_in_force,
    rates_since,
    record_rates,
)
from rt4chart_collector.store.ticks import Tick, route_ticks

Place = tuple[str, str]
# A rate that nobody renews ends by itself: the monitor may die.
HOLDS_NS = HOUR_NS
RENEWED_NS = HOLDS_NS // 2
# The rate that the application has by itself: the smallest that so many of the answers had.
LEAST_SHARE = 0.05
RISE = "rise"


@dataclass(frozen=True, slots=True)
class Raised:
    """A route that is sampled more: its own rate, and the one in force."""

    base: float
    current: RateSet


class Adaptive:
    """The raised routes, read from the store when it begins, and what is left of the budget."""

    def __init__(
        self, client: Client, policy: SamplingPolicy, *, verifier: str, now_ns: int
    ) -> None:
        """A full budget; routes that another process has raised go on from there."""
        self._client = client
        self._policy = policy
        self._verifier = verifier
        self._budget = policy.first_budget(now_ns)
        self._raised = {
            (one.service, one.route): Raised(self._base(one, now_ns), one)
            for one in rates_in_force(client, now_ns=now_ns)
        }

    def adapt(
        self,
        findings: Mapping[Place, Finding],
        settled: Mapping[Place, Sequence[Tick]],
        *,
        now_ns: int,
    ) -> list[RateSet]:
        """Write the rates that these findings change, or that are to be renewed, and give them.

        `settled` are the ticks since the last time: what they held beyond the routes' own rates is
        taken from the budget.
        """
        spent = sum(self._extra(place, ticks) for place, ticks in settled.items())
        self._budget = self._budget.after(now_ns, spent, self._policy)
        # What is raised now keeps its part for the next hour; the most evident goes first.
        order = sorted(findings, key=lambda place: (-findings[place].warn, place))
        left, changed = self._budget, []
        for place in order:
            finding, raised = findings[place], self._raised.get(place)
            base = raised.base if raised else self._own_rate(place, now_ns, finding)
            if base is None:
                continue
            current = raised.current.rate if raised else base
            change = next_rate(current, base, finding, self._policy, left)
            if change is not None:
                left = left.without(change.extra_per_hour)
                changed.append(self._set(place, base, change.rate, change.reason, now_ns))
            elif raised and current > base:
                left = left.without((current - base) * finding.traffic_per_hour)
                if raised.current.until_ns - now_ns < RENEWED_NS:
                    changed.append(self._set(place, base, current, RISE, now_ns))
        record_rates(self._client, changed)
        return changed

    def _set(self, place: Place, base: float, rate: float, reason: str, now_ns: int) -> RateSet:
        is_raised = rate > base
        until = now_ns + HOLDS_NS if is_raised else now_ns
        made = RateSet(*place, now_ns, rate, until, reason)
        if is_raised:
            self._raised[place] = Raised(base, made)
        else:
            self._raised.pop(place, None)
        return made

    def _own_rate(self, place: Place, now_ns: int, finding: Finding) -> float | None:
        """Looked up only where there is evidence: most routes have none."""
        is_quiet = finding.state != "page" and finding.beyond < self._policy.raise_at
        return None if is_quiet else self._usual(place, now_ns - DAY_NS, now_ns)

    def _base(self, one: RateSet, now_ns: int) -> float:
        """The rate before it was raised, which an earlier process did."""
        began = now_ns
        for known in rates_since(self._client, since_ns=now_ns - 14 * DAY_NS, service=one.service):
            if known.route == one.route:
                if known.reason != RISE:
                    break
                began = known.at_ns
        place = (one.service, one.route)
        return self._usual(place, began - DAY_NS, began) or min(one.rate, 1.0)

    def _usual(self, place: Place, since_ns: int, until_ns: int) -> float | None:
        read = route_ticks(
            self._client,
            since_ns=since_ns,
            until_ns=until_ns,
            verifier=self._verifier,
            service=place[0],
            route=place[1],
        )
        return usual_rate([tick for one in read for tick in one.ticks])

    def _extra(self, place: Place, ticks: Sequence[Tick]) -> float:
        raised = self._raised.get(place)
        if raised is None:
            return 0.0
        verified = sum(one.answers for tick in ticks for one in tick.bins)
        return extra_answers(verified, raised.current.rate, raised.base)


def usual_rate(ticks: Sequence[Tick]) -> float | None:
    """The smallest sampling rate that one verified answer in twenty had; None without answers."""
    counts: dict[float, int] = {}
    for tick in ticks:
        for one in tick.bins:
            if one.sample_rate > 0:
                counts[one.sample_rate] = counts.get(one.sample_rate, 0) + one.answers
    needed, seen = LEAST_SHARE * sum(counts.values()), 0
    for rate in sorted(counts):
        seen += counts[rate]
        if seen >= needed:
            return rate
    return None
