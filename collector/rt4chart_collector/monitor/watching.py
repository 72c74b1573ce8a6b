"""One route's detector between two rounds: what is settled is looked at once."""

from __future__ import annotations

from collections.abc import Sequence

from rt4chart_collector.drift.detector import Watch, by_time, watch_of
from rt4chart_collector.drift.finding import Finding
from rt4chart_collector.drift.policy import TICK_NS, Policy
from rt4chart_collector.store.drift import DriftRow
from rt4chart_collector.store.ticks import RouteTicks, Tick

# A tick is settled when so much time has passed since it began: verdicts come late.
SETTLED_NS = 6 * TICK_NS


class RouteWatch:
    """A watch that has looked at the settled ticks before `upto_ns`."""

    def __init__(self, policy: Policy, verifier: str, *, read_ns: int = 0) -> None:
        """It has seen nothing; `read_ns` is when the ticks that it will see first were read."""
        self._watch = watch_of(policy, verifier)
        self.read_ns = read_ns
        self.upto_ns = 0
        self.last: Finding | None = None
        self.settled: tuple[Tick, ...] = ()
        self._accepted_ns = 0

    def look(
        self, ticks: Sequence[Tick], *, settled_ns: int, accepted_ns: Sequence[int] = ()
    ) -> list[Finding]:
        """The findings of the ticks from `upto_ns` on; those before `settled_ns` are final.

        `settled` then holds the ticks that became so in this look, `last` the newest finding. At
        each time in `accepted_ns`, in order, a person has taken the risen rate for the usual one.
        """
        fresh = [one for one in ticks if one.start_ns >= self.upto_ns]
        final = [one for one in fresh if one.start_ns < settled_ns]
        waiting = [at_ns for at_ns in accepted_ns if at_ns > self._accepted_ns]
        found = _looked(self._watch, final, waiting)
        if final:
            self._accepted_ns = max(final[-1].start_ns, self._accepted_ns)
        if open_ticks := [one for one in fresh if one.start_ns >= settled_ns]:
            found += _looked(self._watch.fork(), open_ticks, waiting)
        self.settled = tuple(final)
        self.upto_ns = max(self.upto_ns, settled_ns)
        self.last = found[-1] if found else self.last
        return found


def _looked(watch: Watch, ticks: Sequence[Tick], waiting: list[int]) -> list[Finding]:
    """The findings; of what waits to be accepted, that of these times is taken off."""
    found = []
    for group in by_time(ticks):
        while waiting and waiting[0] <= group[0].start_ns:
            watch.accept(waiting.pop(0))
        found.append(watch.look(group))
    return found


def settled_before(now_ns: int) -> int:
    """The beginning of the first tick that is not settled yet."""
    return (now_ns - SETTLED_NS) // TICK_NS * TICK_NS


def row_of(ticks: RouteTicks, found: Finding) -> DriftRow:
    """A finding as it is stored."""
    known = found.baseline
    return DriftRow(
        service=ticks.service,
        route=ticks.route,
        verifier=ticks.verifier,
        tick_ns=found.tick_ns,
        state=found.state,
        warn=found.warn,
        page=found.page,
        warn_at=found.warn_at,
        page_at=found.page_at,
        baseline=known.rate if known else 0.0,
        dead_band=known.dead_band if known else 0.0,
        baseline_claims=known.claims if known else 0,
        detectable=found.detectable or 0.0,
    )
