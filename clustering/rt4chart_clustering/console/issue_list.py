"""The page /issues: the list of issues with filters, sorting and pages."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import Response

from rt4chart_clustering.console.ranking_cache import FRESH_NS, RankingCache
from rt4chart_clustering.grouping.issue_state import IssueState
from rt4chart_clustering.triage.filter import (
    BACK,
    GROWING,
    ISSUE_KEYS,
    NEW,
    OPEN,
    IssueFilter,
    filter_issues,
    issue_marks,
    urgency,
)
from rt4chart_clustering.triage.find_issue import hex_id, short_ids
from rt4chart_clustering.triage.grouping_status import (
    GroupingStatus,
    grouping_status,
    run_outcome,
    waiting_text,
)
from rt4chart_clustering.triage.ranking import RankedIssue
from rt4chart_collector.console.app.console import Console
from rt4chart_collector.console.finding.find_page import (
    LONGEST,
    MOST_OF_A_KIND,
    FoundPage,
    found_response,
)
from rt4chart_collector.console.view.charts import sparkline
from rt4chart_collector.console.view.filter_terms import read_terms
from rt4chart_collector.console.view.filters import percent, when
from rt4chart_collector.console.view.paging import page_of_table
from rt4chart_collector.console.view.params import choice_param, text_param
from rt4chart_collector.console.view.request_url import TIME_PARAMS
from rt4chart_collector.console.view.table import Column, Table, sort_param, sorted_rows
from rt4chart_collector.console.view.time_range import TimeRange, time_range
from rt4chart_collector.console.view.timed_cache import TimedCache
from rt4chart_collector.console.view.urls import issue_url
from rt4chart_collector.core.filters.filter_language import MAX_CHARS, FilterTerm
from rt4chart_collector.core.times import iso
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.scope import MAX_TIME_NS

EMPTY = Markup(
    "No issues. <code>rt4chart up</code> groups failures every 15 minutes (RT4CHART_GROUPING); "
    "<code>rt4chart cluster</code> groups them now. An issue needs several similar failures."
)
MARKS = {NEW: ("✦", "first day"), GROWING: ("↗", "growing"), BACK: ("↩", "regressed")}
# The form under the list: the name of its element, and what its checkboxes' names begin with.
BULK, CHOSEN = "bulk", "issue-"
ACTION_LABELS = {"ack": "Acknowledge", "resolve": "Resolve", "reopen": "Reopen", "ignore": "Ignore"}


class IssueList:
    """The list of issues."""

    def __init__(self, console: Console, ranking: RankingCache) -> None:
        """Nothing is read yet."""
        self._console = console
        self._ranking = ranking
        self._status: TimedCache[str, GroupingStatus] = TimedCache(most=1, fresh_ns=FRESH_NS)

    def show(self, request: Request) -> Response:
        """GET /issues."""
        now_ns = self._console.clock()
        with self._console.store() as client:
            known = self._ranking.ranked_issues(client, now_ns)
            status = self._grouping_status(client, now_ns)
        written = text_param(request, "q", longest=MAX_CHARS)
        terms, problem = read_terms(request, written, ISSUE_KEYS)
        condition = filter_from(request, now_ns, terms)
        found = [] if problem else filter_issues(known, condition, now_ns)
        closed = sum(IssueState(ranked.issue.state).is_closed for ranked in known)
        routes = sorted({ranked.issue.route for ranked in known if ranked.issue.route})
        return self._console.table(
            request,
            _table(request, found, known, now_ns),
            "issues.html",
            status=400 if problem else 200,
            written=written,
            problem=problem,
            keys=ISSUE_KEYS,
            routes=routes,
            states=tuple(IssueState),
            is_any_time=chosen_time(request, now_ns) is None,
            last_run=status.last,
            outcome=run_outcome(status.last) if status.last else "",
            waiting=waiting_text(status.waiting),
            acts=ACTION_LABELS,
            closed=closed if condition.states is OPEN and not problem else 0,
            is_narrowed=len(found) < len(known) - closed,
        )

    def find(self, request: Request) -> Response:
        """GET /issues/find?q=: open issues by their words, for the palette."""
        words, now_ns = text_param(request, "q", longest=LONGEST), self._console.clock()
        if not words:
            return found_response(iter(()))
        with self._console.store() as client:
            known = self._ranking.ranked_issues(client, now_ns)
        terms = tuple(FilterTerm("", word) for word in words.split())
        found = filter_issues(known, IssueFilter(terms=terms), now_ns)[:MOST_OF_A_KIND]
        return found_response(
            FoundPage(one.issue.title or hex_id(one.issue.id), "issue", issue_url(one.issue.id))
            for one in found
        )

    def _grouping_status(self, client: Client, now_ns: int) -> GroupingStatus:
        """The status, which may be 20 seconds old: counting what waits reads a week of failures."""
        status = self._status.get("", now_ns)
        if status is None:
            began_ns = time.monotonic_ns()
            status = grouping_status(client, now_ns=now_ns)
            self._status.put("", status, now_ns, took_ns=time.monotonic_ns() - began_ns)
        return status


def chosen_time(request: Request, now_ns: int) -> TimeRange | None:
    """The time range in the query; None for any time."""
    is_chosen = any(request.query_params.get(name) for name in TIME_PARAMS)
    return time_range(request, now_ns) if is_chosen else None


def filter_from(request: Request, now_ns: int, terms: Sequence[FilterTerm]) -> IssueFilter:
    """The filter in the query; by default, issues that are not closed, of any time."""
    state = choice_param(request, "state", ("", "all", *IssueState), "")
    chosen = chosen_time(request, now_ns)
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
        since_ns=chosen.since_ns if chosen else 0,
        until_ns=chosen.until_ns if chosen else MAX_TIME_NS,
        terms=terms,
    )


def _table(
    request: Request, found: Sequence[RankedIssue], known: Sequence[RankedIssue], now_ns: int
) -> Table[RankedIssue]:
    columns = _columns(short_ids([ranked.issue for ranked in known]), now_ns)
    sort = sort_param(request, columns, "-urgency")
    empty = EMPTY if not known else "No matching issues. Remove filters, or choose all states."
    rows = sorted_rows(found, columns, sort)
    return page_of_table(request, Table("issues", "Issues", rows, columns, empty, sort))


def _columns(ids: Mapping[int, str], now_ns: int) -> list[Column[RankedIssue]]:
    """The columns; each also has a plain value, for files and by which it is sorted."""
    return [
        Column("id", "Id", lambda row: hex_id(row.issue.id), is_exported_only=True),
        Column("urgency", "Urgency", lambda row: urgency(row, now_ns), is_sortable=True,
               is_exported_only=True),
        Column("severity", "Severity", lambda row: round(row.severity.score, 1), _severity,
               is_sortable=True, hint="0 to 100, from failures a day and their share of the route"),
        Column("title", "Issue", lambda row: row.issue.title,
               lambda row: _title(row, ids[row.issue.id], now_ns), is_sortable=True,
               is_lead=True),
        Column("state", "State", lambda row: row.issue.state,
               lambda row: state_chip(row.issue.state), is_sortable=True),
        Column("claims", "Claims", lambda row: row.issue.claims,
               lambda row: f"{row.issue.claims:,}", is_number=True, is_sortable=True,
               hint="stored failures"),
        Column("share", "Of route", lambda row: row.traffic.share,
               lambda row: percent(row.traffic.share), is_number=True, is_sortable=True,
               hint="of the route's decided claims in the last 7 days"),
        Column("measure", "Counted as", lambda row: str(row.measure), is_sortable=True,
               is_minor=True,
               hint="unfaithful: contradicted or baseless; misleading: true, but not all of it"),
        Column("daily", "7 days", lambda row: " ".join(f"{day:g}" for day in row.traffic.daily),
               _sparkline, hint="weighted failures a day, today last"),
        Column("last_seen", "Last seen", lambda row: iso(row.issue.last_ns),
               lambda row: when(row.issue.last_ns, now_ns), is_sortable=True),
        Column("first_seen", "First seen", lambda row: iso(row.issue.first_ns),
               lambda row: when(row.issue.first_ns, now_ns), is_sortable=True, is_minor=True),
        Column("owner", "Owner", lambda row: row.issue.owner, is_sortable=True),
        Column("level", "Level", lambda row: str(row.severity.level), is_exported_only=True),
        Column("marks", "Marks", lambda row: " ".join(issue_marks(row, now_ns)),
               is_exported_only=True),
        Column("service", "Service", lambda row: row.issue.service, is_exported_only=True),
        Column("route", "Route", lambda row: row.issue.route, is_exported_only=True),
        Column("fingerprint", "Fingerprint", lambda row: row.issue.fingerprint,
               is_exported_only=True),
        Column("step", "Step", lambda row: row.issue.steps[0].name if row.issue.steps else "",
               is_exported_only=True),
        Column("answers", "Answers", lambda row: row.issue.answers, is_exported_only=True),
        Column("weighted", "Weighted", lambda row: round(row.issue.weighted, 2),
               is_exported_only=True),
    ]  # fmt: skip


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


def _severity(row: RankedIssue) -> Markup:
    return severity_chip(str(row.severity.level), row.severity.score)


def _sparkline(row: RankedIssue) -> Markup:
    daily = row.traffic.daily
    days = ", ".join(f"{day:.0f}" for day in daily)
    return sparkline(daily, f"failures a day over {len(daily)} days: {days}")


def _title(row: RankedIssue, short: str, now_ns: int) -> Markup:
    issue = row.issue
    return Markup(
        '<input type="checkbox" name="{}{}" form="{}" aria-label="{}"> '
        '<a class="issue-title" href="{}"><bdi>{}</bdi></a> {}<br>'
        '<span class="quiet small">{} · {}</span>'
    ).format(
        CHOSEN,
        hex_id(issue.id),
        BULK,
        f"Choose {short}",
        issue_url(issue.id),
        issue.title or hex_id(issue.id),
        mark_chips(issue_marks(row, now_ns)),
        short,
        " / ".join(filter(None, (issue.service, issue.route))) or "no route",
    )
