"""Bounds the distinct routes that a process stores: paths with ids, and floods of names."""

from __future__ import annotations

import logging
import re
from collections import Counter, OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from threading import Lock

from otel_rt4chart.core.tenants import tenant_of_service
from otel_rt4chart.core.text import one_line
from otel_rt4chart.judges.answer_verdicts import Clock
from otel_rt4chart.spans.model.verdict import Candidate
from rt4chart_collector.core.instruments import ROUTES_RENAMED
from rt4chart_collector.core.metrics import ServiceMetrics

# A path, with a method or a host before it: `/users/7`, `GET /users/7`, `https://shop/users/7`.
PATH = re.compile(
    r"(?P<before>(?:[A-Z]{3,7} )?(?:https?://[^/?#\s]*)?)(?P<path>/[^?#]*)(?:[?#].*)?"
)
# Numbers and dates; UUIDs; hashes; and long tokens of letters with several digits.
ID = re.compile(
    r"\d+|\d{4}-\d{2}-\d{2}"
    r"|[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}"
    r"|(?=[a-fA-F]*\d)[0-9a-fA-F]{12,}"
    r"|(?=(?:[A-Za-z_]*\d){3})[A-Za-z0-9_]{20,}"
    r"|(?=[a-z]+_[A-Za-z]*\d)[a-z]+_[A-Za-z0-9]{8,}"
)
FOLDED = "{id}"
OTHER_ROUTES = "(other routes)"
UNUSED_NS = 24 * 3600 * 1_000_000_000

log = logging.getLogger(__name__)


def folded_route(route: str) -> str:
    """The route without ids and query, if it is a path; another name as it is.

    `GET /users/123/orders?page=2` is `GET /users/{id}/orders`.
    """
    found = PATH.fullmatch(route)
    if found is None:
        return route
    segments = (FOLDED if ID.fullmatch(part) else part for part in found["path"].split("/"))
    return found["before"] + "/".join(segments)


def route_note(route: str) -> str:
    """What a page says of a route that has a name of ours; "" for any other."""
    if route == OTHER_ROUTES:
        return (
            "Answers of many routes: a process stores RT4CHART_ROUTE_LIMIT routes by their names, "
            "a single service at most half of them, and further ones here. Name routes by "
            "rt4chart.route."
        )
    if FOLDED in route.split("/"):
        return (
            "{id} stands for numbers, UUIDs and hashes in the path (RT4CHART_FOLD_ROUTES). "
            "rt4chart.route gives a route another name."
        )
    return ""


class RouteNames:
    """The names under which answers are stored; for all threads of a process.

    A service that makes up names takes none of another's: it gets a new name while it holds fewer
    than are free, so that alone it holds half of the limit. The same holds for a tenant, which may
    make up services too. A name without an answer for a day is free again.
    """

    def __init__(
        self, *, folds: bool, limit: int, clock: Clock, metrics: ServiceMetrics | None = None
    ) -> None:
        """At most `limit` routes of all services; without `folds`, paths with ids stay."""
        self._folds = folds
        self._limit = limit
        self._clock = clock
        self._metrics = metrics
        self._lock = Lock()
        # When each name was last used, the longest unused first.
        self._used_ns: OrderedDict[tuple[str, str], int] = OrderedDict()
        self._held: Counter[str] = Counter()  # by service
        self._held_of: Counter[str] = Counter()  # by tenant
        self._is_full = False

    def know(self, routes: Sequence[tuple[str, str]]) -> None:
        """Keep these names, by service and route, the most important first: half of the limit."""
        now_ns = self._clock()
        with self._lock:
            for key in routes[: self._limit // 2]:
                self._use(key, now_ns)

    def named(self, candidates: Iterable[Candidate]) -> list[Candidate]:
        """The answers with the names of their routes; those that change are counted."""
        return [self._named(candidate) for candidate in candidates]

    def _named(self, candidate: Candidate) -> Candidate:
        route = folded_route(candidate.route) if self._folds else candidate.route
        if route != candidate.route:
            self._count("folded")
        if not self._is_taken(candidate.service, route):
            self._count("overflow")
            route = OTHER_ROUTES
        return candidate if route == candidate.route else replace(candidate, route=route)

    def _is_taken(self, service: str, route: str) -> bool:
        key, now_ns = (service, route), self._clock()
        with self._lock:
            self._free_unused(now_ns)
            free = self._limit - len(self._used_ns)
            tenant = tenant_of_service(service)
            is_fair = self._held[service] < free and (not tenant or self._held_of[tenant] < free)
            if key in self._used_ns or is_fair:
                self._use(key, now_ns)
                return True
            is_first, self._is_full = not self._is_full, True
        if is_first:
            log.warning(
                "more routes than RT4CHART_ROUTE_LIMIT=%d leaves for %s: further ones are stored "
                "as %r; name routes by rt4chart.route",
                self._limit,
                one_line(service, 80) or "a service without a name",
                OTHER_ROUTES,
            )
        return False

    def _use(self, key: tuple[str, str], now_ns: int) -> None:
        if key not in self._used_ns:
            self._hold(key[0], 1)
        self._used_ns[key] = now_ns
        self._used_ns.move_to_end(key)

    def _free_unused(self, now_ns: int) -> None:
        while self._used_ns:
            key, used_ns = next(iter(self._used_ns.items()))
            if used_ns > now_ns - UNUSED_NS:
                return
            del self._used_ns[key]
            self._hold(key[0], -1)

    def _hold(self, service: str, names: int) -> None:
        for counter, name in ((self._held, service), (self._held_of, tenant_of_service(service))):
            counter[name] += names
            if not counter[name]:
                del counter[name]

    def _count(self, why: str) -> None:
        if self._metrics is not None:
            self._metrics.add(ROUTES_RENAMED, why)
