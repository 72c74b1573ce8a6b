"""Drift detection on a route by any rule: the e-detector, a threshold, or a window."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Protocol

from otel_rt4chart.verify.core.rates import is_measurable
from rt4chart_collector.detect.drift.baseline import Baseline
from rt4chart_collector.detect.drift.baseline_history import (
    BaselineHistory,
    HistoryState,
    ReadHours,
)
from rt4chart_collector.detect.drift.e_detector import (
    EvidenceDetector,
    EvidenceState,
    baseline_reason,
    sum_of_claims,
    tick_time,
)
from rt4chart_collector.detect.drift.finding import DriftFinding
from rt4chart_collector.detect.drift.plain_values import from_plain
from rt4chart_collector.detect.drift.policy import DAY_NS, TICK_NS, DriftPolicy
from rt4chart_collector.store.rates.ticks import RouteTicks, Tick, answer_sums


@dataclass(frozen=True, slots=True)
class BoundState:
    """All that a `BoundDetector` knows, but for the hours that its history has stored apart."""

    history: HistoryState
    window: tuple[Tick, ...]
    began_ns: int


class BoundDetector:
    """The rules "threshold" and "window" on one route: alert while the window is over the bound.

    Neither considers how much a rate varies by chance, so both raise more false alarms than the
    e-detector at the same delay (figures in docs/understand/drift.md).
    """

    def __init__(self, policy: DriftPolicy, verifier: str = "") -> None:
        """Start without ticks."""
        self._policy = policy
        self._history = BaselineHistory(verifier)
        self._window: tuple[Tick, ...] = ()
        self._began_ns = 0

    def fork(self) -> BoundDetector:
        """An independent copy, to try ticks that are not complete yet."""
        twin = copy.copy(self)
        twin._history = self._history.fork()
        return twin

    @property
    def history(self) -> BaselineHistory:
        """The history of its baseline."""
        return self._history

    def state(self) -> BoundState:
        """What to store, so that `restored` continues exactly as this detector would."""
        return BoundState(self._history.state(), self._window, self._began_ns)

    @classmethod
    def restored(
        cls, policy: DriftPolicy, history: BaselineHistory, state: BoundState
    ) -> BoundDetector:
        """The detector of this state; `history` is that of its history's state."""
        made = cls(policy, history.verifier)
        made._history, made._window, made._began_ns = history, state.window, state.began_ns
        return made

    def accept(self, at_ns: int) -> None:
        """Accept the risen rate as the usual one; a fixed bound does not move."""
        if self._began_ns:
            self._history.restart(min(self._began_ns, at_ns))
            self._began_ns = 0

    def update(self, ticks: Sequence[Tick]) -> DriftFinding:
        """The finding after the ticks of one time, later than all before."""
        at_ns = tick_time(ticks, self._history.last_ns)
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
            self._update_alarm(measured >= bound, at_ns)
        self._history.add(ticks)
        per_hour, traffic = self._history.per_hour(at_ns)
        return DriftFinding(
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
            reason=baseline_reason(shown, baseline) if policy.rule == "window" else "",
        )

    def _baseline(self, tick: Tick, at_ns: int) -> Baseline | None:
        version = (tick.model, tick.prompt_version)
        if self._began_ns:
            return self._history.current(version)
        return self._history.baseline(version, at_ns)

    def _measured(self, baseline: Baseline | None, at_ns: int) -> float | None:
        """The window's rate, or its rise over the baseline; None if it has too few claims."""
        if sum_of_claims(self._window) < self._policy.least_claims:
            return None
        sums = answer_sums(bin_ for tick in self._window for bin_ in tick.bins)
        if not is_measurable(sums):
            return None
        rate = sums.wx / sums.wm
        if self._policy.rule == "threshold":
            return rate
        return rate - baseline.rate if baseline is not None else None

    def _update_alarm(self, over: bool, at_ns: int) -> None:
        if over and not self._began_ns:
            self._began_ns = self._window[0].start_ns
        elif not over and self._began_ns:
            self._history.alarmed.append((self._began_ns, at_ns))
            self._began_ns = 0


class DriftDetector(Protocol):
    """The detector of one route, by one rule. It receives the ticks in order."""

    def update(self, ticks: Sequence[Tick]) -> DriftFinding:
        """The finding after the ticks of one time, later than all before."""

    def accept(self, at_ns: int) -> None:
        """Accept the risen rate as the usual one: the alarm ends, the baseline restarts with it.

        Does nothing without an alarm.
        """

    def fork(self) -> DriftDetector:
        """An independent copy, to try ticks that are not complete yet."""

    @property
    def history(self) -> BaselineHistory:
        """The history of its baseline."""

    def state(self) -> EvidenceState | BoundState:
        """What to store, so that `restore_detector` continues exactly as this detector would."""


def create_detector(policy: DriftPolicy, verifier: str = "") -> DriftDetector:
    """A new detector of the policy's rule."""
    if policy.rule == "evidence":
        return EvidenceDetector(policy, verifier)
    return BoundDetector(policy, verifier)


def restore_detector(
    policy: DriftPolicy, verifier: str, plain: object, read: ReadHours
) -> DriftDetector:
    """The detector of a state, as a JSON value; InputError if it is none of this policy's rule.

    `read` returns the hours that were stored apart; it is called when they are needed.
    """
    if policy.rule == "evidence":
        known = from_plain(EvidenceState, plain)
        history = BaselineHistory.restored(verifier, known.history, read)
        return EvidenceDetector.restored(policy, history, known)
    bound = from_plain(BoundState, plain)
    history = BaselineHistory.restored(verifier, bound.history, read)
    return BoundDetector.restored(policy, history, bound)


def replay(
    route_ticks: RouteTicks, policy: DriftPolicy, *, since_ns: int, accepted_ns: Sequence[int] = ()
) -> list[DriftFinding]:
    """The findings of the ticks that start at `since_ns` or later, one a time that has ticks.

    The detector starts at the first tick, so pass fourteen days more than you ask for, and twice
    that if alarms of that time must be left out of the baseline. At each time in `accepted_ns` a
    person has accepted the risen rate as the usual one.
    """
    detector = create_detector(policy, route_ticks.verifier)
    waiting = sorted(accepted_ns)
    found = []
    for ticks in by_time(route_ticks.ticks):
        while waiting and waiting[0] <= ticks[0].start_ns:
            detector.accept(waiting.pop(0))
        finding = detector.update(ticks)
        if finding.tick_ns >= since_ns:
            found.append(finding)
    return found


def by_time(ticks: Sequence[Tick]) -> Iterator[list[Tick]]:
    """The ticks grouped by time, in order."""
    ordered = sorted(ticks, key=lambda t: (t.start_ns, t.model, t.prompt_version, t.release))
    for _, group in groupby(ordered, key=lambda t: t.start_ns):
        yield list(group)
