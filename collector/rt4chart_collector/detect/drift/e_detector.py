"""The e-detector of one route: accumulates evidence by tick, raises the alarm and ends it.

Method: Shin, Ramdas and Rinaldo, "E-detectors" (arXiv 2203.03532), explained in
docs/understand/drift.md.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from otel_rt4chart.core.errors import InputError
from rt4chart_collector.detect.drift.baseline import LARGEST_SHARE, Baseline, dead_band_allowance
from rt4chart_collector.detect.drift.baseline_history import BaselineHistory, HistoryState
from rt4chart_collector.detect.drift.early_watch import EarlyRise, EarlyWatch
from rt4chart_collector.detect.drift.evidence import (
    RECOVERY_BETS,
    RISE_BETS,
    AccumulatedEvidence,
    accumulate,
    log_gains,
    smallest_rise,
)
from rt4chart_collector.detect.drift.finding import DriftFinding
from rt4chart_collector.detect.drift.policy import DAY_NS, DriftPolicy
from rt4chart_collector.store.rates.ticks import Tick, bins_by_kind

# An alarm ends on evidence that is wrong at most once in 48 ticks (four hours) on average if the
# rate is really half way between the usual rate and the detected one.
RECOVERED_AT = math.log(48)
# From this evidence on, a possible rise is left out of a new baseline for a day.
RISING_AT = 3.0


@dataclass(frozen=True, slots=True)
class _Rise:
    """How far the shares lie above the baseline since the evidence began to climb."""

    since_ns: int = 0
    weight: float = 0.0
    excess: float = 0.0

    @property
    def mean(self) -> float:
        return self.excess / self.weight if self.weight > 0 else 0.0


@dataclass(frozen=True, slots=True)
class _Alarm:
    """An open alarm: when the rise began, when it paged, and the rise below which it ends."""

    began_ns: int
    paged_ns: int
    lift: float
    back: AccumulatedEvidence = field(default_factory=AccumulatedEvidence)


@dataclass(frozen=True, slots=True)
class _Measured:
    """A tick's answers of one version, and their baseline."""

    tick: Tick
    baseline: Baseline


@dataclass(frozen=True, slots=True)
class EvidenceState:
    """All that an `EvidenceDetector` knows, but for the hours that its history has stored apart."""

    history: HistoryState
    warn: AccumulatedEvidence
    page: AccumulatedEvidence
    rise: _Rise
    allowance: float
    alarm: _Alarm | None
    early: EarlyWatch
    before_rise: Baseline | None


