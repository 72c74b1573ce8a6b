"""The page of saved views, and the forms that save and remove one."""

from __future__ import annotations

from pathlib import Path

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from rt4chart_collector.console.app.console import Console, session_of
from rt4chart_collector.console.app.section import Section, page_routes
from rt4chart_collector.console.finding.find_page import show_found
from rt4chart_collector.store.views.saved_views import (
    SavedView,
    remove_view,
    save_view,
    saved_views,
)


def show_views(console: Console, request: Request) -> Response:
    """GET /views: the person's own views and those of everybody."""
    session = session_of(request)
    owner = session.actor.name if session else ""
    with console.store() as client:
        found = saved_views(client, owner)
    return console.page(request, "views.html", title="Saved views", found=found)


def change_views(console: Console, request: Request) -> Response:
    """POST /views: `do` is save, with a `name`, an `address` and `shared`, or remove."""
    actor, form = console.require_actor(request).name, console.form(request)
    name, address = form.get("name", ""), form.get("address", "")
    owner = "" if form.get("shared") else actor
    is_removal = form.get("do", "") == "remove"
    with console.store() as client:
        if is_removal:
            version = console.clock()
            remove_view(client, owner=owner, name=name, actor=actor, version=version)
        else:
            save_view(client, SavedView(owner, name, address, actor, console.clock()))
    console.forget_views()
    return RedirectResponse("/views" if is_removal else address, 303)


ROUTES = page_routes(
    ("GET", "/find", show_found), ("GET", "/views", show_views), ("POST", "/views", change_views)
)
SECTION = Section(
    "", "/views", ROUTES, Path(__file__).parent / "templates", order=-1, finder="/find"
)
