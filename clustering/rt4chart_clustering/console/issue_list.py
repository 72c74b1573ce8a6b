"""The page /issues: the list of issues with filters, sorting and pages."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import Response

from rt4chart_clustering.console.ranking_cache import RankingCache
from rt4chart_clustering.grouping.issue_state import IssueState
from rt4chart_clustering.triage.filter import (
    BACK,
    GROWING,
    NEW,
    OPEN,
    IssueFilter,
    filter_issues,
    issue_marks,
)
from rt4chart_clustering.triage.find_issue import hex_id, short_ids
from rt4chart_clustering.triage.ranking import RankedIssue
from rt4chart_collector.console.app.console import Console
from rt4chart_collector.console.view.charts import sparkline
from rt4chart_collector.console.view.filters import percent, when
from rt4chart_collector.console.view.params import choice_param, integer_param, text_param
from rt4chart_collector.console.view.request_url import WINDOWS, request_url
from rt4chart_collector.console.view.table import (
    HTML,
    Column,
    Table,
    format_param,
    sort_param,
    sorted_rows,
)
from rt4chart_collector.console.view.urls import issue_url
from rt4chart_collector.core.times import iso

PAGE, MOST_PAGES = 50, 100_000
EMPTY = Markup(
    "No issues. <code>rt4chart cluster</code> groups the failures into issues; "
    "<code>rt4chart cluster --every 15m</code> repeats it every 15 minutes."
)
MARKS = {NEW: ("✦", "first day"), GROWING: ("↗", "growing"), BACK: ("↩", "regressed")}
SECOND_NS = 10**9


class IssueList:
    """The list of issues."""

    def __init__(self, console: Console, ranking: RankingCache) -> None:
        """Nothing is read yet."""
        self._console = console
        self._ranking = ranking

    def show(self, request: Request) -> Response:
        """GET /issues."""
        now_ns = self._console.clock()
        with self._console.store() as client:
            known = self._ranking.ranked_issues(client, now_ns)
        condition = filter_from(request, now_ns)
        found = filter_issues(known, condition)
        closed = sum(IssueState(one.issue.state).is_closed for one in known)
        routes = sorted({one.issue.route for one in known if one.issue.route})
        return self._console.table(
            request,
            _table(request, found, known, now_ns),
            "issues.html",
            routes=routes,
            states=tuple(IssueState),
            times=tuple(WINDOWS),
            closed=closed if request.query_params.get("state", "") == "" else 0,
            is_narrowed=len(found) < len(known) - closed,
        )


def filter_from(request: Request, now_ns: int) -> IssueFilter:
    """The filter in the query; by default, issues that are not closed, of any time."""
    state = choice_param(request, "state", ("", "all", *IssueState), "")
    since = choice_param(request, "since", ("", *WINDOWS), "")
    states = (
        frozenset(IssueState)
        if state == "all"
        else frozenset({IssueState(state)})
        if state
        else OPEN
    )
    return IssueFilter(
        states=states,
        service=text_param(request, "service") or None,
        route=text_param(request, "route") or None,
        since_ns=now_ns - WINDOWS[since] * SECOND_NS if since else 0,
        text=text_param(request, "q", longest=200),
    )


def _table(
    request: Request, found: Sequence[RankedIssue], known: Sequence[RankedIssue], now_ns: int
) -> Table[RankedIssue]:
    columns = _columns(short_ids([one.issue for one in known]), now_ns)
    sort = sort_param(request, columns, "-severity")
    page = integer_param(request, "page", default=1, low=1, high=MOST_PAGES)
    pages, url = ceil(len(found) / PAGE), request_url(request)
    is_page = format_param(request) == HTML
    rows = sorted_rows(found, columns, sort)[(page - 1) * PAGE : page * PAGE]
    kind = {} if is_page else {"format": format_param(request)}
    return Table(
        name="issues",
        title="Issues",
        rows=rows,
        columns=columns if is_page else _file_columns(columns, now_ns),
        empty=EMPTY if not known else "No matching issues. Remove filters, or choose all states.",
        sort=sort,
        more=url.replace(page=str(page + 1), **kind) if page < pages else "",
        back=url.replace(page=str(page - 1), **kind) if page > 1 else "",
        total=len(found),
    )


def _columns(ids: dict[int, str], now_ns: int) -> list[Column[RankedIssue]]:
    """The columns of the page; each also has a plain value, by which it is sorted."""
    return [
        Column("severity", "Severity", lambda one: round(one.severity.score, 1), _severity,
               is_sortable=True, hint="0 to 100, from failures a day and their share of the route"),
        Column("title", "Issue", lambda one: one.issue.title,
               lambda one: _title(one, ids[one.issue.id], now_ns), is_sortable=True),
        Column("state", "State", lambda one: one.issue.state,
               lambda one: state_chip(one.issue.state), is_sortable=True),
        Column("claims", "Claims", lambda one: one.issue.claims,
               lambda one: f"{one.issue.claims:,}", is_number=True, is_sortable=True,
               hint="stored failures"),
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


def _file_columns(columns: Sequence[Column[RankedIssue]], now_ns: int) -> list[Column[RankedIssue]]:
    """The columns of a CSV or JSON file: those of the page and more."""
    return [
        Column("id", "Id", lambda one: hex_id(one.issue.id)),
        *columns,
        Column("level", "Level", lambda one: str(one.severity.level)),
        Column("marks", "Marks", lambda one: " ".join(issue_marks(one, now_ns))),
        Column("service", "Service", lambda one: one.issue.service),
        Column("route", "Route", lambda one: one.issue.route),
        Column("fingerprint", "Fingerprint", lambda one: one.issue.fingerprint),
        Column("answers", "Answers", lambda one: one.issue.answers),
        Column("weighted", "Weighted", lambda one: round(one.issue.weighted, 2)),
    ]


def severity_chip(level: str, score: float) -> Markup:
    """A severity with its level, colour and score."""
    return Markup('<span class="chip chip-{0}">{0} {1:.0f}</span>').format(level, score)


def state_chip(state: str) -> Markup:
    """A state in its colour."""
    return Markup('<span class="chip state-{0}">{0}</span>').format(state)


def mark_chips(marks: Sequence[str]) -> Markup:
    """The marks of an issue: new, growing, regressed."""
    return Markup(" ").join(
        Markup('<span class="chip mark-{0}"><span aria-hidden="true">{1}</span> {2}</span>').format(
            name, *MARKS[name]
        )
        for name in marks
    )


def _severity(one: RankedIssue) -> Markup:
    return severity_chip(str(one.severity.level), one.severity.score)


def _sparkline(one: RankedIssue) -> Markup:
    daily = one.traffic.daily
    days = ", ".join(f"{day:.0f}" for day in daily)
    return sparkline(daily, f"failures a day over {len(daily)} days: {days}")


def _title(one: RankedIssue, short: str, now_ns: int) -> Markup:
    issue = one.issue
    return Markup(
        '<a class="issue-title" href="{}"><bdi>{}</bdi></a> {}<br>'
        '<span class="quiet small">{} · {}</span>'
    ).format(
        issue_url(issue.id),
        issue.title or hex_id(issue.id),
        mark_chips(issue_marks(one, now_ns)),
        short,
        " / ".join(filter(None, (issue.service, issue.route))) or "no route",
    )
