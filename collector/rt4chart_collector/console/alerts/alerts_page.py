"""The alert pages: open alerts, history, one alert, and the actions on it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path

from markupsafe import Markup
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from otel_rt4chart.verify.core.rates import Measure
from rt4chart_collector.console.alerts.alert_details import (
    IssueNote,
    alert_details,
    grown_issues,
    issue_notes,
)
from rt4chart_collector.console.alerts.answers_view import AnswersView, answers_view
from rt4chart_collector.console.alerts.comparison_links import change_urls, spans_url
from rt4chart_collector.console.alerts.entered import entered_note
from rt4chart_collector.console.alerts.incident_view import incident_view
from rt4chart_collector.console.app.console import Console
from rt4chart_collector.console.app.section import Section, page_routes
from rt4chart_collector.console.routes.route_rows import worst_first
from rt4chart_collector.console.view.filters import duration, link, when
from rt4chart_collector.console.view.paging import page_number, page_size, with_page_links
from rt4chart_collector.console.view.params import (
    bad_request,
    choice_param,
    id_param,
    is_partial,
    is_whole,
    text_param,
)
from rt4chart_collector.console.view.table import Column, Table
from rt4chart_collector.console.view.time_range import window_covering
from rt4chart_collector.console.view.urls import alert_url, answers_url, route_url
from rt4chart_collector.core.alerts.alert import Rule, Severity
from rt4chart_collector.core.alerts.facts import DriftFacts
from rt4chart_collector.core.alerts.silence import Silence
from rt4chart_collector.core.alerts.state import AlertState
from rt4chart_collector.core.times import iso
from rt4chart_collector.incident.read_incident import (
    read_asked_before,
    read_incident,
    rise_began_ns,
)
from rt4chart_collector.incident.timeline import timeline
from rt4chart_collector.incident.wording import notified_words
from rt4chart_collector.notify.next_step import next_step
from rt4chart_collector.store.alerts.alert_events import (
    MAX_ROWS,
    Episode,
    EpisodeFilter,
    accept,
    acknowledge,
    alert_history,
    alert_history_count,
    alert_state,
    alert_states,
    alert_trail,
    assign,
    link_ticket,
    resolve,
    retract,
    snooze,
)
from rt4chart_collector.store.alerts.silences import add_silence, remove_silence, silences
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.scope import QueryScope
from rt4chart_collector.store.issues.issue_events import events_of_all

MINUTE_NS = 60 * 10**9
# Lengths of a snooze or a maintenance window, in minutes.
DURATIONS = {"30 min": 30, "1 h": 60, "4 h": 240, "1 d": 1440, "7 d": 10_080}
MINUTE_CHOICES = tuple(map(str, DURATIONS.values()))
NOTE_LENGTH = 500
ACTS = ("ack", "resolve", "accept", "retract", "snooze", "assign", "link", "unlink")
# Open alerts on the list; the others are a link away.
MOST_OPEN = 20


def _route_cell(row: Episode) -> Markup | str:
    if not (row.alert.service or row.alert.route):
        return "–"
    return link(route_url(row.alert.service, row.alert.route), row.alert.route or "(no route)")


def _duration_s(row: Episode) -> float | None:
    return (row.ended_ns - row.fired_ns) / 1e9 if row.ended_ns else None


COLUMNS: Sequence[Column[Episode]] = (
    Column("fired", "Fired", lambda row: iso(row.fired_ns), lambda row: when(row.fired_ns)),
    Column(
        "severity",
        "Severity",
        lambda row: str(row.alert.severity),
        lambda row: Markup('<span class="severity severity-{0}">▲ {0}</span>').format(
            row.alert.severity
        ),
    ),
    Column("rule", "Rule", lambda row: str(row.alert.rule), is_minor=True),
    Column("service", "Service", lambda row: row.alert.service, is_exported_only=True),
    Column("route", "Route", lambda row: row.alert.route, _route_cell),
    Column(
        "title",
        "Alert",
        lambda row: row.alert.title,
        lambda row: link(alert_url(row.alert.id), row.alert.title),
        is_lead=True,
    ),
    Column("id", "Id", lambda row: row.alert.id, is_exported_only=True),
    Column(
        "lasted_s",
        "Duration",
        _duration_s,
        lambda row: duration(_duration_s(row)) if row.ended_ns else "open",
        is_number=True,
    ),
    Column("ended_by", "Ended by", lambda row: row.ended_by),
)


def show_alerts(console: Console, request: Request) -> Response:
    """GET /alerts: open alerts, silences, and the history by `?rule=&severity=&service=&route=`."""
    now_ns, limit = console.clock(), min(page_size(request), MAX_ROWS - 1)
    chosen = console.time_range(request)
    selection = EpisodeFilter(
        QueryScope(chosen.since_ns, chosen.until_ns),
        service_part=text_param(request, "service"),
        route_part=text_param(request, "route"),
        rule=choice_param(request, "rule", ("", *Rule), ""),
        severity=choice_param(request, "severity", ("", *Severity), ""),
    )
    begin = (page_number(request) - 1) * limit
    with console.store() as client:
        states = alert_states(client, now_ns=now_ns)
        active_silences = silences(client, now_ns)
        rows = alert_history(client, selection, limit=limit + 1, offset=begin)
        total = alert_history_count(client, selection)
    open_now = sorted((state for state in states if state.is_open), key=worst_first)
    is_short = choice_param(request, "open", ("", "all"), "") == ""
    empty = "No alerts fired in this time range. To test the targets: rt4chart alerts test."
    table = Table("history", "History", rows[:limit], COLUMNS, empty, total=total)
    return console.table(
        request,
        with_page_links(request, table, has_more=len(rows) > limit),
        "alerts.html",
        title="Alerts",
        open_now=open_now[:MOST_OPEN] if is_short else open_now,
        more_open=max(len(open_now) - MOST_OPEN, 0) if is_short else 0,
        silences=active_silences,
        rules=list(Rule),
        severities=list(Severity),
        selection=selection,
        spans=DURATIONS,
    )


def show_alert(console: Console, request: Request) -> Response:
    """GET /alerts/{id}: its state, facts and history.

    Of a risen rate, answers from before and since take longer, and the page asks for them when it
    is shown: `?partial=1` is these alone, `?part=whole` a page with both.
    """
    alert_id, now_ns = id_param(request, "id"), console.clock()
    has_answers = is_whole(request)
    if is_partial(request):
        return _show_answers(console, request, alert_id, now_ns)
    with console.reads() as reads:
        state = alert_state(reads.client, alert_id, now_ns=now_ns)
        if state is None:
            known = alert_states(reads.client, now_ns=now_ns)
            return RedirectResponse(alert_url(_full_id(known, alert_id)), 302)
        asked = reads.start(partial(_answers, state=state, now_ns=now_ns)) if has_answers else None
        began_ns = rise_began_ns(state, now_ns=now_ns)
        entered = reads.start(partial(entered_note, state=state, began_ns=began_ns, now_ns=now_ns))
        trail = reads.start(partial(alert_trail, alert_id=alert_id))
        noted = reads.start(partial(_issue_notes, state=state))
        incident = read_incident(reads, state, now_ns=now_ns)
        answers = asked.result() if asked else None
        events, notes, entry = trail.result(), noted.result(), entered.result()
    since_ns = state.alert.starts_ns or state.fired_ns
    view = None
    if incident is not None:
        since_ns, changes = incident.since_ns, [one.change for one in incident.changes]
        links = change_urls(state.alert, changes, past_ns=now_ns - since_ns)
        view = incident_view(incident, state, links)
    happened = timeline(
        state,
        events,
        began_ns=began_ns,
        changes=incident.seen if incident else (),
    )
    return console.page(
        request,
        "alert.html",
        title=state.alert.title,
        state=state,
        details=alert_details(state.alert.facts, notes),
        view=view,
        answers=answers,
        entered=entry,
        spans_url=spans_url(state.alert, since_ns, now_ns=state.resolved_ns or now_ns),
        happened=happened,
        notified=notified_words(happened),
        spans=DURATIONS,
        since_ns=0 if state.alert.rule == Rule.GROWING_ISSUE else since_ns,
        next_step=next_step(state.alert.rule),
        unfaithful_url=_unfaithful_url(state, now_ns - since_ns),
    )


def _issue_notes(client: Client, state: AlertState) -> Mapping[int, IssueNote]:
    issues = grown_issues(state.alert.facts)
    return issue_notes(events_of_all(client, issues)) if issues else {}


def _answers(client: Client, state: AlertState, now_ns: int) -> AnswersView | None:
    facts = state.alert.facts
    asked = read_asked_before(client, state, now_ns=now_ns)
    if asked is None or not isinstance(facts, DriftFacts):
        return None
    return answers_view(asked, facts.measure)


def _show_answers(console: Console, request: Request, alert_id: str, now_ns: int) -> Response:
    """The answers alone; 404 for an alert that has none."""
    with console.store() as client:
        state = alert_state(client, alert_id, now_ns=now_ns)
        answers = _answers(client, state, now_ns) if state else None
    if state is None or answers is None:
        raise HTTPException(404, f"expected the id of an alert on a risen rate, got {alert_id!r}")
    return console.page(request, "alert_answers.html", title=state.alert.title, answers=answers)


def act_on_alert(console: Console, request: Request) -> Response:
    """POST /alerts/{id}: `do` is an action, with a `note`; snooze has `minutes`, accept `sure`.

    assign has the `owner`, link and unlink the `url` of a ticket.
    """
    alert_id, actor = id_param(request, "id"), console.require_actor(request).name
    form, now_ns = console.form(request), console.clock()
    note = form.get("note", "")[:NOTE_LENGTH]
    with console.store() as client:
        match form.get("do", ""):
            case "ack":
                acknowledge(client, alert_id, actor=actor, now_ns=now_ns, note=note)
            case "resolve":
                resolve(client, alert_id, actor=actor, now_ns=now_ns, note=note)
            case "accept":
                if form.get("sure") != "on":
                    raise bad_request("sure", "the box to be ticked", form.get("sure", ""))
                accept(client, alert_id, actor=actor, now_ns=now_ns, note=note)
            case "retract":
                retract(client, alert_id, actor=actor, now_ns=now_ns, note=note)
            case "snooze":
                until_ns = now_ns + minutes_from(form.get("minutes", "")) * MINUTE_NS
                snooze(client, alert_id, until_ns=until_ns, actor=actor, now_ns=now_ns, note=note)
            case "assign":
                assign(client, alert_id, form.get("owner", ""), actor=actor, now_ns=now_ns)
            case "link" | "unlink" as do:
                url = form.get("url", "").strip()
                is_removed = do == "unlink"
                link_ticket(
                    client, alert_id, url, actor=actor, now_ns=now_ns, is_removed=is_removed
                )
            case other:
                raise bad_request("do", " or ".join(ACTS), other)
    return RedirectResponse(alert_url(alert_id), 303)


def change_silences(console: Console, request: Request) -> Response:
    """POST /silences: start a maintenance window now, or end a silence by its id."""
    actor, form = console.require_actor(request).name, console.form(request)
    now_ns = console.clock()
    with console.store() as client:
        if ended := form.get("remove", ""):
            remove_silence(client, ended, now_ns=now_ns)
        else:
            names = ("service", "route", "rule", "severity")
            fields = {name: form.get(name, "").strip()[:NOTE_LENGTH] for name in names}
            matchers = {name: value for name, value in fields.items() if value}
            until_ns = now_ns + minutes_from(form.get("minutes", "")) * MINUTE_NS
            note = form.get("note", "")[:NOTE_LENGTH]
            silence = Silence(now_ns, until_ns, matchers, actor, note)
            add_silence(client, silence, now_ns=now_ns)
    return RedirectResponse("/alerts", 303)


def _full_id(known: Iterable[AlertState], prefix: str) -> str:
    """The only id that starts with `prefix`, such as the short ids in lists; else 404."""
    found = [state.id for state in known if state.id.startswith(prefix.lower())]
    if len(found) != 1:
        raise HTTPException(404, f"expected the id of an alert, got {prefix!r}")
    return found[0]


def _unfaithful_url(state: AlertState, past_ns: int) -> str:
    """The route's unfaithful answers in the smallest time range that covers the alert, or ""."""
    alert = state.alert
    if not alert.route:
        return ""
    place = {"service": alert.service, "route": alert.route}
    measure = Measure.UNFAITHFUL
    if isinstance(alert.facts, DriftFacts):
        measure = alert.facts.measure
        place |= {"verifier": alert.facts.verifier} if alert.facts.verifier else {}
    return answers_url(**place, measure=measure, since=window_covering(past_ns), order="worst")


def minutes_from(written: str) -> int:
    """One of the lengths that the page offers, in minutes."""
    if written not in MINUTE_CHOICES:
        raise bad_request("minutes", " or ".join(MINUTE_CHOICES), written)
    return int(written)


ROUTES = page_routes(
    ("GET", "/alerts", show_alerts),
    ("GET", "/alerts/{id}", show_alert),
    ("POST", "/alerts/{id}", act_on_alert),
    ("POST", "/silences", change_silences),
)
SECTION = Section("Alerts", "/alerts", ROUTES, Path(__file__).parent / "templates", order=30)
