"""The routes between two rounds: their ticks, their detectors, and the last findings."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from functools import partial

from otel_rt4chart.core.deadline import Deadline
from rt4chart_collector.core.alerts.alert import Rule
from rt4chart_collector.core.redacted_error import redacted_error
from rt4chart_collector.core.settings import MonitorSettings
from rt4chart_collector.detect.drift.detector import DriftDetector, by_time, create_detector
from rt4chart_collector.detect.drift.finding import DriftFinding
from rt4chart_collector.detect.drift.policy import DAY_NS, HOUR_NS, RULES, TICK_NS, DriftPolicy
from rt4chart_collector.store.alerts.alert_events import dismissals
from rt4chart_collector.store.alerts.drift_states import DriftRow, latest_drift, write_drift
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.rates.ticks import RouteTicks, Tick, route_ticks
from rt4chart_collector.store.rates.traffic import busiest_routes

# A tick is settled when so much time has passed since it began: verdicts come late.
SETTLED_NS = 6 * TICK_NS


class RouteDetector:
    """A watch that has looked at the settled ticks before `upto_ns`."""

    def __init__(self, policy: DriftPolicy, verifier: str, *, read_ns: int = 0) -> None:
        """It has seen nothing; `read_ns` is when the ticks that it will see first were read."""
        self._watch = create_detector(policy, verifier)
        self.read_ns = read_ns
        self.upto_ns = 0
        self.last: DriftFinding | None = None
        self.settled: tuple[Tick, ...] = ()
        self._accepted_ns = 0

    def look(
        self, ticks: Sequence[Tick], *, settled_ns: int, accepted_ns: Sequence[int] = ()
    ) -> list[DriftFinding]:
        """The findings of the ticks from `upto_ns` on; those before `settled_ns` are final.

        `settled` then holds the ticks that became so in this look, `last` the newest finding. At
        each time in `accepted_ns`, in order, a person has taken the risen rate for the usual one.
        """
        fresh = [tick for tick in ticks if tick.start_ns >= self.upto_ns]
        final = [tick for tick in fresh if tick.start_ns < settled_ns]
        waiting = [at_ns for at_ns in accepted_ns if at_ns > self._accepted_ns]
        found = _update_all(self._watch, final, waiting)
        if final:
            self._accepted_ns = max(final[-1].start_ns, self._accepted_ns)
        if open_ticks := [tick for tick in fresh if tick.start_ns >= settled_ns]:
            found += _update_all(self._watch.fork(), open_ticks, waiting)
        self.settled = tuple(final)
        self.upto_ns = max(self.upto_ns, settled_ns)
        self.last = found[-1] if found else self.last
        return found


def _update_all(
    watch: DriftDetector, ticks: Sequence[Tick], waiting: list[int]
) -> list[DriftFinding]:
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


def drift_row(ticks: RouteTicks, found: DriftFinding) -> DriftRow:
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


Place = tuple[str, str]
# What is shown, and twice the baseline's time: alarms of that time are left out of it.
STORED_NS, READ_NS = 15 * DAY_NS, 29 * DAY_NS
# Verdicts that come later than a tick is open for are found when the route is read whole again.
REREAD_NS, LATE_NS = HOUR_NS, 25 * HOUR_NS
# Of a round, for that: well within the lease.
REREAD_BUDGET_S = 30.0

log = logging.getLogger(__name__)


@dataclass(slots=True)
class DriftRound:
    """What one round found: the last finding of each route, and the ticks that became settled."""

    findings: dict[Place, DriftFinding] = field(default_factory=dict)
    settled: dict[Place, Sequence[Tick]] = field(default_factory=dict)


def drift_policy(settings: MonitorSettings, routes: int) -> DriftPolicy:
    """What the settings ask of the detector, for so many routes."""
    rule = next(rule for rule in RULES if rule == settings.drift_rule)
    return DriftPolicy(
        false_alarms_per_month=settings.drift_false_alarms,
        routes=max(routes, 1),
        rule=rule,
        threshold=settings.drift_threshold,
        points=settings.drift_points,
        minutes=settings.drift_minutes,
    )


class RouteDetectors:
    """The detectors of the busiest routes of one verifier; for one thread."""

    def __init__(
        self,
        client: Client,
        settings: MonitorSettings,
        verifier: str,
        *,
        is_stopping: Callable[[], bool] = lambda: False,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        """Nothing was read yet; `is_stopping` ends a round between two routes."""
        self._client = client
        self._settings = settings
        self.verifier = verifier
        self._is_stopping = is_stopping
        self._monotonic = monotonic
        self._policy = drift_policy(settings, 1)
        self._watches: dict[Place, RouteDetector] = {}
        self._places: dict[Place, None] = {}
        self._last: dict[Place, DriftFinding] = {}
        self._failed_ns: dict[Place, int] = {}
        self._written: dict[Place, DriftRow] = {}
        self._listed_ns = 0
        self._accepted: dict[Place, list[int]] = {}

    @property
    def unread(self) -> frozenset[Place]:
        """The routes that are to be watched and of which nothing is known here yet."""
        return frozenset(self._places.keys() - self._watches.keys() - self._last.keys())

    def look(self, now_ns: int, first: Collection[Place] = ()) -> DriftRound:
        """Read what is new, go on with every route, and write what was found.

        Routes are read whole, one after the other, when nothing is known of them here or that is an
        hour ago; those for which a round has no time are left for the next. Of those that wait for
        that equally long, the ones in `first` are the first.
        """
        round_ = DriftRound()
        if now_ns - self._listed_ns >= REREAD_NS:
            self._list(now_ns)
        self._accepted = dismissals(self._client, Rule.ROUTE_DRIFT, since_ns=now_ns - READ_NS)
        self._go_on(now_ns, round_)
        deadline = Deadline(REREAD_BUDGET_S, clock=self._monotonic)
        for place in self._due(now_ns, first):
            if self._is_stopping() or deadline.is_over:
                break
            self._guarded(place, partial(self._anew, place, now_ns, round_), now_ns)
        # A route that could not be looked at, or has no new tick, stands as it did.
        for place, watch in self._watches.items():
            if watch.last is not None:
                self._last[place] = watch.last
            else:
                self._last.pop(place, None)
        round_.findings = {**self._last, **round_.findings}
        return round_

    def _list(self, now_ns: int) -> None:
        """Which routes are watched, for the next hour."""
        limit = self._settings.monitor_routes
        since = now_ns - STORED_NS
        found = busiest_routes(
            self._client,
            since_ns=since,
            now_ns=now_ns,
            verifier=self.verifier,
            limit=limit + 1,
        )
        if len(found) > limit:
            log.warning("more than %d routes: see RT4CHART_MONITOR_ROUTES", limit)
        self._places = dict.fromkeys(found[:limit])
        self._policy = drift_policy(self._settings, len(self._places))
        self._watches = {place: w for place, w in self._watches.items() if place in self._places}
        self._last = {place: found for place, found in self._last.items() if place in self._places}
        self._failed_ns = {
            place: at for place, at in self._failed_ns.items() if place in self._places
        }
        self._written = latest_drift(
            self._client, since_ns=since, verifier=self.verifier, limit=2 * limit
        )
        self._listed_ns = now_ns

    def _read_at(self, place: Place) -> int:
        return self._watches[place].read_ns if place in self._watches else 0

    def _due(self, now_ns: int, first: Collection[Place]) -> list[Place]:
        """The routes to be read whole; one that failed does not keep the others waiting."""
        due = [place for place in self._places if now_ns - self._read_at(place) >= REREAD_NS]
        return sorted(
            due,
            key=lambda place: (
                self._failed_ns.get(place, 0),
                self._read_at(place),
                place not in first,
            ),
        )

    def _anew(self, place: Place, now_ns: int, round_: DriftRound) -> None:
        read = self._read(now_ns - READ_NS, now_ns, place)
        watch = RouteDetector(self._policy, self.verifier, read_ns=now_ns)
        told = round_.settled.get(place, ())
        found = self._looked(place, watch, read, now_ns, round_)
        # Settled ticks are told once: when the route is gone on with.
        round_.settled[place] = told
        written = self._written.get(place)
        shown_ns = max(now_ns - STORED_NS, written.tick_ns - LATE_NS if written else 0)
        self._write(read, [finding for finding in found if finding.tick_ns >= shown_ns], now_ns)
        self._watches[place] = watch
        self._failed_ns.pop(place, None)

    def _go_on(self, now_ns: int, round_: DriftRound) -> None:
        since = min(
            (detector.upto_ns for detector in self._watches.values()), default=now_ns - HOUR_NS
        )
        for read in route_ticks(
            self._client, since_ns=since, until_ns=now_ns + HOUR_NS, verifier=self.verifier
        ):
            place = (read.service, read.route)
            watch = self._watches.get(place)
            if watch is not None:
                work = partial(self._next, place, watch, read, now_ns, round_)
                self._guarded(place, work, now_ns)
            elif len(self._places) < self._settings.monitor_routes:
                self._places.setdefault(place)

    def _next(
        self, place: Place, watch: RouteDetector, read: RouteTicks, now_ns: int, round_: DriftRound
    ) -> None:
        # A watch that fails half way is not gone on with: the route is read whole again.
        del self._watches[place]
        found = self._looked(place, watch, read, now_ns, round_)
        self._write(read, found, now_ns)
        self._watches[place] = watch

    def _looked(
        self, place: Place, watch: RouteDetector, read: RouteTicks, now_ns: int, round_: DriftRound
    ) -> list[DriftFinding]:
        found = watch.look(
            read.ticks,
            settled_ns=settled_before(now_ns),
            accepted_ns=self._accepted.get(place, ()),
        )
        if found:
            round_.findings[place] = found[-1]
        round_.settled[place] = watch.settled
        return found

    def _read(self, since_ns: int, now_ns: int, place: Place) -> RouteTicks:
        """An hour ahead is read, too: clocks differ."""
        found = route_ticks(
            self._client,
            since_ns=since_ns,
            until_ns=now_ns + HOUR_NS,
            verifier=self.verifier,
            service=place[0],
            route=place[1],
        )
        return found[0] if found else RouteTicks(*place, self.verifier, ())

    def _write(self, read: RouteTicks, found: Sequence[DriftFinding], now_ns: int) -> None:
        rows: list[DriftRow] = [drift_row(read, finding) for finding in found]
        write_drift(self._client, rows, version=now_ns)

    def _guarded(self, place: Place, work: Callable[[], None], now_ns: int) -> None:
        """One bad route stops no other; what was found on it last still holds."""
        try:
            work()
        except Exception as error:  # noqa: BLE001 - a border: the other routes are looked at
            self._failed_ns[place] = now_ns
            log.warning(
                "a route could not be looked at, next attempt in the next round: %s",
                redacted_error(error),
            )
