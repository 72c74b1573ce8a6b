"""Bounds the distinct routes that a process stores: paths with ids, and floods of names."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable
from dataclasses import replace
from threading import Lock

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
            "and further ones here. Name routes by rt4chart.route."
        )
    if FOLDED in route.split("/"):
        return (
            "{id} stands for numbers, UUIDs and hashes in the path (RT4CHART_FOLD_ROUTES). "
            "rt4chart.route gives a route another name."
        )
    return ""


class RouteNames:
    """The names under which answers are stored; for all threads of a process."""

    def __init__(self, *, folds: bool, limit: int, metrics: ServiceMetrics | None = None) -> None:
        """At most `limit` routes of all services; without `folds`, paths with ids stay."""
        self._folds = folds
        self._limit = limit
        self._metrics = metrics
        self._lock = Lock()
        self._known: set[tuple[str, str]] = set()
        self._is_full = False

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
        key = (service, route)
        with self._lock:
            if key not in self._known and len(self._known) < self._limit:
                self._known.add(key)
            if key in self._known:
                return True
            is_first, self._is_full = not self._is_full, True
        if is_first:
            log.warning(
                "more than %d routes: further ones are stored as %r; see RT4CHART_ROUTE_LIMIT",
                self._limit,
                OTHER_ROUTES,
            )
        return False

    def _count(self, why: str) -> None:
        if self._metrics is not None:
            self._metrics.add(ROUTES_RENAMED, why)
