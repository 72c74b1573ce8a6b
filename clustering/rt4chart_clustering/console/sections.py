"""The sections that this package adds to the console."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from starlette.routing import BaseRoute, Route

from rt4chart_clustering.console.evalset_pages import EvalSetPages
from rt4chart_clustering.console.issue_acts import DO, IssueActs
from rt4chart_clustering.console.issue_list import IssueList
from rt4chart_clustering.console.issue_page import IssuePage
from rt4chart_clustering.console.map_page import MapPage
from rt4chart_clustering.console.review_pages import ReviewPages
from rt4chart_clustering.console.standings import Standings
from rt4chart_collector.console.app.console import Console
from rt4chart_collector.console.app.section import Section

FOLDER = Path(__file__).parent
TEMPLATES, STATIC = FOLDER / "templates", FOLDER / "static"
GET, POST = ["GET"], ["POST"]


def issue_routes(console: Console) -> Sequence[BaseRoute]:
    """The list of issues, one issue, what is done to it, and the map."""
    standings = Standings(console.store, console.beside)
    listed, page = IssueList(console, standings), IssuePage(console, standings)
    acts, drawn = IssueActs(console, page, standings), MapPage(console, standings)
    return [
        Route("/issues", listed.show, methods=GET),
        Route("/issues/{id}", page.show, methods=GET),
        Route("/issues/{id}/why", page.why, methods=GET),
        *(Route(f"/issues/{{id}}/{name}", acts.act(name), methods=POST) for name in DO),
        Route("/issues/{id}/{act}", page.back, methods=GET),
        Route("/map", drawn.show, methods=GET),
        Route("/map/points", drawn.points, methods=GET),
    ]


def no_routes(_: Console) -> Sequence[BaseRoute]:
    """A section whose pages another one brings."""
    return []


def evalset_routes(console: Console) -> Sequence[BaseRoute]:
    """The eval sets, one of them with its releases, and the review of its cases."""
    sets, review = EvalSetPages(console), ReviewPages(console)
    return [
        Route("/evalsets", sets.list_all, methods=GET),
        Route("/evalsets/{name}", sets.show, methods=GET),
        Route("/evalsets/{name}/release", sets.release, methods=POST),
        Route("/evalsets/{name}/releases/{number}/{layout}", sets.download, methods=GET),
        Route("/evalsets/{name}/review", review.begin, methods=GET),
        Route("/evalsets/{name}/cases/{case}", review.show, methods=GET),
        Route("/evalsets/{name}/cases/{case}", review.decide, methods=POST),
    ]


ISSUES = Section("Issues", "/issues", issue_routes, TEMPLATES, order=20, static=STATIC)
MAP = Section("Map", "/map", no_routes, TEMPLATES, order=22, static=STATIC)
EVALSETS = Section("Eval sets", "/evalsets", evalset_routes, TEMPLATES, order=24, static=STATIC)
