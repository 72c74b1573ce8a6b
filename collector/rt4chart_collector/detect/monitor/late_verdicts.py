"""Finds the routes whose settled ticks have changed since the monitor read them."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from functools import partial
from hashlib import blake2b

from otel_rt4chart.verify.core.rates import Measure
from rt4chart_collector.detect.drift.finding import RouteKey
from rt4chart_collector.detect.drift.policy import DAY_NS, HOUR_NS
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.scope import QueryScope
from rt4chart_collector.store.rates.settled_hours import day_prints
from rt4chart_collector.store.rates.ticks import Tick, route_ticks


def tick_print(measure: Measure, tick: Tick) -> int:
    """A fingerprint of a tick, the same in every process."""
    bins = [(one.decided, one.counted, one.answers, one.sample_rate, one.kind) for one in tick.bins]
    names = (measure.value, tick.start_ns, tick.model, tick.prompt_version, tick.release)
    told = json.dumps((names, bins)).encode()
    return int.from_bytes(blake2b(told, digest_size=8).digest(), "big")


class TakenTicks:
    """A fingerprint of the settled ticks that a route's detectors took, by hour."""

    def __init__(self, hours: Mapping[int, int] | None = None) -> None:
        """Nothing was taken yet, or what `hours` told before."""
        self._hours: defaultdict[int, int] = defaultdict(int, hours or {})

    @property
    def hours(self) -> Mapping[int, int]:
        """The fingerprint of each hour."""
        return self._hours

    def add(self, measure: Measure, ticks: Iterable[Tick], *, since_ns: int) -> None:
        """Add ticks of a measure; those before `since_ns` were compared already."""
        for tick in ticks:
            if tick.start_ns >= since_ns:
                self._hours[tick.start_ns // HOUR_NS] ^= tick_print(measure, tick)

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
        # Routes that another process compared last, which may have been until another time.
        self._until: dict[RouteKey, int] = {}
        self.until_ns = 0
        # The shards of the routes that are compared; None for all.
        self.shards: Collection[int] | None = None

    def until_of(self, key: RouteKey) -> int:
        """Until when this route was compared last; 0 if it never was."""
        return self._until.get(key, self.until_ns)

    def known(self, key: RouteKey) -> Mapping[int, int]:
        """The fingerprints of a route's days, as of then."""
        return self._known.get(key, {})

    def resume(self, key: RouteKey, known: Mapping[int, int], until_ns: int) -> None:
        """Go on with what another process knew of a route: the next comparison begins there."""
        self._known[key], self._until[key] = dict(known), until_ns

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
        times = {*self._until.values(), self.until_ns}
        for earlier_ns in times - {0} or times:
            for key, days in day_prints(self._client, scope, earlier_ns=earlier_ns).items():
                found[key] = {one.day: one.whole for one in days}
                known = self._known.get(key, {})
                is_other = any(one.earlier != known.get(one.day, 0) for one in days)
                if self.until_of(key) == earlier_ns and is_other:
                    changed.add(key)
        first = since_ns // DAY_NS
        changed |= {
            key
            for key, days in self._known.items()
            if key not in found and any(day >= first for day in days)
        }
        self._known = found
        return {key for key in changed if self.until_of(key)}

    def changed_since(self, settled_ns: int, taken: Mapping[RouteKey, TakenTicks]) -> set[RouteKey]:
        """The routes whose ticks of the hours since the last comparison are not those taken."""
        until_ns = settled_ns // HOUR_NS * HOUR_NS
        since = {key: self.until_of(key) for key in taken if self.until_of(key)}
        stored: defaultdict[RouteKey, int] = defaultdict(int)
        scope = QueryScope(min(since.values(), default=until_ns), until_ns, self._verifier)
        read_ticks = partial(route_ticks, self._client, scope, *self._measures)
        for read in read_ticks(shards=self.shards) if since else ():
            key = (read.service, read.route)
            for tick in read.ticks if key in since else ():
                if tick.start_ns >= since[key]:
                    stored[key] ^= tick_print(read.measure, tick)
        self.until_ns, self._until = until_ns, {}
        own = {key: ticks.pop_until(until_ns) for key, ticks in taken.items()}
        return {key for key in since if own[key] != stored[key]}
