"""The sections that this package adds to the console."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from starlette.routing import BaseRoute, Route

from rt4chart_clustering.console.evalset_pages import EvalSetPages
from rt4chart_clustering.console.issue_actions import ACTIONS, IssueActions
from rt4chart_clustering.console.issue_list import IssueList
from rt4chart_clustering.console.issue_page import IssuePage
from rt4chart_clustering.console.map_page import MapPage
from rt4chart_clustering.console.ranking_cache import RankingCache
from rt4chart_clustering.console.review_pages import ReviewPages
from rt4chart_collector.console.app.console import Console
from rt4chart_collector.console.app.section import Section

FOLDER = Path(__file__).parent
TEMPLATES, STATIC = FOLDER / "templates", FOLDER / "static"
GET, POST = ["GET"], ["POST"]


def issue_routes(console: Console) -> Sequence[BaseRoute]:
    """The list of issues, the page of an issue with its actions, and the map."""
    ranking = RankingCache(console.store, console.beside)
    listed, page = IssueList(console, ranking), IssuePage(console, ranking)
    actions, failure_map = IssueActions(console, page, ranking), MapPage(console, ranking)
    return [
        Route("/issues", listed.show, methods=GET),
        Route("/issues/{id}", page.show, methods=GET),
        Route("/issues/{id}/why", page.why, methods=GET),
        *(Route(f"/issues/{{id}}/{name}", actions.handler(name), methods=POST) for name in ACTIONS),
        Route("/issues/{id}/{act}", page.back, methods=GET),
        Route("/map", failure_map.show, methods=GET),
        Route("/map/points", failure_map.points, methods=GET),
    ]


def no_routes(_: Console) -> Sequence[BaseRoute]:
    """For a section whose pages belong to another one."""
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
