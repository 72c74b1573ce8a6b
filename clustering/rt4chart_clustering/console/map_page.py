"""The page /map: failures as points, near each other if their texts are similar."""

from __future__ import annotations

import threading
from math import ceil

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from rt4chart_clustering.console.failure_map import FailureMap, MapPoint, build_map, map_json
from rt4chart_clustering.console.ranking_cache import RankingCache
from rt4chart_collector.console.app.console import Console
from rt4chart_collector.console.view.filters import label, link, when
from rt4chart_collector.console.view.params import integer_param, text_param
from rt4chart_collector.console.view.request_url import request_url, window_name
from rt4chart_collector.console.view.table import (
    HTML,
    Column,
    Table,
    format_param,
    sort_param,
    sorted_rows,
)
from rt4chart_collector.console.view.urls import with_query
from rt4chart_collector.core.times import iso
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.issues.failure_samples import failure_points

MAX_POINTS, PAGE, MAX_CACHED, CACHE_NS = 2_000, 50, 4, 60 * 10**9
# Symbols by `look`: colour alone would not tell the groups apart for everyone.
SIGNS = ("●", "■", "◆", "▲", "▼", "★", "✚", "⬟", "✖", "○", "⬡")
EMPTY = Markup(
    "No described failures in this time. <code>rt4chart cluster</code> describes and groups "
    "failures; or choose a longer time above."
)


class MapPage:
    """The map, which is cached for a minute."""

    def __init__(self, console: Console, ranking: RankingCache) -> None:
        """Nothing is drawn yet."""
        self._console = console
        self._ranking = ranking
        self._lock = threading.Lock()
        self._kept: dict[tuple[str, str, str], tuple[int, FailureMap]] = {}

    def show(self, request: Request) -> Response:
        """GET /map."""
        failure_map = self._map(request)
        service, route = text_param(request, "service"), text_param(request, "route")
        since = window_name(request)
        return self._console.table(
            request,
            _table(request, failure_map, self._console.clock()),
            "map.html",
            failure_map=failure_map,
            signs=SIGNS,
            service=service,
            route=route,
            points=with_query("/map/points", since=since, service=service, route=route),
        )

    def points(self, request: Request) -> Response:
        """GET /map/points: the data of the picture."""
        return JSONResponse(map_json(self._map(request)))

    def _map(self, request: Request) -> FailureMap:
        now_ns = self._console.clock()
        key = (window_name(request), text_param(request, "service"), text_param(request, "route"))
        with self._lock:
            kept = self._kept.get(key)
        if kept is not None and now_ns - kept[0] < CACHE_NS:
            return kept[1]
        with self._console.store() as client:
            failure_map = self._build(client, request)
        with self._lock:
            while len(self._kept) >= MAX_CACHED and key not in self._kept:
                del self._kept[next(iter(self._kept))]
            self._kept[key] = (now_ns, failure_map)
        return failure_map

    def _build(self, client: Client, request: Request) -> FailureMap:
        since_ns, until_ns = self._console.window(request)
        known = self._ranking.ranked_issues(client, until_ns)
        found = failure_points(
            client,
            since_ns=since_ns,
            until_ns=until_ns,
            service=text_param(request, "service") or None,
            route=text_param(request, "route") or None,
            limit=MAX_POINTS,
        )
        titles = {one.issue.id: one.issue.title or f"{one.issue.id:016x}" for one in known}
        roots = {alias: one.issue.id for one in known for alias in one.issue.aliases}
        return build_map(found, titles, roots)


def _table(request: Request, failure_map: FailureMap, now_ns: int) -> Table[MapPoint]:
    columns = [
        Column("issue", "Issue", lambda one: one.title, _group, is_sortable=True),
        Column("label", "Label", lambda one: one.point.label,
               lambda one: label(one.point.label), is_sortable=True),
        Column("claim", "Claim", lambda one: one.point.claim,
               lambda one: link(one.url, one.point.claim)),
        Column("route", "Route", lambda one: one.point.route, is_sortable=True),
        Column("answered_at", "Answered", lambda one: iso(one.point.time_ns),
               lambda one: when(one.point.time_ns, now_ns), is_sortable=True),
        Column("x", "x", lambda one: one.x),
        Column("y", "y", lambda one: one.y),
        Column("url", "Answer", lambda one: one.url),
    ]  # fmt: skip
    is_page, url = format_param(request) == HTML, request_url(request)
    sort = sort_param(request, columns, "issue") if request.query_params.get("sort") else ""
    rows = sorted_rows(failure_map.points, columns, sort) if sort else list(failure_map.points)
    page = integer_param(request, "page", default=1, low=1, high=MAX_POINTS)
    pages = ceil(len(rows) / PAGE)
    return Table(
        name="failures",
        title="All points as a list" if rows else "Failures",
        rows=rows[(page - 1) * PAGE : page * PAGE] if is_page else rows,
        columns=columns[:5] if is_page else columns,
        empty=EMPTY,
        sort=sort,
        more=url.replace(page=str(page + 1)) if is_page and page < pages else "",
        back=url.replace(page=str(page - 1)) if is_page and page > 1 else "",
        total=len(rows),
    )


def _group(one: MapPoint) -> Markup:
    sign = Markup('<span class="look look-{}" aria-hidden="true">{}</span> ').format(
        one.group.look, SIGNS[one.group.look]
    )
    return sign + (link(one.group.url, one.title) if one.group.url else one.title)
