"""Finds the routes whose settled ticks have changed since the monitor read them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

from otel_rt4chart.verify.core.rates import Measure
from rt4chart_collector.detect.drift.finding import RouteKey
from rt4chart_collector.detect.drift.policy import DAY_NS, HOUR_NS
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.scope import QueryScope
from rt4chart_collector.store.rates.settled_hours import day_prints
from rt4chart_collector.store.rates.ticks import Tick, route_ticks


class TakenTicks:
    """A fingerprint of the settled ticks that a route's detectors took, by hour."""

    def __init__(self) -> None:
        """Nothing was taken yet."""
        self._hours: defaultdict[int, int] = defaultdict(int)

    def add(self, measure: Measure, ticks: Iterable[Tick], *, since_ns: int) -> None:
        """Add ticks of a measure; those before `since_ns` were compared already."""
        for tick in ticks:
            if tick.start_ns >= since_ns:
                self._hours[tick.start_ns // HOUR_NS] ^= hash((measure, tick))

    def pop_until(self, until_ns: int) -> int:
        """The fingerprint of all hours before then, which are forgotten."""
        taken = 0
        for hour in [hour for hour in self._hours if hour < until_ns // HOUR_NS]:
            taken ^= self._hours.pop(hour)
        return taken


class LateVerdicts:
    """Compares, once an hour, what is stored with what was read; for one verifier.

    Hours that were compared before by fingerprints of their sums, which cost one query for all
    routes; hours that have settled since by their ticks. A verdict that comes between two reads of
    a comparison is found by this one or the next.
    """

    def __init__(
        self, client: Client, verifier: str, *, kept_ns: int, measures: Iterable[Measure]
    ) -> None:
        """Nothing was compared yet; days of the last `kept_ns` are."""
        self._client = client
        self._verifier = verifier
        self._kept_ns = kept_ns
        self._measures = tuple(measures)
        self._known: dict[RouteKey, dict[int, int]] = {}
        self.until_ns = 0

    def changed(self, settled_ns: int) -> set[RouteKey]:
        """The routes with a change in the hours that were compared before.

        Call it before new ticks are read, and `changed_since` after: `until_ns` is then the end of
        the last hour that was settled, and those until `settled_ns` are compared next.
        """
        until_ns = settled_ns // HOUR_NS * HOUR_NS
        since_ns = (until_ns - self._kept_ns) // DAY_NS * DAY_NS + DAY_NS
        scope = QueryScope(since_ns, until_ns, self._verifier)
        found: dict[RouteKey, dict[int, int]] = {}
        changed = set()
        for key, days in day_prints(self._client, scope, earlier_ns=self.until_ns).items():
            found[key] = {one.day: one.whole for one in days}
            known = self._known.get(key, {})
            if any(one.earlier != known.get(one.day, 0) for one in days):
                changed.add(key)
        first = since_ns // DAY_NS
        changed |= {
            key
            for key, days in self._known.items()
            if key not in found and any(day >= first for day in days)
        }
        self._known = found
        return changed if self.until_ns else set()

    def changed_since(self, settled_ns: int, taken: Mapping[RouteKey, TakenTicks]) -> set[RouteKey]:
        """The routes whose ticks of the hours since the last comparison are not those taken."""
        since_ns, until_ns = self.until_ns, settled_ns // HOUR_NS * HOUR_NS
        stored: defaultdict[RouteKey, int] = defaultdict(int)
        scope = QueryScope(since_ns, until_ns, self._verifier)
        for read in route_ticks(self._client, scope, *self._measures) if since_ns else ():
            for tick in read.ticks:
                stored[read.service, read.route] ^= hash((read.measure, tick))
        self.until_ns = until_ns
        own = {key: ticks.pop_until(until_ns) for key, ticks in taken.items()}
        return {key for key, print_ in own.items() if print_ != stored[key]} if since_ns else set()
