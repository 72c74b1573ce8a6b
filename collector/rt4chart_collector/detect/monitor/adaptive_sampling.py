"""Adaptive sampling: raises are recorded and kept within one budget for all routes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from rt4chart_collector.detect.drift.finding import DriftFinding
from rt4chart_collector.detect.drift.policy import DAY_NS, HOUR_NS, TICK_NS
from rt4chart_collector.detect.drift.sampling import (
    SamplingBudget,
    SamplingPolicy,
    extra_answers,
    next_rate,
)
from rt4chart_collector.detect.monitor.route_detectors import settled_before
from rt4chart_collector.store.alerts.sampling_rates import (
    SamplingRateRow,
    rates_in_force,
    rates_since,
    record_rates,
)
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.rates.ticks import Tick, route_ticks

Place = tuple[str, str]
RISE = "rise"
# A rate comes back a little changed: applications write it down as a threshold of 56 bits.
RATE_TOLERANCE = 1.001


@dataclass(frozen=True, slots=True)
class RateRaise:
    """A route was sampled more from one time to another, at `most` where it was highest.

    `base` is the route's own rate, None where it was not written down.
    """

    base: float | None
    most: float
    since_ns: int
    until_ns: int


def find_raises(sets: Sequence[SamplingRateRow]) -> dict[Place, list[RateRaise]]:
    """When each route was raised, the oldest first; `sets` come newest first."""
    found: dict[Place, list[RateRaise]] = {}
    for row in reversed(sets):
        raises = found.setdefault((row.service, row.route), [])
        last = raises[-1] if raises else None
        lasts = last is not None and last.base is None and row.at_ns <= last.until_ns
        if row.reason == RISE and last is not None and lasts:
            most = max(last.most, row.rate)
            raises[-1] = replace(last, most=most, until_ns=row.until_ns)
        elif row.reason == RISE:
            raises.append(RateRaise(None, row.rate, row.at_ns, row.until_ns))
        elif last is not None and lasts:
            # What ends it is the route's own rate.
            raises[-1] = replace(last, base=row.rate, until_ns=row.at_ns)
    return found


def beyond(ticks: Sequence[Tick], base: float, most: float) -> float:
    """How many answers of these ticks a raise up to `most` brought.

    Each by the rate that it was sampled with; a higher one than was asked for is not of the raise.
    """
    return sum(
        extra_answers(bin_.answers, bin_.sample_rate, base)
        for tick in ticks
        for bin_ in tick.bins
        if bin_.sample_rate <= most * RATE_TOLERANCE
    )


def budget_left(
    raises: Mapping[Place, Sequence[RateRaise]],
    ticks_of: Callable[[Place, int, int], Sequence[Tick]],
    policy: SamplingPolicy,
    *,
    now_ns: int,
) -> SamplingBudget:
    """The budget now, had it been full as long ago as a full one lasts.

    `ticks_of` gives a route's ticks from one time to another; those that are not settled yet will
    be charged when they are.
    """
    begin, end = now_ns - round(policy.burst_hours * HOUR_NS), settled_before(now_ns)
    spent: defaultdict[int, float] = defaultdict(float)
    for place, found in raises.items():
        lately = [raise_ for raise_ in found if raise_.until_ns > begin]
        if not lately:
            continue
        for tick in ticks_of(place, max(lately[0].since_ns - TICK_NS, begin), end):
            for raise_ in lately:
                # What was sampled when it began or ended may be of the tick beside.
                if raise_.since_ns - TICK_NS <= tick.start_ns <= raise_.until_ns + TICK_NS:
                    spent[tick.start_ns] += beyond([tick], raise_.base or raise_.most, raise_.most)
                    break
    budget = policy.first_budget(begin)
    for at_ns in sorted(spent):
        budget = budget.after(at_ns, spent[at_ns], policy)
    return budget.after(now_ns, 0.0, policy)


# A rate that nobody renews ends by itself: the monitor may die.
RATE_LASTS_NS = HOUR_NS
RENEW_BEFORE_NS = RATE_LASTS_NS // 2
# The rate that the application has by itself: the smallest that so many of the answers had.
LEAST_SHARE = 0.05
# Without an answer for so long, a route has nothing that more of could be verified.
ACTIVE_NS = HOUR_NS
# Ticks are charged when they are settled, which may be after the raise that they are of.
CHARGE_WITHIN_NS = 2 * HOUR_NS
# How far back is looked for when a raise began, and how many rates are read for that.
LOOKBACK_NS, MAX_RATE_ROWS = 14 * DAY_NS, 20_000


@dataclass(frozen=True, slots=True)
class RaisedRoute:
    """A route that is sampled more: its own rate, and the one in force."""

    base: float
    current: SamplingRateRow


class AdaptiveSampling:
    """The raised routes, read from the store when it begins, and what is left of the budget."""

    def __init__(
        self, client: Client, policy: SamplingPolicy, *, verifier: str, now_ns: int
    ) -> None:
        """What another process has raised and spent goes on from there."""
        self._client = client
        self._policy = policy
        self.verifier = verifier
        sets = rates_since(client, since_ns=now_ns - LOOKBACK_NS, limit=MAX_RATE_ROWS)
        raises = {
            place: [self._based(place, raise_) for raise_ in found]
            for place, found in find_raises(sets).items()
        }
        self._budget = budget_left(raises, self._ticks, policy, now_ns=now_ns)
        self._charged = {place: found[-1] for place, found in raises.items() if found}
        self._raised = {
            place: RaisedRoute(self._charged[place].base or min(row.rate, 1.0), row)
            for row in rates_in_force(client, now_ns=now_ns)
            if (place := (row.service, row.route)) in self._charged
        }

    @property
    def left(self) -> float:
        """How many answers may still be verified beyond the routes' own rates."""
        return self._budget.left

    def adapt(
        self,
        findings: Mapping[Place, DriftFinding],
        settled: Mapping[Place, Sequence[Tick]],
        *,
        now_ns: int,
    ) -> list[SamplingRateRow]:
        """Write the rates that these findings change, or that are to be renewed, and give them.

        `settled` are the ticks since the last time: what they held beyond the routes' own rates is
        taken from the budget. A route that fell silent is not kept raised.
        """
        self._charged = {
            place: raise_
            for place, raise_ in self._charged.items()
            if now_ns - raise_.until_ns < CHARGE_WITHIN_NS
        }
        spent = sum(self._extra(place, ticks) for place, ticks in settled.items())
        self._budget = self._budget.after(now_ns, spent, self._policy)
        # What is raised now keeps its part for the next hour; the most evident goes first.
        heard = {
            place: finding
            for place, finding in findings.items()
            if now_ns - finding.tick_ns < ACTIVE_NS
        }
        order = sorted(heard, key=lambda place: (-findings[place].warn, place))
        left, changed = self._budget, self._silent(findings, heard, now_ns)
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
                if raised.current.until_ns - now_ns < RENEW_BEFORE_NS:
                    changed.append(self._set(place, base, current, RISE, now_ns))
        record_rates(self._client, changed)
        return changed

    def _set(
        self, place: Place, base: float, rate: float, reason: str, now_ns: int
    ) -> SamplingRateRow:
        is_raised = rate > base
        until = now_ns + RATE_LASTS_NS if is_raised else now_ns
        made = SamplingRateRow(*place, now_ns, rate, until, reason)
        if is_raised:
            self._raised[place] = RaisedRoute(base, made)
            known = self._charged.get(place, RateRaise(base, rate, now_ns, until))
            most = max(known.most, rate)
            self._charged[place] = replace(known, base=base, most=most, until_ns=until)
        else:
            self._raised.pop(place, None)
        return made

    def _silent(
        self,
        findings: Mapping[Place, DriftFinding],
        heard: Mapping[Place, DriftFinding],
        now_ns: int,
    ) -> list[SamplingRateRow]:
        """The end of what was raised and has no answer any more."""
        silent = self._raised.keys() & (findings.keys() - heard.keys())
        bases = {place: self._raised[place].base for place in sorted(silent)}
        return [self._set(place, base, base, "over", now_ns) for place, base in bases.items()]

    def _own_rate(self, place: Place, now_ns: int, finding: DriftFinding) -> float | None:
        """Looked up only where there is evidence: most routes have none."""
        is_quiet = finding.state != "page" and finding.beyond < self._policy.raise_at
        return None if is_quiet else self._usual(place, now_ns - DAY_NS, now_ns)

    def _based(self, place: Place, raise_: RateRaise) -> RateRaise:
        """With the rate before it was raised, where none is written down."""
        if raise_.base is not None:
            return raise_
        return replace(raise_, base=self._usual(place, raise_.since_ns - DAY_NS, raise_.since_ns))

    def _usual(self, place: Place, since_ns: int, until_ns: int) -> float | None:
        return usual_rate(self._ticks(place, since_ns, until_ns))

    def _ticks(self, place: Place, since_ns: int, until_ns: int) -> list[Tick]:
        read = route_ticks(
            self._client,
            since_ns=since_ns,
            until_ns=until_ns,
            verifier=self.verifier,
            service=place[0],
            route=place[1],
        )
        return [tick for route in read for tick in route.ticks]

    def _extra(self, place: Place, ticks: Sequence[Tick]) -> float:
        known = self._charged.get(place)
        if known is None or known.base is None:
            return 0.0
        return beyond(ticks, known.base, known.most)


def usual_rate(ticks: Sequence[Tick]) -> float | None:
    """The smallest sampling rate that one verified answer in twenty had; None without answers."""
    counts: dict[float, int] = {}
    for tick in ticks:
        for bin_ in tick.bins:
            if bin_.sample_rate > 0:
                counts[bin_.sample_rate] = counts.get(bin_.sample_rate, 0) + bin_.answers
    needed, seen = LEAST_SHARE * sum(counts.values()), 0
    for rate in sorted(counts):
        seen += counts[rate]
        if seen >= needed:
            return rate
    return None
