"""The page /issues: the list as `rt4chart issues` has it, narrowed, sorted, a page at a time."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import Response

from rt4chart_clustering.console.standings import Standings
from rt4chart_clustering.grouping.issue_state import State
from rt4chart_clustering.triage.filter import BACK, GROWING, NEW, OPEN, Wanted, marks_of, narrowed
from rt4chart_clustering.triage.find import short_ids, shown_id
from rt4chart_clustering.triage.overview import Standing
from rt4chart_collector.console.app.console import Console
from rt4chart_collector.console.view.charts import sparkline
from rt4chart_collector.console.view.filters import iso, percent, when
from rt4chart_collector.console.view.params import one_of, text_of, whole_of
from rt4chart_collector.console.view.request_url import WINDOWS, here_of
from rt4chart_collector.console.view.table import HTML, Column, Table, format_of, ordered, sort_of
from rt4chart_collector.console.view.urls import issue_url

PAGE, MOST_PAGES = 50, 100_000
EMPTY = Markup(
    "No issues. <code>rt4chart cluster</code> groups the failures that are there; "
    "<code>rt4chart cluster --every 15m</code> does so beside the service."
)
MARKS = {NEW: ("✦", "first day"), GROWING: ("↗", "growing"), BACK: ("↩", "back")}
SECOND_NS = 10**9


class IssueList:
    """The page over what is known of the issues."""

    def __init__(self, console: Console, standings: Standings) -> None:
        """Nothing is read yet."""
        self._console = console
        self._standings = standings

    def show(self, request: Request) -> Response:
        """GET /issues."""
        now_ns = self._console.clock()
        with self._console.store() as client:
            known = self._standings.known(client, now_ns)
        wanted = wanted_of(request, now_ns)
        found = narrowed(known, wanted)
        closed = sum(State(one.issue.state).is_closed for one in known)
        routes = sorted({one.issue.route for one in known if one.issue.route})
        return self._console.table(
            request,
            _table(request, found, known, now_ns),
            "issues.html",
            routes=routes,
            states=tuple(State),
            times=tuple(WINDOWS),
            closed=closed if request.query_params.get("state", "") == "" else 0,
            is_narrowed=len(found) < len(known) - closed,
        )


def wanted_of(request: Request, now_ns: int) -> Wanted:
    """What the query asks for; without a state those that are not closed, without a time all."""
    state = one_of(request, "state", ("", "all", *State), "")
    since = one_of(request, "since", ("", *WINDOWS), "")
    states = frozenset(State) if state == "all" else frozenset({State(state)}) if state else OPEN
    return Wanted(
        states=states,
        service=text_of(request, "service") or None,
        route=text_of(request, "route") or None,
        since_ns=now_ns - WINDOWS[since] * SECOND_NS if since else 0,
        text=text_of(request, "q", longest=200),
    )


def _table(
    request: Request, found: Sequence[Standing], known: Sequence[Standing], now_ns: int
) -> Table[Standing]:
    columns = _columns(short_ids([one.issue for one in known]), now_ns)
    sort = sort_of(request, columns, "-severity")
    page = whole_of(request, "page", default=1, low=1, high=MOST_PAGES)
    pages, here = ceil(len(found) / PAGE), here_of(request)
    is_page = format_of(request) == HTML
    rows = ordered(found, columns, sort)[(page - 1) * PAGE : page * PAGE]
    kind = {} if is_page else {"format": format_of(request)}
    return Table(
        name="issues",
        title="Issues",
        rows=rows,
        columns=columns if is_page else _plain(columns, now_ns),
        empty=EMPTY if not known else "No such issue: ask for less above, or for all states.",
        sort=sort,
        more=here.to(page=str(page + 1), **kind) if page < pages else "",
        back=here.to(page=str(page - 1), **kind) if page > 1 else "",
        total=len(found),
    )


def _columns(ids: dict[int, str], now_ns: int) -> list[Column[Standing]]:
    """The columns that people see; each has a plain value too, which it is sorted by."""
    return [
        Column("severity", "Severity", lambda one: round(one.severity.score, 1), _severity,
               is_sortable=True, hint="0 to 100, from failures a day and their share of the route"),
        Column("title", "Issue", lambda one: one.issue.title,
               lambda one: _title(one, ids[one.issue.id], now_ns), is_sortable=True),
        Column("state", "State", lambda one: one.issue.state,
               lambda one: state_chip(one.issue.state), is_sortable=True),
        Column("claims", "Claims", lambda one: one.issue.claims,
               lambda one: f"{one.issue.claims:,}", is_number=True, is_sortable=True,
               hint="failures that are kept"),
        Column("share", "Of route", lambda one: one.traffic.share,
               lambda one: percent(one.traffic.share), is_number=True, is_sortable=True,
               hint="of the route's decided claims in the last 7 days"),
        Column("daily", "7 days", lambda one: " ".join(f"{day:g}" for day in one.traffic.daily),
               _sparkline, hint="weighted failures a day, today last"),
        Column("last_seen", "Last seen", lambda one: iso(one.issue.last_ns),
               lambda one: when(one.issue.last_ns, now_ns), is_sortable=True),
        Column("first_seen", "First seen", lambda one: iso(one.issue.first_ns),
               lambda one: when(one.issue.first_ns, now_ns), is_sortable=True),
        Column("owner", "Owner", lambda one: one.issue.owner, is_sortable=True),
    ]  # fmt: skip


def _plain(columns: Sequence[Column[Standing]], now_ns: int) -> list[Column[Standing]]:
    """What a file has beside them."""
    return [
        Column("id", "Id", lambda one: shown_id(one.issue)),
        *columns,
        Column("level", "Level", lambda one: str(one.severity.level)),
        Column("marks", "Marks", lambda one: " ".join(marks_of(one, now_ns))),
        Column("service", "Service", lambda one: one.issue.service),
        Column("route", "Route", lambda one: one.issue.route),
        Column("fingerprint", "Fingerprint", lambda one: one.issue.fingerprint),
        Column("answers", "Answers", lambda one: one.issue.answers),
        Column("weighted", "Weighted", lambda one: round(one.issue.weighted, 2)),
    ]


def severity_chip(level: str, score: float) -> Markup:
    """A severity: its word, its colour, its number."""
    return Markup('<span class="chip chip-{0}">{0} {1:.0f}</span>').format(level, score)


def state_chip(state: str) -> Markup:
    """A state in its colour."""
    return Markup('<span class="chip state-{0}">{0}</span>').format(state)


def mark_chips(marks: Sequence[str]) -> Markup:
    """What is new, growing or back."""
    return Markup(" ").join(
        Markup('<span class="chip mark-{0}"><span aria-hidden="true">{1}</span> {2}</span>').format(
            name, *MARKS[name]
        )
        for name in marks
    )


def _severity(one: Standing) -> Markup:
    return severity_chip(str(one.severity.level), one.severity.score)


def _sparkline(one: Standing) -> Markup:
    daily = one.traffic.daily
    told = ", ".join(f"{day:.0f}" for day in daily)
    return sparkline(daily, f"failures a day over {len(daily)} days: {told}")


def _title(one: Standing, short: str, now_ns: int) -> Markup:
    issue = one.issue
    return Markup(
        '<a class="issue-title" href="{}"><bdi>{}</bdi></a> {}<br>'
        '<span class="quiet small">{} · {}</span>'
    ).format(
        issue_url(issue.id),
        issue.title or shown_id(issue),
        mark_chips(marks_of(one, now_ns)),
        short,
        " / ".join(filter(None, (issue.service, issue.route))) or "no route",
    )
