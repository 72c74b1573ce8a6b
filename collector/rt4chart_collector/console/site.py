"""The console as a web application: its sections, routes and templates."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.metadata import entry_points
from inspect import iscoroutinefunction
from pathlib import Path

from jinja2 import Environment
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp

from otel_rt4chart.core.errors import InputError, StoreError
from otel_rt4chart.judges.answer_verdicts import Clock
from rt4chart_collector.console.alerts import alerts_page
from rt4chart_collector.console.answers import answers_page
from rt4chart_collector.console.app.auth_middleware import AuthMiddleware, Pages
from rt4chart_collector.console.app.client_pool import PAGE_SETTINGS, ClientPool, TenantPool
from rt4chart_collector.console.app.console import Console
from rt4chart_collector.console.app.error_pages import error_page
from rt4chart_collector.console.app.login import login_routes
from rt4chart_collector.console.app.page_threads import PageThreads
from rt4chart_collector.console.app.process_info import ProcessInfo
from rt4chart_collector.console.app.section import TEMPLATES, Section
from rt4chart_collector.console.app.static_files import FOLDER, StaticFiles, plotly_style_id
from rt4chart_collector.console.app.tenant_pages import TENANT_PAGES, tenant_routes
from rt4chart_collector.console.finding import views_page
from rt4chart_collector.console.labels import label_page
from rt4chart_collector.console.routes import compare_page, overview_page, route_page
from rt4chart_collector.console.routes.route_rows import evidence_bar
from rt4chart_collector.console.settings import health_page, settings_page
from rt4chart_collector.console.tries import try_page
from rt4chart_collector.console.view import urls
from rt4chart_collector.console.view.charts import sparkline, stacked
from rt4chart_collector.console.view.corrected import corrected_cell, sample_text
from rt4chart_collector.console.view.templates import template_environment
from rt4chart_collector.core.settings import ConsoleSettings
from rt4chart_collector.core.token_guard import TokenGuard
from rt4chart_collector.core.tokens import token_sources
from rt4chart_collector.ingest.otlp.refusal import HANDLERS, RefusedError
from rt4chart_collector.labelling.status import missing_text
from rt4chart_collector.store.engine.connect import Client

# A page waits for a connection for half of its time limit, so that time is left for queries.
WAIT_SHARE = 0.5
HANDLED_ERRORS = (HTTPException, StoreError, InputError, TimeoutError, Exception)


@dataclass(frozen=True, slots=True)
class Site:
    """The application, the services of its pages, and the threads that run them."""

    app: ASGIApp
    console: Console
    threads: PageThreads


READING = ("GET", "HEAD")


def build_site(
    open_client: Callable[[], Client],
    settings: ConsoleSettings,
    facts: ProcessInfo | None = None,
    *,
    sections: Sequence[Section] | None = None,
    clock: Clock = time.time_ns,
    api_routes: Sequence[Route] = (),
    guard: TokenGuard | None = None,
) -> Site:
    """The console over the clients that `open_client` gives.

    `api_routes` are for other programs, and check the tokens of those; `guard` has the tokens of
    the process, by default those of `settings`.
    """
    sections = all_sections() if sections is None else sections
    if not settings.console_try:
        sections = [section for section in sections if section.path != try_page.PATH]
    seconds = settings.console_page_s
    pool = ClientPool(
        partial(_open_bounded, open_client, seconds), settings.console_clients, seconds * WAIT_SHARE
    )
    statics = StaticFiles([FOLDER, *(section.static for section in sections if section.static)])
    environment = build_environment(
        [TEMPLATES, *(section.templates for section in sections)], statics
    )
    console = Console(
        pool,
        settings,
        environment,
        sections,
        facts or ProcessInfo(),
        clock=clock,
        guard=guard or TokenGuard([token_sources(settings)]),
    )
    # A slow page, however often it is asked for, leaves half of the clients to others.
    threads = PageThreads(
        settings.console_clients * 2, seconds, most_of_a_kind=max(settings.console_clients // 2, 1)
    )

    def open_tenant(tenant: str) -> Pages:
        own = console.of_tenant(TenantPool(pool, tenant), tenant, TENANT_PAGES)
        pages = [route for section in sections for route in section.routes(own)]
        routes = [*statics.routes(), *login_routes(own), *tenant_routes(pages, tenant)]
        return Pages(_application(own, routes, threads), own)

    pages = [route for section in sections for route in section.routes(console)]
    routes = [*statics.routes(), *login_routes(console), *pages]
    app = _application(console, routes, threads, api_routes)
    api_paths = [route.path for route in api_routes]
    reading = {path for section in sections for path in section.reading_forms}
    middleware = AuthMiddleware(app, console, api_paths, reading, open_tenant=open_tenant)
    return Site(middleware, console, threads)


def _application(
    console: Console,
    routes: Sequence[BaseRoute],
    threads: PageThreads,
    api_routes: Sequence[Route] = (),
) -> Starlette:
    """The routes with their errors as pages of this console."""
    return Starlette(
        routes=[
            Route("/healthz", _health, methods=["GET"]),
            *api_routes,
            *(_bounded(route, threads, console.tenant) for route in routes),
        ],
        exception_handlers={
            **dict.fromkeys(HANDLED_ERRORS, partial(_handle_error, console)),
            RefusedError: HANDLERS[RefusedError],
        },
    )


def build_environment(folders: Sequence[Path], statics: StaticFiles) -> Environment:
    """The templates with the functions that pages call."""
    environment = template_environment(folders)
    names = ("route_url", "answer_url", "answers_url", "issue_url", "alert_url", "with_query")
    environment.globals.update({name: getattr(urls, name) for name in names})
    environment.globals.update(evidence=evidence_bar, plotly_style_id=plotly_style_id)
    environment.globals.update(static=statics.url, sparkline=sparkline, stacked=stacked)
    environment.filters.update(
        corrected=corrected_cell, label_sample=sample_text, missing_labels=missing_text
    )
    return environment


def _open_bounded(open_client: Callable[[], Client], seconds: float) -> Client:
    client = open_client()
    client.set_settings({"max_execution_time": f"{seconds:.0f}", **PAGE_SETTINGS})
    return client


def _bounded(route: BaseRoute, threads: PageThreads, tenant: str) -> BaseRoute:
    """The route with its endpoint run in a thread, with a time limit."""
    if not isinstance(route, Route) or iscoroutinefunction(route.endpoint):
        return route
    call = _in_thread(route.endpoint, threads, f"{tenant} {route.path}")
    return Route(route.path, call, methods=sorted(route.methods or ("GET",)), name=route.name)


def _in_thread(
    endpoint: Callable[[Request], Response], threads: PageThreads, kind: str
) -> Callable[[Request], Awaitable[Response]]:
    async def call(request: Request) -> Response:
        running = asyncio.ensure_future(threads.run(partial(endpoint, request), kind))
        # A change is made even if nobody waits for the answer.
        leaving = [asyncio.ensure_future(_left(request))] if request.method in READING else []
        try:
            await asyncio.wait([running, *leaving], return_when=asyncio.FIRST_COMPLETED)
            # Nobody reads the empty answer of one who has left.
            return running.result() if running.done() else Response(status_code=204)
        finally:
            for task in (running, *leaving):
                task.cancel()

    return call


async def _left(request: Request) -> None:
    """Return when the client has hung up."""
    while (await request.receive())["type"] != "http.disconnect":
        pass


async def _handle_error(console: Console, request: Request, error: Exception) -> Response:
    return error_page(console, request, error)


async def _health(_: Request) -> Response:
    return PlainTextResponse("ok\n")


GROUP = "rt4chart.console"
OWN = (
    overview_page.SECTION,
    route_page.SECTION,
    compare_page.SECTION,
    answers_page.SECTION,
    alerts_page.SECTION,
    label_page.SECTION,
    try_page.SECTION,
    health_page.SECTION,
    settings_page.SECTION,
    views_page.SECTION,
)


def all_sections() -> list[Section]:
    """The console's sections and those of other packages, if their dependencies are installed."""
    found = list(OWN)
    for entry in entry_points(group=GROUP):
        try:
            section = entry.load()
        except ModuleNotFoundError:
            continue
        if isinstance(section, Section):
            found.append(section)
    return found
