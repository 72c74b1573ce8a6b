"""Stores what the monitor knows of routes, so that another start continues where this one ended.

A state is used only where it was made by the same code and settings, and where the sums that it is
made of are still those that are stored; any other is left alone, and its route is read as a whole.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from hashlib import blake2b
from importlib.resources import files

from otel_rt4chart.core.errors import InputError
from otel_rt4chart.verify.core.rates import Measure
from rt4chart_collector.detect.drift.baseline import PATTERN_NS, ModelVersion
from rt4chart_collector.detect.drift.finding import RouteKey
from rt4chart_collector.detect.drift.hour_sums import Hours, HoursCheck, HourSums
from rt4chart_collector.detect.drift.plain_values import (
    from_plain,
    mapping_from_plain,
    to_plain,
)
from rt4chart_collector.detect.drift.policy import DAY_NS, HOUR_NS, DriftPolicy
from rt4chart_collector.detect.monitor.route_detector import RouteDetector
from rt4chart_collector.store.alerts.monitor_states import (
    MonitorState,
    RouteHour,
    monitor_states,
    route_hours,
    write_monitor_states,
    write_route_hours,
)
from rt4chart_collector.store.engine.connect import Client

# The code that a state depends on: another one may mean something else by the same numbers.
CODE = (
    ("rt4chart_collector.detect.drift", ""),
    ("rt4chart_collector.detect.monitor", "route_detector.py"),
    ("rt4chart_collector.detect.monitor", "route_detectors.py"),
    ("rt4chart_collector.detect.monitor", "stored_states.py"),
    ("rt4chart_collector.store.rates", "ticks.py"),
    ("otel_rt4chart.verify.core", "rates.py"),
)
# A state that is older is not used: what came meanwhile costs as much as a whole route.
USED_NS = 7 * DAY_NS
# The hours of so many routes are read at once.
ROUTES_A_READ = 20


@cache
def code_print() -> str:
    """A fingerprint of the code that the states depend on."""
    told = blake2b(digest_size=8)
    for package, name in CODE:
        for one in sorted(files(package).iterdir(), key=lambda found: found.name):
            if one.name == name or (not name and one.name.endswith(".py")):
                told.update(one.read_bytes())
    return told.hexdigest()


@dataclass(frozen=True, slots=True)
class KnownRoute:
    """What is known of a route: its detectors, when it was read, and the prints of late verdicts.

    `prints` are those of its days until `compared_ns`, `taken` those of the hours since.
    """

    read_ns: int
    compared_ns: int
    prints: Mapping[int, int]
    taken: Mapping[int, int]
    by_measure: Mapping[Measure, RouteDetector]


@dataclass(frozen=True, slots=True)
class _Stored:
    """The JSON of a state without that of its detectors."""

    read_ns: int
    compared_ns: int
    prints: Mapping[int, int]
    taken: Mapping[int, int]


@dataclass(slots=True)
class StoredStates:
    """The states of the routes of one verifier; for one thread."""

    client: Client
    verifier: str
    measures: Sequence[Measure]
    # The first hour that is not stored yet, of each measure of a route.
    _saved: dict[tuple[str, str, Measure], int] = field(default_factory=dict)
    # Routes of which the past hours may still be needed, and those read ahead.
    _unread: dict[RouteKey, None] = field(default_factory=dict)
    _ahead: dict[RouteKey, list[RouteHour]] = field(default_factory=dict)

    def load(
        self, keys: Iterable[RouteKey], policy: DriftPolicy, *, settled_ns: int
    ) -> dict[RouteKey, KnownRoute]:
        """What is stored of these routes and fits; a route without a state is left out."""
        rows = monitor_states(
            self.client,
            list(keys),
            verifier=self.verifier,
            fit=_fit(policy),
            since_ns=settled_ns - USED_NS,
        )
        found = {}
        for row in rows:
            try:
                known = self._restored(row, policy)
            except (InputError, ValueError, TypeError, RecursionError):
                continue
            times = [one.upto_ns for one in known.by_measure.values()]
            # A clock that was ahead has processed ticks that are not settled.
            if settled_ns - USED_NS <= min(times) and max(times) <= settled_ns:
                found[row.service, row.route] = known
        for (service, route), known in found.items():
            self._unread[service, route] = None
            for measure, detector in known.by_measure.items():
                self._saved[service, route, measure] = detector.history.hour
        return found

    def forget(self, key: RouteKey) -> None:
        """Store all hours of this route anew: it was read as a whole."""
        self._unread.pop(key, None)
        self._ahead.pop(key, None)
        for measure in self.measures:
            self._saved.pop((*key, measure), None)

    def save(self, routes: Mapping[RouteKey, KnownRoute], policy: DriftPolicy, now_ns: int) -> None:
        """Store the states of these routes, after their hours: a state tells which it needs."""
        hours: list[RouteHour] = []
        saved: dict[tuple[str, str, Measure], int] = {}
        rows = []
        for (service, route), known in routes.items():
            plain = []
            for measure in self.measures:
                detector = known.by_measure[measure]
                name = (service, route, measure)
                since = self._saved.get(name, 0)
                for hour, sums in detector.history.hours_since(since).items():
                    told = json.dumps(to_plain(sums))
                    hours.append(
                        RouteHour(
                            service, route, self.verifier, measure, hour * HOUR_NS, told, now_ns
                        )
                    )
                plain.append(detector.state())
                saved[name] = detector.history.hour
            about = _Stored(known.read_ns, known.compared_ns, known.prints, known.taken)
            state = json.dumps([to_plain(about), plain])
            rows.append(
                MonitorState(service, route, self.verifier, _fit(policy), now_ns, state, now_ns)
            )
        write_route_hours(self.client, hours)
        write_monitor_states(self.client, rows)
        self._saved |= saved

    def _restored(self, row: MonitorState, policy: DriftPolicy) -> KnownRoute:
        about, detectors = json.loads(row.state)
        known = from_plain(_Stored, about)
        key = (row.service, row.route)
        by_measure = {
            measure: RouteDetector.restored(
                policy,
                self.verifier,
                plain,
                lambda check, measure=measure: self._hours(key, measure, check),  # type: ignore[misc]
            )
            for measure, plain in zip(self.measures, detectors, strict=True)
        }
        return KnownRoute(known.read_ns, known.compared_ns, known.prints, known.taken, by_measure)

    def _hours(
        self, key: RouteKey, measure: Measure, check: HoursCheck
    ) -> Mapping[ModelVersion, Hours]:
        """The stored hours of a route that the check is of; those of some others are read too.

        A new day needs those of all routes.
        """
        if key not in self._ahead:
            self._unread.pop(key, None)
            others = list(self._unread)[: ROUTES_A_READ - 1]
            self._ahead = {one: [] for one in (key, *others)}
            since_ns = check.end * HOUR_NS - PATTERN_NS - DAY_NS
            keys = list(self._ahead)
            for row in route_hours(self.client, keys, verifier=self.verifier, since_ns=since_ns):
                self._ahead[row.service, row.route].append(row)
            for one in others:
                self._unread.pop(one, None)
        found: dict[ModelVersion, dict[int, HourSums]] = {}
        for row in self._ahead[key]:
            hour = row.hour_ns // HOUR_NS
            if row.measure is measure and check.first <= hour < check.end:
                told = mapping_from_plain(ModelVersion, HourSums, json.loads(row.sums))
                for version, sums in told.items():
                    found.setdefault(version, {})[hour] = sums
        return found


def _fit(policy: DriftPolicy) -> str:
    return f"{code_print()} {policy}"
