"""The page /map: failures of a time as points that lie near each other where they read alike."""

from __future__ import annotations

import threading
from math import ceil

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from rt4chart_clustering.console.atlas import Atlas, Placed, atlas_of, drawing
from rt4chart_clustering.console.standings import Standings
from rt4chart_collector.console.app.console import Console
from rt4chart_collector.console.view.filters import iso, label, link, when
from rt4chart_collector.console.view.params import text_of, whole_of
from rt4chart_collector.console.view.request_url import here_of, window_name
from rt4chart_collector.console.view.table import HTML, Column, Table, format_of, ordered, sort_of
from rt4chart_collector.console.view.urls import with_query
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.issues.failure_points import failure_points

DRAWN, PAGE, KEPT, KEPT_NS = 2_000, 50, 4, 60 * 10**9
# In the order of the looks: what stands beside the colours, in the list and in the picture.
SIGNS = ("●", "■", "◆", "▲", "▼", "★", "✚", "⬟", "✖", "○", "⬡")
EMPTY = Markup(
    "No failures are described in this time. <code>rt4chart cluster</code> describes and groups "
    "those that are there; choose a longer time above if there were none."
)


class MapPage:
    """The map; what was laid out is kept for a minute."""

    def __init__(self, console: Console, standings: Standings) -> None:
        """Nothing is drawn yet."""
        self._console = console
        self._standings = standings
        self._lock = threading.Lock()
        self._kept: dict[tuple[str, str, str], tuple[int, Atlas]] = {}

    def show(self, request: Request) -> Response:
        """GET /map."""
        atlas = self._atlas(request)
        service, route = text_of(request, "service"), text_of(request, "route")
        since = window_name(request)
        return self._console.table(
            request,
            _table(request, atlas, self._console.clock()),
            "map.html",
            atlas=atlas,
            signs=SIGNS,
            service=service,
            route=route,
            points=with_query("/map/points", since=since, service=service, route=route),
        )

    def points(self, request: Request) -> Response:
        """GET /map/points: what the picture is drawn from."""
        return JSONResponse(drawing(self._atlas(request)))

    def _atlas(self, request: Request) -> Atlas:
        now_ns = self._console.clock()
        key = (window_name(request), text_of(request, "service"), text_of(request, "route"))
        with self._lock:
            kept = self._kept.get(key)
        if kept is not None and now_ns - kept[0] < KEPT_NS:
            return kept[1]
        with self._console.store() as client:
            atlas = self._drawn(client, request)
        with self._lock:
            while len(self._kept) >= KEPT and key not in self._kept:
                del self._kept[next(iter(self._kept))]
            self._kept[key] = (now_ns, atlas)
        return atlas

    def _drawn(self, client: Client, request: Request) -> Atlas:
        since_ns, until_ns = self._console.window(request)
        known = self._standings.known(client, until_ns)
        found = failure_points(
            client,
            since_ns=since_ns,
            until_ns=until_ns,
            service=text_of(request, "service") or None,
            route=text_of(request, "route") or None,
            limit=DRAWN,
        )
        titles = {one.issue.id: one.issue.title or f"{one.issue.id:016x}" for one in known}
        roots = {alias: one.issue.id for one in known for alias in one.issue.aliases}
        return atlas_of(found, titles, roots)


def _table(request: Request, atlas: Atlas, now_ns: int) -> Table[Placed]:
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
    is_page, here = format_of(request) == HTML, here_of(request)
    sort = sort_of(request, columns, "issue") if request.query_params.get("sort") else ""
    rows = ordered(atlas.placed, columns, sort) if sort else list(atlas.placed)
    page = whole_of(request, "page", default=1, low=1, high=DRAWN)
    pages = ceil(len(rows) / PAGE)
    return Table(
        name="failures",
        title="The same as a list" if rows else "Failures",
        rows=rows[(page - 1) * PAGE : page * PAGE] if is_page else rows,
        columns=columns[:5] if is_page else columns,
        empty=EMPTY,
        sort=sort,
        more=here.to(page=str(page + 1)) if is_page and page < pages else "",
        back=here.to(page=str(page - 1)) if is_page and page > 1 else "",
        total=len(rows),
    )


def _group(one: Placed) -> Markup:
    sign = Markup('<span class="look look-{}" aria-hidden="true">{}</span> ').format(
        one.group.look, SIGNS[one.group.look]
    )
    return sign + (link(one.group.url, one.title) if one.group.url else one.title)
