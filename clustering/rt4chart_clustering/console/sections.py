"""The sections that this package adds to the console."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from starlette.routing import BaseRoute, Route

from rt4chart_clustering.console.evalset_pages import (
    download_release,
    post_release,
    show_eval_set,
    show_eval_sets,
)
from rt4chart_clustering.console.issue_actions import ACTIONS, IssueActions
from rt4chart_clustering.console.issue_list import IssueList
from rt4chart_clustering.console.issue_page import IssuePage
from rt4chart_clustering.console.map_page import MapPage
from rt4chart_clustering.console.ranking_cache import RankingCache
from rt4chart_clustering.console.review_pages import begin_review, post_decision, show_case
from rt4chart_collector.console.app.console import Console
from rt4chart_collector.console.app.section import Section, page_routes

FOLDER = Path(__file__).parent
TEMPLATES, STATIC = FOLDER / "templates", FOLDER / "static"
GET, POST = ["GET"], ["POST"]


def issue_routes(console: Console) -> Sequence[BaseRoute]:
    """The list of issues, the page of an issue with its actions, and the map."""
    ranking = RankingCache(console.store, console.run_in_background)
    listed, page = IssueList(console, ranking), IssuePage(console, ranking)
    actions, failure_map = IssueActions(console, page, ranking), MapPage(console, ranking)
    return [
        Route("/issues", listed.show, methods=GET),
        Route("/issues/bulk", actions.handle_several, methods=POST),
        Route("/issues/find", listed.find, methods=GET),
        Route("/issues/{id}", page.show, methods=GET),
        Route("/issues/{id}/why", page.why, methods=GET),
        *(Route(f"/issues/{{id}}/{name}", actions.handler(name), methods=POST) for name in ACTIONS),
        Route("/issues/{id}/{act}", page.back, methods=GET),
        Route("/map", failure_map.show, methods=GET),
        Route("/map/points", failure_map.points, methods=GET),
    ]


EVALSET_ROUTES = page_routes(
    ("GET", "/evalsets", show_eval_sets),
    ("GET", "/evalsets/{name}", show_eval_set),
    ("POST", "/evalsets/{name}/release", post_release),
    ("GET", "/evalsets/{name}/releases/{number}/{layout}", download_release),
    ("GET", "/evalsets/{name}/review", begin_review),
    ("GET", "/evalsets/{name}/cases/{case}", show_case),
    ("POST", "/evalsets/{name}/cases/{case}", post_decision),
)
# The map's pages are among the routes of the issues, because both share the cached ranking.
ISSUES = Section(
    "Issues", "/issues", issue_routes, TEMPLATES, order=20, static=STATIC, finder="/issues/find"
)
MAP = Section("Map", "/map", page_routes(), TEMPLATES, order=22, static=STATIC)
EVALSETS = Section("Eval sets", "/evalsets", EVALSET_ROUTES, TEMPLATES, order=24, static=STATIC)
