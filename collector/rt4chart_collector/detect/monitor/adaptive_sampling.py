"""Adaptive sampling in the monitor: records raised rates, and keeps them within one budget."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from rt4chart_collector.detect.drift.finding import DriftFinding, RouteKey
from rt4chart_collector.detect.drift.policy import DAY_NS, HOUR_NS, TICK_NS
from rt4chart_collector.detect.drift.sampling import (
    SamplingBudget,
    SamplingPolicy,
    extra_answers,
    next_rate,
)
from rt4chart_collector.detect.monitor.route_detector import settled_before
from rt4chart_collector.store.alerts.sampling_rates import (
    SamplingRateRow,
    rates_in_force,
    rates_since,
    record_rates,
)
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.scope import QueryScope
from rt4chart_collector.store.rates.ticks import Tick, route_ticks

RISE = "rise"
# A rate comes back slightly changed, because tracers encode it as a threshold of 56 bits.
RATE_TOLERANCE = 1.001


@dataclass(frozen=True, slots=True)
class RateRaise:
    """A period in which a route was sampled more, at most at the rate `most`.

    `base` is the route's own rate, None if it was not recorded.
    """

    base: float | None
    most: float
    since_ns: int
    until_ns: int


def find_raises(rows: Sequence[SamplingRateRow]) -> dict[RouteKey, list[RateRaise]]:
    """The raises of each route, the oldest first; `rows` are sorted newest first."""
    found: dict[RouteKey, list[RateRaise]] = {}
    for row in reversed(rows):
        raises = found.setdefault((row.service, row.route), [])
        last = raises[-1] if raises else None
        is_open = last is not None and last.base is None and row.at_ns <= last.until_ns
        if row.reason == RISE and last is not None and is_open:
            most = max(last.most, row.rate)
            raises[-1] = replace(last, most=most, until_ns=row.until_ns)
        elif row.reason == RISE:
            raises.append(RateRaise(None, row.rate, row.at_ns, row.until_ns))
        elif last is not None and is_open:
            # The row that ends a raise holds the route's own rate.
            raises[-1] = replace(last, base=row.rate, until_ns=row.at_ns)
    return found


def extra_answers_of(ticks: Sequence[Tick], base: float, most: float) -> float:
    """The number of answers in these ticks that are due to a raise up to `most`.

    An answer with a higher rate was sampled for another reason, such as a risk rule.
    """
    return sum(
        extra_answers(bin_.answers, bin_.sample_rate, base)
        for tick in ticks
        for bin_ in tick.bins
        if bin_.sample_rate <= most * RATE_TOLERANCE
    )


def budget_left(
    raises: Mapping[RouteKey, Sequence[RateRaise]],
    ticks_of: Callable[[RouteKey, int, int], Sequence[Tick]],
    policy: SamplingPolicy,
    *,
    now_ns: int,
) -> SamplingBudget:
    """The budget now, if it was full `burst_hours` ago: earlier expenses cannot matter.

    `ticks_of` returns the ticks of a route in a period; those that are not settled yet are charged
    later.
    """
    begin, end = now_ns - round(policy.burst_hours * HOUR_NS), settled_before(now_ns)
    spent: defaultdict[int, float] = defaultdict(float)
    for key, found in raises.items():
        recent = [raise_ for raise_ in found if raise_.until_ns > begin]
        if not recent:
            continue
        for tick in ticks_of(key, max(recent[0].since_ns - TICK_NS, begin), end):
            for raise_ in recent:
                # Answers sampled at its beginning or end may belong to the neighbouring tick.
                if raise_.since_ns - TICK_NS <= tick.start_ns <= raise_.until_ns + TICK_NS:
                    spent[tick.start_ns] += extra_answers_of(
                        [tick], raise_.base or raise_.most, raise_.most
                    )
                    break
    budget = policy.first_budget(begin)
    for at_ns in sorted(spent):
        budget = budget.after(at_ns, spent[at_ns], policy)
    return budget.after(now_ns, 0.0, policy)


# A raised rate expires unless it is renewed: the monitor may die.
RATE_LASTS_NS = HOUR_NS
RENEW_BEFORE_NS = RATE_LASTS_NS // 2
# The application's own rate is the smallest rate that at least this share of its answers has.
LEAST_SHARE = 0.05
# A route without an answer for this long has nothing more to sample.
ACTIVE_NS = HOUR_NS
# Ticks are charged when they are settled, which may be after the end of the raise.
CHARGE_WITHIN_NS = 2 * HOUR_NS
# How far back the beginning of a raise is searched, and how many rows are read for it.
LOOKBACK_NS, MAX_RATE_ROWS = 14 * DAY_NS, 20_000


@dataclass(frozen=True, slots=True)
class RaisedRoute:
    """A route that is sampled more: its own rate, and the rate in force."""

    base: float
    current: SamplingRateRow


class AdaptiveSampling:
    """The raised routes and the rest of the budget; both are read from the store at first."""

    def __init__(
        self,
        client: Client,
        policy: SamplingPolicy,
        *,
        verifier: str,
        now_ns: int,
        is_ours: Callable[[RouteKey], bool] = lambda key: True,
    ) -> None:
        """Continue with the raises and expenses of an earlier process, of routes that are ours."""
        self._client = client
        self._policy = policy
        self.verifier = verifier
        rows = rates_since(client, since_ns=now_ns - LOOKBACK_NS, limit=MAX_RATE_ROWS)
        raises = {
            key: [self._with_base(key, raise_) for raise_ in found]
            for key, found in find_raises(rows).items()
            if is_ours(key)
        }
        self._budget = budget_left(raises, self._ticks, policy, now_ns=now_ns)
        self._charged = {key: found[-1] for key, found in raises.items() if found}
        self._raised = {
            key: RaisedRoute(self._charged[key].base or min(row.rate, 1.0), row)
            for row in rates_in_force(client, now_ns=now_ns)
            if (key := (row.service, row.route)) in self._charged
        }

    @property
    def left(self) -> float:
        """The number of answers that may still be verified beyond the routes' own rates."""
        return self._budget.left

    def adapt(
        self,
        findings: Mapping[RouteKey, DriftFinding],
        settled: Mapping[RouteKey, Sequence[Tick]],
        *,
        now_ns: int,
    ) -> list[SamplingRateRow]:
        """Store and return the rates that these findings change, and those that must be renewed.

        `settled` are the ticks that became settled since the last call: their answers beyond the
        routes' own rates are taken from the budget. The raise of a silent route ends.
        """
        self._charged = {
            key: raise_
            for key, raise_ in self._charged.items()
            if now_ns - raise_.until_ns < CHARGE_WITHIN_NS
        }
        spent = sum(self._extra(key, ticks) for key, ticks in settled.items())
        self._budget = self._budget.after(now_ns, spent, self._policy)
        # Routes with the most evidence come first, and a raised route reserves its next hour.
        active = {
            key: finding
            for key, finding in findings.items()
            if now_ns - finding.tick_ns < ACTIVE_NS
        }
        order = sorted(active, key=lambda key: (-findings[key].warn, key))
        left, changed = self._budget, self._end_silent(findings, active, now_ns)
        for key in order:
            finding, raised = findings[key], self._raised.get(key)
            base = raised.base if raised else self._own_rate(key, now_ns, finding)
            if base is None:
                continue
            current = raised.current.rate if raised else base
            change = next_rate(current, base, finding, self._policy, left)
            if change is not None:
                left = left.without(change.extra_per_hour)
                changed.append(self._change(key, base, change.rate, change.reason, now_ns))
            elif raised and current > base:
                left = left.without((current - base) * finding.traffic_per_hour)
                if raised.current.until_ns - now_ns < RENEW_BEFORE_NS:
                    changed.append(self._change(key, base, current, RISE, now_ns))
        record_rates(self._client, changed)
        return changed

    def _change(
        self, key: RouteKey, base: float, rate: float, reason: str, now_ns: int
    ) -> SamplingRateRow:
        is_raised = rate > base
        until = now_ns + RATE_LASTS_NS if is_raised else now_ns
        made = SamplingRateRow(*key, now_ns, rate, until, reason)
        if is_raised:
            self._raised[key] = RaisedRoute(base, made)
            known = self._charged.get(key, RateRaise(base, rate, now_ns, until))
            most = max(known.most, rate)
            self._charged[key] = replace(known, base=base, most=most, until_ns=until)
        else:
            self._raised.pop(key, None)
        return made

    def _end_silent(
        self,
        findings: Mapping[RouteKey, DriftFinding],
        active: Mapping[RouteKey, DriftFinding],
        now_ns: int,
    ) -> list[SamplingRateRow]:
        """End the raises of routes without recent answers."""
        silent = self._raised.keys() & (findings.keys() - active.keys())
        bases = {key: self._raised[key].base for key in sorted(silent)}
        return [self._change(key, base, base, "over", now_ns) for key, base in bases.items()]

    def _own_rate(self, key: RouteKey, now_ns: int, finding: DriftFinding) -> float | None:
        """The route's own rate; looked up only if there is evidence, which most routes lack."""
        is_quiet = finding.state != "page" and finding.beyond < self._policy.raise_at
        return None if is_quiet else self._usual_rate(key, now_ns - DAY_NS, now_ns)

    def _with_base(self, key: RouteKey, raise_: RateRaise) -> RateRaise:
        """The raise with the rate before it, if none was recorded."""
        if raise_.base is not None:
            return raise_
        return replace(
            raise_, base=self._usual_rate(key, raise_.since_ns - DAY_NS, raise_.since_ns)
        )

    def _usual_rate(self, key: RouteKey, since_ns: int, until_ns: int) -> float | None:
        return usual_rate(self._ticks(key, since_ns, until_ns))

    def _ticks(self, key: RouteKey, since_ns: int, until_ns: int) -> list[Tick]:
        scope = QueryScope(since_ns, until_ns, self.verifier, *key)
        return [tick for route in route_ticks(self._client, scope) for tick in route.ticks]

    def _extra(self, key: RouteKey, ticks: Sequence[Tick]) -> float:
        known = self._charged.get(key)
        if known is None or known.base is None:
            return 0.0
        return extra_answers_of(ticks, known.base, known.most)


def usual_rate(ticks: Sequence[Tick]) -> float | None:
    """The smallest sampling rate of at least one verified answer in twenty; None without any.

    The minimum alone could be a single answer of an experiment.
    """
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