class EvidenceDetector:
    """The e-detector of one route: the accumulated evidence, and the history of its baseline."""

    def __init__(self, policy: DriftPolicy, verifier: str = "") -> None:
        """Start without ticks."""
        self._policy = policy
        self._history = BaselineHistory(verifier)
        self._warn, self._page = AccumulatedEvidence(), AccumulatedEvidence()
        self._rise = _Rise()
        self._allowance = 0.0
        self._alarm: _Alarm | None = None
        self._early = EarlyWatch(policy)
        self._before_rise: Baseline | None = None

    def fork(self) -> EvidenceDetector:
        """An independent copy, to try ticks that are not complete yet."""
        twin = copy.copy(self)
        twin._history = self._history.fork()
        return twin

    @property
    def history(self) -> BaselineHistory:
        """The history of its baseline."""
        return self._history

    def state(self) -> EvidenceState:
        """What to store, so that `restored` continues exactly as this detector would."""
        return EvidenceState(
            self._history.state(),
            self._warn,
            self._page,
            self._rise,
            self._allowance,
            self._alarm,
            self._early.without_past(self._history.last_ns),
            self._before_rise,
        )

    @classmethod
    def restored(
        cls, policy: DriftPolicy, history: BaselineHistory, state: EvidenceState
    ) -> EvidenceDetector:
        """The detector of this state; `history` is that of its history's state."""
        made = cls(policy, history.verifier)
        made._history = history
        made._warn, made._page, made._rise = state.warn, state.page, state.rise
        made._allowance, made._alarm = state.allowance, state.alarm
        made._early, made._before_rise = state.early, state.before_rise
        return made

    def accept(self, at_ns: int) -> None:
        """Accept the risen rate as the usual one: the alarm ends, the baseline restarts with it."""
        began = self._alarm or self._early.rise
        if began is not None:
            self._history.restart(min(began.began_ns, at_ns))
            self._early = EarlyWatch(self._policy)
            self._forget()

    def update(self, ticks: Sequence[Tick]) -> DriftFinding:
        """The finding after the ticks of one time, later than all before."""
        at_ns = tick_time(ticks, self._history.last_ns)
        paged_ns = self._alarm.paged_ns if self._alarm else self._early_found_ns
        if paged_ns and at_ns - paged_ns >= self._policy.settle_days * DAY_NS:
            self.accept(at_ns)
        measured = [
            _Measured(tick, baseline) for tick in ticks if (baseline := self._baseline(tick, at_ns))
        ]
        shown = max(measured, key=lambda item: sum_of_claims([item.tick]), default=None)
        warm = [item for item in measured if not item.baseline.is_cold]
        if self._early.rise or not warm:
            self._watch_early(ticks, at_ns)
        else:
            self._measure(warm, self._history.scale(ticks), at_ns)
        # Only now: a tick must not be part of the baseline with which it is compared.
        self._history.add(ticks)
        return self._finding(at_ns, shown)

    def _baseline(self, tick: Tick, at_ns: int) -> Baseline | None:
        """The baseline of the tick's version; it does not change during an alarm."""
        version = (tick.model, tick.prompt_version)
        if self._alarm:
            return self._history.current(version)
        rising = self._rise.since_ns if self._warn.log >= RISING_AT else 0
        return self._history.baseline(version, at_ns, rising_since_ns=rising)

    @property
    def _early_found_ns(self) -> int:
        return self._early.rise.found_ns if self._early.rise else 0

    def _watch_early(self, ticks: Sequence[Tick], at_ns: int) -> None:
        """Compare with the time before; a rise is no part of a baseline."""
        open_before, self._early = self._early.rise, self._early.update(at_ns, ticks)
        rise = self._early.rise
        self._history.open_rise_ns = rise.began_ns if rise else 0
        if rise and not open_before:
            self._before_rise = self._history.before_rise(at_ns)
        if open_before and not rise:
            self._history.alarmed.append((open_before.began_ns, at_ns))

    def _measure(self, warm: Sequence[_Measured], scale: float, at_ns: int) -> None:
        won = _total_gains(warm, scale, Baseline.usual)
        if won is None:
            return
        self._warn = accumulate(self._warn, won, at_ns=at_ns)
        self._rise = _updated_rise(self._rise, self._warn.since_ns, warm, scale)
        band = max(item.baseline.dead_band for item in warm)
        self._allowance = dead_band_allowance(band)
        banded = _total_gains(warm, scale, Baseline.bound)
        self._page = accumulate(self._page, banded or won, at_ns=at_ns)
        if self._alarm:
            self._end_if_recovered(self._alarm, warm, scale, at_ns)
        elif self._evidence() >= self._policy.page_at:
            # It ends when the rate is back below half of the rise, or inside the dead band.
            self._alarm = _Alarm(self._rise.since_ns, at_ns, max(band, self._rise.mean / 2))

    def _end_if_recovered(
        self, alarm: _Alarm, warm: Sequence[_Measured], scale: float, at_ns: int
    ) -> None:

        def risen(baseline: Baseline, kind: str, at_ns: int) -> float:
            return min(baseline.usual(kind, at_ns) + alarm.lift, LARGEST_SHARE)

        won = _total_gains(warm, scale, risen, RECOVERY_BETS)
        back = alarm.back if won is None else accumulate(alarm.back, won, at_ns=at_ns)
        if back.log < RECOVERED_AT:
            self._alarm = _Alarm(alarm.began_ns, alarm.paged_ns, alarm.lift, back)
            return
        self._history.alarmed.append((alarm.began_ns, at_ns))
        self._forget()

    def _evidence(self) -> float:
        """The evidence that pages: for any rise, and for one beyond the dead band."""
        return min(self._warn.log, self._page.log + self._allowance if self._page.log > 0 else 0.0)

    def _forget(self) -> None:
        """Restart the evidence after an alarm, so that its evidence cannot raise the next one."""
        self._warn, self._page, self._rise, self._alarm = (
            AccumulatedEvidence(),
            AccumulatedEvidence(),
            _Rise(),
            None,
        )

    def _finding(self, at_ns: int, shown: _Measured | None) -> DriftFinding:
        per_hour, traffic = self._history.per_hour(at_ns)
        if self._early.rise is not None:
            return self._early_finding(self._early.rise, at_ns, per_hour, traffic)
        baseline = shown.baseline if shown else None
        cold = baseline is None or baseline.is_cold
        warns = not cold and self._evidence() >= self._policy.warn_at
        began = self._alarm.began_ns if self._alarm else self._rise.since_ns if warns else 0
        return DriftFinding(
            tick_ns=at_ns,
            state="page" if self._alarm else "cold" if cold else "warn" if warns else "calm",
            warn=self._warn.log,
            page=self._evidence(),
            beyond=self._page.log,
            warn_at=self._policy.warn_at,
            page_at=self._policy.page_at,
            baseline=baseline,
            detectable=None
            if baseline is None or cold
            else smallest_rise(baseline, per_hour, page_at=self._policy.page_at),
            began_ns=began,
            answers_per_hour=per_hour,
            traffic_per_hour=traffic,
            reason=baseline_reason(shown.tick if shown else None, baseline),
        )

    def _early_finding(
        self, rise: EarlyRise, at_ns: int, per_hour: float, traffic: float
    ) -> DriftFinding:
        baseline = self._before_rise
        return DriftFinding(
            tick_ns=at_ns,
            state="page",
            warn=self._early.z,
            page=self._early.z,
            beyond=self._early.z,
            warn_at=self._early.z_at,
            page_at=self._early.z_at,
            baseline=baseline,
            detectable=None,
            began_ns=rise.began_ns,
            answers_per_hour=per_hour,
            traffic_per_hour=traffic,
            reason=f"{baseline.reason} The last answers are compared with those before."
            if baseline
            else "",
        )


