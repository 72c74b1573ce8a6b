"""The rules that people know, for those who want them: a bound, and so many points in a window."""

from __future__ import annotations

import copy
from collections.abc import Sequence

from rt4chart_collector.drift.baseline import Baseline
from rt4chart_collector.drift.books import Books
from rt4chart_collector.drift.finding import Finding
from rt4chart_collector.drift.policy import DAY_NS, TICK_NS, Policy
from rt4chart_collector.drift.watch import one_time, why
from rt4chart_collector.store.ticks import Tick, sums_of


class RuleWatch:
    """One route by the rule "threshold" or "window": pages while the window is over the bound.

    Neither knows how much chance is in a rate, so both raise more false alarms than the e-detector
    at the same delay (docs/drift.md has the figures).
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
