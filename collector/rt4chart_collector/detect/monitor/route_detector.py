"""The detector of one measure of a route: settled ticks, and those that may still change."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rt4chart_collector.detect.drift.baseline_history import BaselineHistory, ReadHours
from rt4chart_collector.detect.drift.detector import (
    DriftDetector,
    by_time,
    create_detector,
    restore_detector,
)
from rt4chart_collector.detect.drift.finding import DriftFinding
from rt4chart_collector.detect.drift.plain_values import from_plain, to_plain
from rt4chart_collector.detect.drift.policy import TICK_NS, DriftPolicy
from rt4chart_collector.store.rates.ticks import Tick

# A tick is settled this long after its beginning: verdicts arrive late.
SETTLED_NS = 6 * TICK_NS


@dataclass(frozen=True, slots=True)
class _Progress:
    """How far a detector has got; a part of its state."""

    upto_ns: int
    accepted_ns: int
    last: DriftFinding | None


class RouteDetector:
    """The detector of one measure of a route, which has processed settled ticks to `upto_ns`."""

    def __init__(self, policy: DriftPolicy, verifier: str) -> None:
        """Start without ticks."""
        self._detector = create_detector(policy, verifier)
        # Ahead of it by ticks that are over and not settled; most of them do not change any more.
        self._ahead = self._detector
        self._ahead_by: tuple[Tick, ...] = ()
        self.upto_ns = 0
        self.last: DriftFinding | None = None
        self.settled: tuple[Tick, ...] = ()
        self._accepted_ns = 0

    @property
    def history(self) -> BaselineHistory:
        """The history of the settled ticks."""
        return self._detector.history

    def state(self) -> list[object]:
        """A JSON value from which `restored` continues; open ticks are tried again."""
        progress = _Progress(self.upto_ns, self._accepted_ns, self.last)
        return [to_plain(progress), to_plain(self._detector.state())]

    @classmethod
    def restored(
        cls, policy: DriftPolicy, verifier: str, plain: object, read: ReadHours
    ) -> RouteDetector:
        """The detector of this state, see `restore_detector`; InputError if it is none."""
        known, detector = plain if isinstance(plain, list) and len(plain) == 2 else (None, None)
        progress = from_plain(_Progress, known)
        made = cls(policy, verifier)
        made._detector = made._ahead = restore_detector(policy, verifier, detector, read)
        made.upto_ns, made._accepted_ns = progress.upto_ns, progress.accepted_ns
        made.last = progress.last
        return made

    def update(
        self, ticks: Sequence[Tick], *, settled_ns: int, accepted_ns: Sequence[int] = ()
    ) -> list[DriftFinding]:
        """The new findings of the ticks from `upto_ns` on; those before `settled_ns` are final.

        `settled` then holds the ticks that became settled, `last` the newest finding. At each time
        in `accepted_ns`, in order, a person has accepted the risen rate as the usual one. Ticks
        that are not settled are tried on copies of the detector, as they may still change.
        """
        fresh = [tick for tick in ticks if tick.start_ns >= self.upto_ns]
        final = [tick for tick in fresh if tick.start_ns < settled_ns]
        waiting = [at_ns for at_ns in accepted_ns if at_ns > self._accepted_ns]
        is_known = not waiting
        found = _update_all(self._detector, final, waiting)
        if fresh:
            found += self._try(final, fresh[len(final) :], waiting, is_known=is_known)
        if final:
            self._accepted_ns = max(final[-1].start_ns, self._accepted_ns)
        self.settled = tuple(final)
        self.upto_ns = max(self.upto_ns, settled_ns)
        self.last = found[-1] if found else self.last
        return found

    def _try(
        self,
        final: Sequence[Tick],
        open_ticks: Sequence[Tick],
        waiting: list[int],
        *,
        is_known: bool,
    ) -> list[DriftFinding]:
        """The findings of the ticks that are not settled, but those that have not changed.

        Without `is_known` all of them, because of what a person did.
        """
        newest_ns = max((tick.start_ns for tick in open_ticks), default=0)
        over = tuple(tick for tick in open_ticks if tick.start_ns < newest_ns)
        known, seen = self._ahead_by, (*final, *over)
        # Where all that was open is settled now, a copy of the detector has less to go through.
        is_ahead = self._ahead is not self._detector and len(known) > len(final)
        if not (is_known and is_ahead and _continues(seen, known)):
            # All ticks are in the order of their times: those that became settled come first.
            self._ahead, known = self._detector.fork(), tuple(final)
        found = _update_all(self._ahead, seen[len(known) :], waiting)
        self._ahead_by = over
        newest = [tick for tick in open_ticks if tick.start_ns == newest_ns]
        return found + _update_all(self._ahead.fork(), newest, waiting)


def _continues(seen: Sequence[Tick], known: Sequence[Tick]) -> bool:
    """True if the ticks begin with those known, and the others are of later times."""
    later = seen[len(known) :]
    is_later = not known or not later or later[0].start_ns > known[-1].start_ns
    return is_later and seen[: len(known)] == known


def _update_all(
    detector: DriftDetector, ticks: Sequence[Tick], waiting: list[int]
) -> list[DriftFinding]:
    """The findings of the ticks; the times in `waiting` that they pass are removed from it."""
    found = []
    for group in by_time(ticks):
        while waiting and waiting[0] <= group[0].start_ns:
            detector.accept(waiting.pop(0))
        found.append(detector.update(group))
    return found


def settled_before(now_ns: int) -> int:
    """The beginning of the first tick that is not settled yet."""
    return (now_ns - SETTLED_NS) // TICK_NS * TICK_NS
