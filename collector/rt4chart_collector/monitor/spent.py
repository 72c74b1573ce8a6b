"""What raised sampling has taken from its budget, read from what was asked for and what came."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from rt4chart_collector.drift.policy import HOUR_NS, TICK_NS
from rt4chart_collector.drift.sampling import Budget, SamplingPolicy, extra_answers
from rt4chart_collector.monitor.watching import settled_before
from rt4chart_collector.store.sampling_rates import RateSet
from rt4chart_collector.store.ticks import Tick

Place = tuple[str, str]
RISE = "rise"
# A rate comes back a little changed: applications write it down as a threshold of 56 bits.
ABOUT = 1.001


@dataclass(frozen=True, slots=True)
class Raise:
    """A route was sampled more from one time to another, at `most` where it was highest.

    `base` is the route's own rate, None where it was not written down.
    """

    base: float | None
    most: float
    since_ns: int
    until_ns: int


def raises_of(sets: Sequence[RateSet]) -> dict[Place, list[Raise]]:
    """When each route was raised, the oldest first; `sets` come newest first."""
    found: dict[Place, list[Raise]] = {}
    for one in reversed(sets):
        raises = found.setdefault((one.service, one.route), [])
        last = raises[-1] if raises else None
        lasts = last is not None and last.base is None and one.at_ns <= last.until_ns
        if one.reason == RISE and last is not None and lasts:
            most = max(last.most, one.rate)
            raises[-1] = replace(last, most=most, until_ns=one.until_ns)
        elif one.reason == RISE:
            raises.append(Raise(None, one.rate, one.at_ns, one.until_ns))
        elif last is not None and lasts:
            # What ends it is the route's own rate.
            raises[-1] = replace(last, base=one.rate, until_ns=one.at_ns)
    return found


def beyond(ticks: Sequence[Tick], base: float, most: float) -> float:
    """How many answers of these ticks a raise up to `most` brought.

    Each by the rate that it was sampled with; a higher one than was asked for is not of the raise.
    """
    return sum(
        extra_answers(one.answers, one.sample_rate, base)
        for tick in ticks
        for one in tick.bins
        if one.sample_rate <= most * ABOUT
    )


def budget_left(
    raises: Mapping[Place, Sequence[Raise]],
    ticks_of: Callable[[Place, int, int], Sequence[Tick]],
    policy: SamplingPolicy,
    *,
    now_ns: int,
) -> Budget:
    """The budget now, had it been full as long ago as a full one lasts.

    `ticks_of` gives a route's ticks from one time to another; those that are not settled yet will
    be charged when they are.
    """
    begin, end = now_ns - round(policy.burst_hours * HOUR_NS), settled_before(now_ns)
    spent: defaultdict[int, float] = defaultdict(float)
    for place, ones in raises.items():
        lately = [one for one in ones if one.until_ns > begin]
        if not lately:
            continue
        for tick in ticks_of(place, max(lately[0].since_ns - TICK_NS, begin), end):
            for one in lately:
                # What was sampled when it began or ended may be of the tick beside.
                if one.since_ns - TICK_NS <= tick.start_ns <= one.until_ns + TICK_NS:
                    spent[tick.start_ns] += beyond([tick], one.base or one.most, one.most)
                    break
    budget = policy.first_budget(begin)
    for at_ns in sorted(spent):
        budget = budget.after(at_ns, spent[at_ns], policy)
    return budget.after(now_ns, 0.0, policy)