def baseline_reason(tick: Tick | None, baseline: Baseline | None) -> str:
    """Why the route is cold, or whose baseline a version uses; empty if neither applies."""
    if tick is None or baseline is None:
        return "No decided claim is known yet, so there is no baseline."
    if baseline.is_cold or baseline.version == (tick.model, tick.prompt_version):
        return baseline.reason
    former = " ".join(part for part in baseline.version if part) or "all versions together"
    return f"Too little is known of this version yet; it is measured against {former}."


# The share that the answers to a kind of question at a time are compared with.
Null = Callable[[Baseline, str, int], float]


def _total_gains(
    warm: Sequence[_Measured], scale: float, null: Null, bets: Sequence[float] = RISE_BETS
) -> tuple[float, ...] | None:
    """The gains of the bets in all ticks of one time, the answers to each kind against its null."""
    each = [
        log_gains(
            bins,
            null=null(item.baseline, kind, item.tick.start_ns),
            scale=scale,
            bets=bets,
        )
        for item in warm
        for kind, bins in bins_by_kind(item.tick.bins).items()
    ]
    counted = [gained for gained in each if gained is not None]
    return tuple(sum(column) for column in zip(*counted, strict=True)) if counted else None


def _updated_rise(rise: _Rise, since_ns: int, warm: Sequence[_Measured], scale: float) -> _Rise:
    weight, excess = (rise.weight, rise.excess) if rise.since_ns == since_ns else (0.0, 0.0)
    for item in warm:
        for bin_ in item.tick.bins:
            if bin_.decided > 0 and bin_.sample_rate > 0:
                w = bin_.answers * min(scale / bin_.sample_rate, 1.0)
                usual = item.baseline.usual(bin_.kind, item.tick.start_ns)
                weight += w
                excess += w * (bin_.counted / bin_.decided - usual)
    return _Rise(since_ns, weight, excess)


def sum_of_claims(ticks: Sequence[Tick]) -> int:
    """The decided claims in these ticks."""
    return sum(bin_.answers * bin_.decided for tick in ticks for bin_ in tick.bins)


def tick_time(ticks: Sequence[Tick], last_ns: int) -> int:
    """The common time of the ticks; InputError if there are several, or it is not after the last.

    The evidence cannot be corrected later: a late tick requires a replay.
    """
    times = {tick.start_ns for tick in ticks}
    if len(times) != 1 or min(times) <= last_ns:
        raise InputError(
            f"expected the ticks of one time later than {last_ns}, got {sorted(times)}; "
            "replay the route where ticks came late"
        )
    return times.pop()
