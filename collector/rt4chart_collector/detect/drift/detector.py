"""Drift on a route by any rule: the e-detector, a threshold, or points in a window."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Protocol

from rt4chart_collector.detect.drift.baseline import Baseline
from rt4chart_collector.detect.drift.baseline_history import Books
from rt4chart_collector.detect.drift.e_detector import EvidenceWatch, one_time, why
from rt4chart_collector.detect.drift.finding import Finding
from rt4chart_collector.detect.drift.policy import DAY_NS, TICK_NS, Policy
from rt4chart_collector.store.rates.ticks import RouteTicks, Tick, sums_of


class RuleWatch:
    """One route by the rule "threshold" or "window": pages while the window is over the bound.

    Neither knows how much chance is in a rate, so both raise more false alarms than the e-detector
    at the same delay (docs/understand/drift.md has the figures).
    """

    def __init__(self, policy: Policy, verifier: str = "") -> None:
        """A watch that has seen nothing."""
        self._policy = policy
        self._books = Books(verifier)
        self._window: tuple[Tick, ...] = ()
        self._began_ns = 0

    def fork(self) -> RuleWatch:
        """A copy that goes on by itself: to try ticks that are not complete yet."""
        twin = copy.copy(self)
        twin._books = self._books.fork()
        return twin

    def accept(self, at_ns: int) -> None:
        """Take the risen rate for the usual one; a fixed bound stays where it is."""
        if self._began_ns:
            self._books.begin_anew(min(self._began_ns, at_ns))
            self._began_ns = 0

    def look(self, ticks: Sequence[Tick]) -> Finding:
        """The finding after the ticks of one time, later than all before."""
        at_ns = one_time(ticks, self._books.last_ns)
        policy = self._policy
        if self._began_ns and at_ns - self._began_ns >= policy.settle_days * DAY_NS:
            self.accept(at_ns)
        oldest = at_ns + TICK_NS - policy.minutes * 60 * 10**9
        self._window = (*(t for t in self._window if t.start_ns >= oldest), *ticks)
        shown = max(ticks, key=lambda t: sum_of_claims([t]))
        baseline = self._baseline(shown, at_ns)
        cold = policy.rule == "window" and (baseline is None or baseline.is_cold)
        bound = policy.threshold if policy.rule == "threshold" else policy.points
        measured = self._measured(baseline, at_ns)
        if measured is not None and not cold:
            self._turn(measured >= bound, at_ns)
        self._books.add(ticks)
        per_hour, traffic = self._books.per_hour(at_ns)
        return Finding(
            tick_ns=at_ns,
            state="page" if self._began_ns else "cold" if cold else "calm",
            warn=measured or 0.0,
            page=measured or 0.0,
            beyond=0.0,
            warn_at=bound,
            page_at=bound,
            baseline=baseline,
            detectable=None,
            began_ns=self._began_ns,
            answers_per_hour=per_hour,
            traffic_per_hour=traffic,
            reason=why(shown, baseline) if policy.rule == "window" else "",
        )

    def _baseline(self, tick: Tick, at_ns: int) -> Baseline | None:
        version = (tick.model, tick.prompt_version)
        if self._began_ns:
            return self._books.held(version)
        return self._books.baseline(version, at_ns)

    def _measured(self, baseline: Baseline | None, at_ns: int) -> float | None:
        """The window's rate, or its rise over the baseline; None where it holds too few claims."""
        if sum_of_claims(self._window) < self._policy.least_claims:
            return None
        sums = sums_of(one for tick in self._window for one in tick.bins)
        if sums.wm <= 0:
            return None
        rate = sums.wx / sums.wm
        if self._policy.rule == "threshold":
            return rate
        return rate - baseline.rate if baseline is not None else None

    def _turn(self, over: bool, at_ns: int) -> None:
        if over and not self._began_ns:
            self._began_ns = self._window[0].start_ns
        elif not over and self._began_ns:
            self._books.alarmed.append((self._began_ns, at_ns))
            self._began_ns = 0


def sum_of_claims(ticks: Sequence[Tick]) -> int:
    """The decided claims in these ticks."""
    return sum(one.answers * one.decided for tick in ticks for one in tick.bins)


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
