"""The page /map: failures as points, near each other if their texts are similar."""

from __future__ import annotations

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from rt4chart_clustering.console.failure_map import FailureMap, MapPoint, build_map, map_json
from rt4chart_clustering.console.ranking_cache import RankingCache
from rt4chart_clustering.triage.find_issue import hex_id
from rt4chart_collector.console.app.console import Console
from rt4chart_collector.console.view.filters import label, link, when
from rt4chart_collector.console.view.paging import page_of_table
from rt4chart_collector.console.view.params import text_param
from rt4chart_collector.console.view.table import Column, Table, sort_param, sorted_rows
from rt4chart_collector.console.view.timed_cache import TimedCache
from rt4chart_collector.console.view.urls import with_query
from rt4chart_collector.core.times import iso
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.issues.failure_samples import failure_points

MAX_POINTS = 2_000
# Projecting the vectors takes a second: maps are cached for a minute, a few at a time.
MAX_CACHED, CACHE_NS = 4, 60 * 10**9
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
        self._cache: TimedCache[tuple[str, str, str], FailureMap]
        self._cache = TimedCache(most=MAX_CACHED, fresh_ns=CACHE_NS)

    def show(self, request: Request) -> Response:
        """GET /map."""
        failure_map = self._map(request)
        service, route = text_param(request, "service"), text_param(request, "route")
        chosen = self._console.time_range(request)
        return self._console.table(
            request,
            _table(request, failure_map, self._console.clock()),
            "map.html",
            failure_map=failure_map,
            signs=SIGNS,
            service=service,
            route=route,
            points=with_query("/map/points", service=service, route=route, **chosen.query),
        )

    def points(self, request: Request) -> Response:
        """GET /map/points: the data of the picture."""
        return JSONResponse(map_json(self._map(request)))

    def _map(self, request: Request) -> FailureMap:
        now_ns = self._console.clock()
        when = " ".join(self._console.time_range(request).query.values())
        key = (when, text_param(request, "service"), text_param(request, "route"))
        failure_map = self._cache.get(key, now_ns)
        if failure_map is None:
            with self._console.store() as client:
                failure_map = self._build(client, request)
            self._cache.put(key, failure_map, now_ns)
        return failure_map

    def _build(self, client: Client, request: Request) -> FailureMap:
        scope = self._console.route_scope(request)
        known = self._ranking.ranked_issues(client, scope.until_ns)
        found = failure_points(client, scope, limit=MAX_POINTS)
        issues = [ranked.issue for ranked in known]
        titles = {issue.id: issue.title or hex_id(issue.id) for issue in issues}
        roots = {alias: issue.id for issue in issues for alias in issue.aliases}
        return build_map(found, titles, roots)


def _table(request: Request, failure_map: FailureMap, now_ns: int) -> Table[MapPoint]:
    columns = [
        Column("issue", "Issue", lambda row: row.title, _group, is_sortable=True),
        Column("label", "Label", lambda row: row.point.label,
               lambda row: label(row.point.label), is_sortable=True),
        Column("claim", "Claim", lambda row: row.point.claim,
               lambda row: link(row.url, row.point.claim), is_lead=True),
        Column("route", "Route", lambda row: row.point.route, is_sortable=True),
        Column("answered_at", "Answered", lambda row: iso(row.point.time_ns),
               lambda row: when(row.point.time_ns, now_ns), is_sortable=True),
        Column("x", "x", lambda row: row.x, is_exported_only=True),
        Column("y", "y", lambda row: row.y, is_exported_only=True),
        Column("url", "Answer", lambda row: row.url, is_exported_only=True),
    ]  # fmt: skip
    sort = sort_param(request, columns, "issue") if request.query_params.get("sort") else ""
    rows = sorted_rows(failure_map.points, columns, sort) if sort else failure_map.points
    title = "All points as a list" if rows else "Failures"
    return page_of_table(request, Table("failures", title, rows, columns, EMPTY, sort))


def _group(row: MapPoint) -> Markup:
    sign = Markup('<span class="look look-{}" aria-hidden="true">{}</span> ').format(
        row.group.look, SIGNS[row.group.look]
    )
    return sign + (link(row.group.url, row.title) if row.group.url else row.title)
