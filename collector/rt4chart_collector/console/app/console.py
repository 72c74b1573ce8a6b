"""What all pages of the console share: store access, templates, sessions and settings."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from threading import Thread
from typing import Any, TypeVar

from jinja2 import Environment
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from otel_rt4chart.core.errors import StoreError
from otel_rt4chart.judges.answer_verdicts import Clock
from rt4chart_collector.console.app.access import Access
from rt4chart_collector.console.app.client_pool import ClientPool, TenantPool
from rt4chart_collector.console.app.label_findings import FindingsCache
from rt4chart_collector.console.app.page_threads import check_awaited
from rt4chart_collector.console.app.process_info import ProcessInfo
from rt4chart_collector.console.app.section import Section
from rt4chart_collector.console.app.session import Actor, ConsoleSession, Sessions
from rt4chart_collector.console.view.params import choice_param, text_param
from rt4chart_collector.console.view.request_url import request_url
from rt4chart_collector.console.view.table import (
    HTML,
    Table,
    export_response,
    format_param,
    with_chosen_columns,
)
from rt4chart_collector.console.view.time_range import WINDOWS, TimeRange, time_range
from rt4chart_collector.console.view.timed_cache import TimedCache
from rt4chart_collector.core.logs import LogThrottle
from rt4chart_collector.core.settings import ConsoleSettings
from rt4chart_collector.core.token_guard import TokenGuard
from rt4chart_collector.core.tokens import Purpose
from rt4chart_collector.store.engine.concurrent_reads import ConcurrentReads
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.scope import QueryScope
from rt4chart_collector.store.rates.traffic import busiest_routes
from rt4chart_collector.store.rates.verifiers import main_verifier
from rt4chart_collector.store.views.saved_views import SavedView, saved_views

SECOND_NS = 10**9
VERIFIER_CACHE_S = 15
# The routes that are suggested: how many, of how long, and how long they are kept.
MAX_ROUTES, ROUTES_PAST_NS, ROUTES_CACHE_NS = 500, 30 * 86_400 * SECOND_NS, 30 * SECOND_NS
# People whose saved views are kept, and for how long.
MAX_PEOPLE, VIEWS_CACHE_NS = 256, 15 * SECOND_NS
THEME = "rt4chart_theme"
THEMES = ("auto", "light", "dark")
_Row = TypeVar("_Row")


class Console:
    """The services that pages use; safe to use from any thread."""

    def __init__(
        self,
        pool: ClientPool | TenantPool,
        settings: ConsoleSettings,
        environment: Environment,
        sections: Sequence[Section],
        facts: ProcessInfo,
        *,
        clock: Clock,
        guard: TokenGuard,
        sessions: Sessions | None = None,
        tenant: str = "",
    ) -> None:
        """Does not access the store.

        A console of a `tenant` has a pool that shows this tenant alone, and the `sessions` of the
        console of all, with which people sign in.
        """
        self.settings = settings
        self.facts = facts
        self.clock = clock
        self._guard = guard
        sources = guard.sources
        self.tenant = tenant
        self.sessions = sessions or Sessions(
            sources.get(Purpose.CONSOLE), sources.get(Purpose.ADMIN)
        )
        self.access = Access(settings, self.sessions, guard)
        self.store_errors = LogThrottle()
        self._background: list[Thread] = []
        self._of_tenants: list[Console] = []
        self._pool = pool
        # Half of a page's time is left for the page itself.
        self.label_findings = FindingsCache(
            self.store, self.run_in_background, settings.console_page_s / 2, pool.background
        )
        self._environment = environment
        self._sections = sections
        ordered = sorted(sections, key=lambda section: (section.order, section.title))
        self.navigation = [section for section in ordered if section.title]
        # What finds pages and issues is of all tenants.
        self._finders = [one.finder for one in ordered if one.finder and not tenant]
        self._routes: TimedCache[str, list[tuple[str, str]]]
        self._routes = TimedCache(most=1, fresh_ns=ROUTES_CACHE_NS)
        self._views: TimedCache[str, list[SavedView]]
        self.forget_views()
        self._verifier: tuple[int, str] = (0, "")

    def of_tenant(self, pool: TenantPool, tenant: str, paths: Collection[str]) -> Console:
        """The console of one tenant, with the sections at these paths: it shares nothing read."""
        own = Console(
            pool,
            self.settings,
            self._environment,
            [section for section in self._sections if section.path in paths],
            ProcessInfo(),
            clock=self.clock,
            guard=self._guard,
            sessions=self.sessions,
            tenant=tenant,
        )
        self._of_tenants.append(own)
        return own

    @property
    def now_s(self) -> int:
        """Seconds since the epoch."""
        return self.clock() // SECOND_NS

    def store(self) -> AbstractContextManager[Client]:
        """A client for this thread while the block runs; StoreError if none is free."""
        return self._pool.client()

    @contextmanager
    def reads(self) -> Iterator[ConcurrentReads]:
        """Like `store`, for several reads: two at a time where a second client is free at once."""
        with (
            self._pool.client() as client,
            ConcurrentReads(client, self._pool.spare, check_awaited) as reads,
        ):
            yield reads

    def time_range(self, request: Request) -> TimeRange:
        """The time range of the page: `?since=`, or `?from=` and `?to=`."""
        return time_range(request, self.clock())

    def scope(self, request: Request) -> QueryScope:
        """The time range and the verifier of the page."""
        chosen = self.time_range(request)
        return QueryScope(chosen.since_ns, chosen.until_ns, self.verifier(request))

    def route_scope(self, request: Request) -> QueryScope:
        """The time range of the page, and its `?service=` and `?route=` if it has them."""
        service, route = text_param(request, "service"), text_param(request, "route")
        chosen = self.time_range(request)
        return QueryScope(
            chosen.since_ns, chosen.until_ns, service=service or None, route=route or None
        )

    def verifier(self, request: Request) -> str:
        """The verifier whose verdicts are shown: `?verifier=`, else the main one, "" if none."""
        return text_param(request, "verifier") or self.main_verifier()

    def main_verifier(self) -> str:
        """The main verifier, read every few seconds; "" if there is none."""
        since_s, known = self._verifier
        if known and self.now_s - since_s < VERIFIER_CACHE_S:
            return known
        with self.store() as client:
            found = main_verifier(client, self.clock())
        self._verifier = (self.now_s, found)
        return found

    def saved_views(self, owner: str) -> list[SavedView]:
        """The views of a person and of everybody, read every few seconds.

        Every page lists them, so that without the database, or in one of an earlier version, there
        are none.
        """
        known = self._views.get(owner, self.clock())
        if known is not None:
            return known
        try:
            with self.store() as client:
                known = saved_views(client, owner)
        except StoreError:
            known = []
        self._views.put(owner, known, self.clock())
        return known

    def forget_views(self) -> None:
        """Read the saved views anew, as after a change."""
        self._views = TimedCache(most=MAX_PEOPLE, fresh_ns=VIEWS_CACHE_NS)

    def known_routes(self) -> list[tuple[str, str]]:
        """Service and route of those with the most claims in 30 days, read every half minute."""
        now_ns, verifier = self.clock(), self.main_verifier()
        known = self._routes.get(verifier, now_ns)
        if known is None:
            with self.store() as client:
                known, _ = busiest_routes(
                    client,
                    since_ns=now_ns - ROUTES_PAST_NS,
                    now_ns=now_ns,
                    verifier=verifier,
                    limit=MAX_ROUTES,
                )
            self._routes.put(verifier, known, now_ns)
        return known

    def page(
        self, request: Request, template: str, *, title: str, status: int = 200, **values: object
    ) -> Response:
        """Render a template with `values` and the values that `base.html` needs."""
        session = session_of(request)
        context: dict[str, object] = {
            "title": title,
            "status": status,
            "request": request,
            "request_url": request_url(request),
            "navigation": self.navigation,
            "finders": self._finders,
            "views": self.saved_views(session.actor.name) if session else [],
            "csrf": self.sessions.csrf(session) if session else "",
            "session": session,
            "tenant": self.tenant,
            "is_readonly": session is None or not self.access.may_change(session),
            "needs_admin": session is not None and self.access.takes_token(session),
            "theme": self._theme(request),
            "windows": tuple(WINDOWS),
            "time_range": _time_range_or_default(request, self.clock()),
            "now_ns": self.clock(),
            **values,
        }
        return HTMLResponse(self._environment.get_template(template).render(context), status)

    def table(
        self, request: Request, table: Table[_Row], template: str, **values: object
    ) -> Response:
        """A page with one table, as `table`; with `?format=` that table as CSV or JSON."""
        kind = format_param(request)
        if kind != HTML:
            return export_response(table, kind, f"rt4chart-{table.name}")
        table = with_chosen_columns(request, table)
        context: dict[str, Any] = {"title": table.title, **values}
        return self.page(request, template, table=table, **context)

    def tables(
        self,
        request: Request,
        tables: Sequence[Table[_Row]],
        template: str,
        *,
        title: str,
        status: int = 200,
        **values: object,
    ) -> Response:
        """A page with several tables, as `tables` by name; `?format=&table=` exports one."""
        kind = format_param(request)
        if kind == HTML:
            context: dict[str, Any] = {**values, "tables": {table.name: table for table in tables}}
            return self.page(request, template, title=title, status=status, **context)
        name = choice_param(request, "table", [table.name for table in tables], tables[0].name)
        table = next(table for table in tables if table.name == name)
        return export_response(table, kind, f"rt4chart-{name}")

    def form(self, request: Request) -> Mapping[str, str]:
        """The fields of a posted form."""
        form: Mapping[str, str] = request.scope.get("rt4chart.form", {})
        return form

    def require_actor(self, request: Request) -> Actor:
        """The person who makes a change; HTTPException 403 if changes are not allowed.

        The middleware has already checked the session, the form's token and its origin.
        """
        session = session_of(request)
        if session is None or request.method != "POST" or "rt4chart.form" not in request.scope:
            raise HTTPException(403, "expected a form of this console, got another request")
        self.access.check_change(session)
        return session.actor

    def run_in_background(self, name: str, call: Callable[[], None]) -> None:
        """Run a call in the background, in a thread that the shutdown waits for."""
        thread = Thread(target=call, name=name, daemon=True)
        self._background = [*(one for one in self._background if one.is_alive()), thread]
        thread.start()

    @property
    def alive(self) -> list[Thread]:
        """The background threads that are running, those for tenants too."""
        of_tenants = [thread for own in self._of_tenants for thread in own.alive]
        return [*(thread for thread in self._background if thread.is_alive()), *of_tenants]

    def close(self) -> None:
        """Close the connections to the store."""
        self._pool.close()

    @staticmethod
    def _theme(request: Request) -> str:
        theme = request.cookies.get(THEME, "auto")
        return theme if theme in THEMES else "auto"


def session_of(request: Request) -> ConsoleSession | None:
    """The session of the request."""
    session = request.scope.get("rt4chart.session")
    return session if isinstance(session, ConsoleSession) else None


def _time_range_or_default(request: Request, now_ns: int) -> TimeRange:
    """The time range of the page; one that cannot be read, on the page that says so, is none."""
    try:
        return time_range(request, now_ns)
    except HTTPException:
        return TimeRange(0, now_ns)
