"""What drift is found on a route, by any rule: from the rollup alone, each time the same."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Protocol

from rt4chart_collector.drift.finding import Finding
from rt4chart_collector.drift.policy import Policy
from rt4chart_collector.drift.rules import RuleWatch
from rt4chart_collector.drift.watch import EvidenceWatch
from rt4chart_collector.store.ticks import RouteTicks, Tick

__all__ = ["Finding", "Policy", "Watch", "by_time", "replay", "watch_of"]


class Watch(Protocol):
    """What looks at one route, tick by tick, by one rule."""

    def look(self, ticks: Sequence[Tick]) -> Finding:
        """The finding after the ticks of one time, later than all before."""

    def accept(self, at_ns: int) -> None:
        """Take the risen rate for the usual one: ends the alarm, and the baseline begins with it.

        Nothing where there is no alarm: the rate is what it was.
        """

    def fork(self) -> Watch:
        """A copy that goes on by itself: to try ticks that are not complete yet."""


def watch_of(policy: Policy, verifier: str = "") -> Watch:
    """A watch that has seen nothing, by the policy's rule."""
    if policy.rule == "evidence":
        return EvidenceWatch(policy, verifier)
    return RuleWatch(policy, verifier)


def replay(
    route_ticks: RouteTicks, policy: Policy, *, since_ns: int, accepted_ns: Sequence[int] = ()
) -> list[Finding]:
    """The findings of the ticks that start at `since_ns` or later, one a time that has ticks.

    It starts from nothing at the first tick given, so give fourteen days more than are asked for,
    and twice that where alarms of that time are to be left out of the baseline. At each time in
    `accepted_ns` a person has taken the risen rate for the usual one.
    """
    watch = watch_of(policy, route_ticks.verifier)
    waiting = sorted(accepted_ns)
    found = []
    for ticks in by_time(route_ticks.ticks):
        while waiting and waiting[0] <= ticks[0].start_ns:
            watch.accept(waiting.pop(0))
        finding = watch.look(ticks)
        if finding.tick_ns >= since_ns:
            found.append(finding)
    return found


def by_time(ticks: Sequence[Tick]) -> Iterator[list[Tick]]:
    """The ticks of each time together, whatever the order in which they came."""
    ordered = sorted(ticks, key=lambda t: (t.start_ns, t.model, t.prompt_version, t.release))
    for _, group in groupby(ordered, key=lambda t: t.start_ns):
        yield list(group)
