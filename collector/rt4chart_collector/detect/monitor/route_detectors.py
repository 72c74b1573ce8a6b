"""The drift detectors of the monitored routes: reads new ticks each round, stores the findings.

A route has two: one of its unfaithful claims, one of its misleading ones.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from otel_rt4chart.core.deadline import Deadline
from otel_rt4chart.core.errors import StoreError
from otel_rt4chart.verify.core.rates import Measure
from rt4chart_collector.core.alerts.alert import DRIFT_RULES
from rt4chart_collector.core.redacted_error import redacted_error
from rt4chart_collector.core.settings import MonitorSettings
from rt4chart_collector.detect.drift.finding import DriftFinding, DriftKey, RouteKey
from rt4chart_collector.detect.drift.policy import DAY_NS, HOUR_NS, RULES, DriftPolicy
from rt4chart_collector.detect.monitor.late_verdicts import LateVerdicts, TakenTicks
from rt4chart_collector.detect.monitor.route_detector import RouteDetector, settled_before
from rt4chart_collector.detect.monitor.shards import ALL_SHARDS, shard_of
from rt4chart_collector.detect.monitor.stored_states import KnownRoute, StoredStates
from rt4chart_collector.store.alerts.alert_events import accepted_times
from rt4chart_collector.store.alerts.drift_states import DriftRow, latest_drift, write_drift
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.scope import QueryScope
from rt4chart_collector.store.rates.ticks import RouteTicks, Tick, route_ticks
from rt4chart_collector.store.rates.traffic import busiest_routes

MEASURES = tuple(DRIFT_RULES)


def drift_row(ticks: RouteTicks, found: DriftFinding) -> DriftRow:
    """The stored form of a finding."""
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
        measure=ticks.measure,
    )


# Findings of the last 15 days are stored for the console. Twice the baseline's 14 days are read,
# because the hours of alarms in the first half are left out of the second.
STORED_NS, READ_NS = 15 * DAY_NS, 29 * DAY_NS
# The routes are chosen once an hour. Those with verdicts that came after their tick was settled are
# then read again as a whole. Every route is after a week: none rests on older ticks for ever.
LIST_NS, REREAD_NS, LATE_NS = HOUR_NS, 7 * DAY_NS, 25 * HOUR_NS
# The time of a round for that, well within the monitor's lease.
REREAD_BUDGET_S = 30.0
# The allowed false alarms are those of all routes together, so that thresholds depend on how many
# there are, and with other thresholds all ticks are read again. Above so many routes the next power
# of two counts, down to a quarter of it.
COUNTED_ROUTES = 16

log = logging.getLogger(__name__)


@dataclass(slots=True)
class DriftRound:
    """What one round found: the last findings, and the verified ticks that became settled."""

    findings: dict[DriftKey, DriftFinding] = field(default_factory=dict)
    settled: dict[RouteKey, Sequence[Tick]] = field(default_factory=dict)

    def only(self, is_ours: Callable[[RouteKey], bool]) -> DriftRound:
        """The same of some routes."""
        return DriftRound(
            {key: found for key, found in self.findings.items() if is_ours(key[:2])},
            {key: ticks for key, ticks in self.settled.items() if is_ours(key)},
        )

    @property
    def by_route(self) -> dict[RouteKey, DriftFinding]:
        """One finding of each route, for sampling: that of a measure that warns or pages, if any.

        The traffic is always that of all verified answers: misleading claims are counted on those
        only that all checks ran on.
        """
        found = {
            (service, route): finding
            for (service, route, measure), finding in self.findings.items()
            if measure is Measure.UNFAITHFUL
        }
        for (service, route, _), finding in self.findings.items():
            known = found.get((service, route))
            is_recent = known is not None and finding.tick_ns > known.tick_ns - HOUR_NS
            if known and is_recent and _urgency(finding) > _urgency(known):
                found[service, route] = replace(
                    known, state=finding.state, warn=finding.warn, beyond=finding.beyond
                )
        return found


def _urgency(finding: DriftFinding) -> int:
    return {"page": 2, "warn": 1}.get(finding.state, 0)


def drift_policy(settings: MonitorSettings, routes: int) -> DriftPolicy:
    """The detector's policy from the settings.

    The false alarms are those of all `routes` together, of each measure.
    """
    rule = next(rule for rule in RULES if rule == settings.drift_rule)
    return DriftPolicy(
        false_alarms_per_month=settings.drift_false_alarms,
        routes=max(routes, 1),
        rule=rule,
        threshold=settings.drift_threshold,
        points=settings.drift_points,
        minutes=settings.drift_minutes,
    )


def steady_policy(settings: MonitorSettings, routes: int, known: DriftPolicy) -> DriftPolicy:
    """The policy of so many routes; the known one where it is still fit for them."""
    if known.routes > COUNTED_ROUTES and known.routes < 4 * routes <= 4 * known.routes:
        return drift_policy(settings, known.routes)
    counted = routes if routes <= COUNTED_ROUTES else 1 << (routes - 1).bit_length()
    return drift_policy(settings, counted)


@dataclass(frozen=True, slots=True)
class _Watched:
    """The detectors of a route by measure, their policy, and when the whole route was read."""

    read_ns: int
    policy: DriftPolicy
    by_measure: Mapping[Measure, RouteDetector]
    taken: TakenTicks = field(default_factory=TakenTicks)

    @property
    def upto_ns(self) -> int:
        """The time before which the settled ticks of all verified answers were processed."""
        return self.by_measure[Measure.UNFAITHFUL].upto_ns


def _by_route(reads: Iterable[RouteTicks]) -> dict[RouteKey, list[RouteTicks]]:
    found: dict[RouteKey, list[RouteTicks]] = {}
    for read in reads:
        found.setdefault((read.service, read.route), []).append(read)
    return found


def _each_measure(key: RouteKey, verifier: str, reads: Iterable[RouteTicks]) -> list[RouteTicks]:
    """The ticks of each measure, none where none was read: all detectors get to the same time."""
    found = {read.measure: read for read in reads}
    return [found.get(one, RouteTicks(*key, verifier, (), one)) for one in MEASURES]


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
        """Reads nothing before the first round; `is_stopping` ends a round between two routes."""
        self._client = client
        self._settings = settings
        self.verifier = verifier
        self._is_stopping = is_stopping
        self._monotonic = monotonic
        self._policy = drift_policy(settings, 1)
        self._detectors: dict[RouteKey, _Watched] = {}
        self._keys: dict[RouteKey, None] = {}
        self._last: dict[DriftKey, DriftFinding] = {}
        self._failed_ns: dict[RouteKey, int] = {}
        self._written: dict[DriftKey, DriftRow] = {}
        self._listed_ns = 0
        self._late = LateVerdicts(client, verifier, kept_ns=READ_NS, measures=MEASURES)
        self._changed: set[RouteKey] = set()
        self._unwritten: dict[tuple[DriftKey, int], DriftRow] = {}
        self._states = StoredStates(client, verifier, MEASURES)
        self._asked: set[RouteKey] = set()
        self._shards = ALL_SHARDS
        self._listed = 0
        self._unsaved: set[RouteKey] = set()
        self.left_out = 0
        self._accepted: dict[DriftKey, list[int]] = {}

    def set_shards(self, shards: frozenset[int]) -> None:
        """Watch the routes of these shards alone; those of new ones are listed in the next round.

        Others are forgotten: the process that watches them now stores what it knows.
        """
        if shards == self._shards:
            return
        self._shards = self._late.shards = shards
        lost = [key for key in self._keys if shard_of(key) not in shards]
        for key in lost:
            for known in (self._keys, self._detectors, self._failed_ns):
                known.pop(key, None)
            self._states.forget(key)
        self._asked -= {*lost}
        self._changed -= {*lost}
        self._unsaved -= {*lost}
        self._last = {key: found for key, found in self._last.items() if key[:2] in self._keys}
        self._unwritten = {
            name: row for name, row in self._unwritten.items() if name[0][:2] in self._keys
        }
        self._listed_ns = 0

    @property
    def unread(self) -> frozenset[RouteKey]:
        """The monitored routes that were not read since the start."""
        known = {(service, route) for service, route, _ in self._last}
        return frozenset(self._keys.keys() - self._detectors.keys() - known)

    @property
    def states(self) -> dict[str, int]:
        """The routes with claims by what is done with them."""
        read = len(self._keys.keys() & self._detectors.keys())
        return {"watched": read, "unread": len(self._keys) - read, "left_out": self.left_out}

    def run_round(self, now_ns: int, first: Collection[RouteKey] = ()) -> DriftRound:
        """Read new ticks, update every detector, and store the findings.

        A whole route is read if it is unknown, if its settled ticks have changed, or after a week.
        Routes for which this round has no time are left to the next one; those in `first` precede
        others that have waited equally long.
        """
        round_ = DriftRound()
        settled_ns, is_hourly = settled_before(now_ns), now_ns - self._listed_ns >= LIST_NS
        if is_hourly:
            self._list_routes(now_ns)
        restored = self._restore(settled_ns) if is_hourly else []
        if is_hourly:
            self._changed |= self._late.changed(settled_ns)
        self._accepted = self._read_accepted(now_ns - READ_NS)
        self._continue_all(now_ns, round_)
        # What came before this process is in the sampling budget that it read.
        round_.settled |= dict.fromkeys(restored, ())
        if is_hourly:
            taken = {key: watched.taken for key, watched in self._detectors.items()}
            self._changed |= self._late.changed_since(settled_ns, taken)
            self._listed_ns = now_ns
            self._unsaved |= self._detectors.keys()
        deadline = Deadline(REREAD_BUDGET_S, clock=self._monotonic)
        for key in self._due(now_ns, first):
            if self._is_stopping() or deadline.is_over:
                break
            self._run_guarded(key, partial(self._reread, key, now_ns, round_), now_ns)
        self._write_found(now_ns)
        self._save(now_ns)
        # A route that failed, or has no new tick, keeps its last finding.
        for key, watched in self._detectors.items():
            for measure, detector in watched.by_measure.items():
                if detector.last is not None:
                    self._last[*key, measure] = detector.last
                else:
                    self._last.pop((*key, measure), None)
        round_.findings = {**self._last, **round_.findings}
        return round_

    def _list_routes(self, now_ns: int) -> None:
        """Choose the monitored routes for the next hour."""
        limit = self._settings.monitor_routes
        since = now_ns - STORED_NS
        found, routes = busiest_routes(
            self._client, since_ns=since, now_ns=now_ns, verifier=self.verifier, limit=limit
        )
        self.left_out = routes - len(found)
        if self.left_out:
            message = "%d routes are not watched, those with the fewest claims: %s"
            log.warning(message, self.left_out, "see RT4CHART_MONITOR_ROUTES")
        self._listed = len(found)
        self._keys = dict.fromkeys(key for key in found if shard_of(key) in self._shards)
        self._policy = steady_policy(self._settings, self._listed, self._policy)
        self._detectors = {
            key: watched for key, watched in self._detectors.items() if key in self._keys
        }
        self._last = {key: found for key, found in self._last.items() if key[:2] in self._keys}
        self._failed_ns = {key: at for key, at in self._failed_ns.items() if key in self._keys}
        self._written = {
            (*key, measure): row
            for measure in MEASURES
            for key, row in latest_drift(
                self._client,
                since_ns=since,
                verifier=self.verifier,
                measure=measure,
                limit=2 * limit,
            ).items()
        }
        self._changed &= self._keys.keys()

    def _restore(self, settled_ns: int) -> list[RouteKey]:
        """Continue with the stored states of routes that were not read yet; which they are."""
        missing = [
            key for key in self._keys if key not in self._detectors and key not in self._asked
        ]
        found = self._states.load(missing, self._policy, settled_ns=settled_ns) if missing else {}
        self._asked.update(missing)
        for key, known in found.items():
            taken = TakenTicks(known.taken)
            self._detectors[key] = _Watched(known.read_ns, self._policy, known.by_measure, taken)
            self._late.resume(key, known.prints, known.compared_ns)
        return list(found)

    def _save(self, now_ns: int) -> None:
        """Store what is known of the routes that have changed; a failure costs the next start."""
        routes = {
            key: KnownRoute(
                watched.read_ns,
                self._late.until_of(key),
                self._late.known(key),
                watched.taken.hours,
                watched.by_measure,
            )
            for key in self._unsaved
            if (watched := self._detectors.get(key)) and watched.policy == self._policy
        }
        try:
            self._states.save(routes, self._policy, now_ns)
        except StoreError as error:
            log.warning("the monitor's state could not be stored: %s", redacted_error(error))
            return
        self._unsaved.clear()

    def _due(self, now_ns: int, first: Collection[RouteKey]) -> list[RouteKey]:
        """The routes to read as a whole; one that failed comes last, so that it delays no other."""
        read = {key: watched.read_ns for key, watched in self._detectors.items()}
        due = [
            key
            for key in self._keys
            if key not in read
            or key in self._changed
            or now_ns - read[key] >= REREAD_NS
            or self._detectors[key].policy != self._policy
        ]
        return sorted(
            due,
            key=lambda key: (
                self._failed_ns.get(key, 0),
                read.get(key, 0),
                key not in first,
            ),
        )

    def _read_accepted(self, since_ns: int) -> dict[DriftKey, list[int]]:
        """When people accepted a risen rate as the usual one."""
        return {
            (*key, measure): times
            for measure, rule in DRIFT_RULES.items()
            for key, times in accepted_times(self._client, rule, since_ns=since_ns).items()
        }

    def _reread(self, key: RouteKey, now_ns: int, round_: DriftRound) -> None:
        self._states.forget(key)
        detectors = {measure: RouteDetector(self._policy, self.verifier) for measure in MEASURES}
        watched = _Watched(now_ns, self._policy, detectors)
        reported = round_.settled.get(key, ())
        for read in self._read(now_ns - READ_NS, now_ns, key):
            found = self._update(key, watched, read, now_ns, round_)
            written = self._written.get((*key, read.measure))
            shown_ns = max(now_ns - STORED_NS, written.tick_ns - LATE_NS if written else 0)
            self._write(read, [finding for finding in found if finding.tick_ns >= shown_ns], now_ns)
        # Settled ticks are reported only by `_continue`: the sampling budget is charged for them.
        round_.settled[key] = reported
        self._detectors[key] = watched
        self._unsaved.add(key)
        self._failed_ns.pop(key, None)
        self._changed.discard(key)

    def _continue_all(self, now_ns: int, round_: DriftRound) -> None:
        since = min(
            (watched.upto_ns for watched in self._detectors.values()), default=now_ns - HOUR_NS
        )
        scope = QueryScope(since, now_ns + HOUR_NS, self.verifier)
        found = _by_route(route_ticks(self._client, scope, *MEASURES, shards=self._shards))
        for key in found.keys() - self._detectors.keys():
            if self._listed < self._settings.monitor_routes and key not in self._keys:
                self._keys[key] = None
                self._listed += 1
        # Those without new ticks too: the next read begins where the last of them has got to.
        for key, watched in list(self._detectors.items()):
            each = _each_measure(key, self.verifier, found.get(key, ()))
            work = partial(self._continue, key, watched, each, now_ns, round_)
            self._run_guarded(key, work, now_ns)

    def _continue(
        self,
        key: RouteKey,
        watched: _Watched,
        reads: Sequence[RouteTicks],
        now_ns: int,
        round_: DriftRound,
    ) -> None:
        # A detector that failed half way has an unknown state: the whole route is read again.
        del self._detectors[key]
        for read in reads:
            for finding in self._update(key, watched, read, now_ns, round_):
                row = drift_row(read, finding)
                self._unwritten[(*key, read.measure), row.tick_ns] = row
        self._detectors[key] = watched

    def _update(
        self, key: RouteKey, watched: _Watched, read: RouteTicks, now_ns: int, round_: DriftRound
    ) -> list[DriftFinding]:
        detector, drift_key = watched.by_measure[read.measure], (*key, read.measure)
        found = detector.update(
            read.ticks,
            settled_ns=settled_before(now_ns),
            accepted_ns=self._accepted.get(drift_key, ()),
        )
        if found:
            round_.findings[drift_key] = found[-1]
        watched.taken.add(read.measure, detector.settled, since_ns=self._late.until_of(key))
        if detector.settled:
            self._unsaved.add(key)
        if read.measure is Measure.UNFAITHFUL and read.ticks:
            round_.settled[key] = detector.settled
        return found

    def _read(self, since_ns: int, now_ns: int, key: RouteKey) -> list[RouteTicks]:
        """One route's ticks of each measure, up to an hour ahead: applications' clocks differ."""
        scope = QueryScope(since_ns, now_ns + HOUR_NS, self.verifier, *key)
        return _each_measure(key, self.verifier, route_ticks(self._client, scope, *MEASURES))

    def _write(self, read: RouteTicks, found: Sequence[DriftFinding], now_ns: int) -> None:
        rows: list[DriftRow] = [drift_row(read, finding) for finding in found]
        write_drift(self._client, rows, version=now_ns)

    def _write_found(self, now_ns: int) -> None:
        """Write the findings of this round at once; those of a round that failed come with them."""
        if self._unwritten:
            write_drift(self._client, list(self._unwritten.values()), version=now_ns)
            self._unwritten = {}

    def _run_guarded(self, key: RouteKey, work: Callable[[], None], now_ns: int) -> None:
        """Run a part for one route: a failure affects no other route, and its finding remains."""
        try:
            work()
        except Exception as error:  # noqa: BLE001 - boundary: the other routes continue
            self._failed_ns[key] = now_ns
            log.warning(
                "a route could not be checked, next attempt in the next round: %s",
                redacted_error(error),
            )
