"""The page /issues/ID: one issue, its cause, and the actions on it."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import TypeAlias
from urllib.parse import quote

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from otel_rt4chart.core.errors import InputError
from rt4chart_clustering.console.failure_trend import HEIGHT, WIDTH, build_trend
from rt4chart_clustering.console.issue_list import (
    ACTION_LABELS,
    mark_chips,
    severity_chip,
    state_chip,
)
from rt4chart_clustering.console.ranking_cache import FRESH_NS, RankingCache
from rt4chart_clustering.description.pattern_names import pattern_name
from rt4chart_clustering.explain.diagnosis import Diagnosis, diagnose, load_failures
from rt4chart_clustering.explain.loss_stage import STAGE_ADVICE, STAGE_NAMES
from rt4chart_clustering.grouping.issue_state import IssueState, allowed_actions
from rt4chart_clustering.triage.filter import issue_marks
from rt4chart_clustering.triage.find_issue import find_issue, hex_id
from rt4chart_clustering.triage.issue_details import (
    IssueDetails,
    fix_of,
    load_details,
    refresh_trail,
)
from rt4chart_clustering.triage.ranking import RankedIssue
from rt4chart_collector.console.app.console import Console
from rt4chart_collector.console.view.params import choice_param
from rt4chart_collector.console.view.params import integer_param as number_of
from rt4chart_collector.console.view.table import HTML, CellValue, Column, Table, format_param
from rt4chart_collector.console.view.timed_cache import TimedCache
from rt4chart_collector.console.view.urls import answer_url, answers_url, issue_url
from rt4chart_collector.core.filters.filter_language import FilterTerm, written_filter
from rt4chart_collector.core.times import iso
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.issues.issue_events import IssueEvent
from rt4chart_collector.store.issues.issue_figures import FigurePart
from rt4chart_collector.store.issues.issues import Issue

Row: TypeAlias = tuple[CellValue, ...]
EXAMPLES, MAX_EXAMPLES, MAX_PARTS, MAX_EVENTS = 6, 60, 8, 100
# Issues whose details are cached.
MAX_CACHED = 32
DAYS = ("14", "30")
# The lists whose entries can be compared, by the `?by=` of the comparison.
COMPARED_BY = {"Models": "model", "Prompt versions": "prompt_version"}
# Failures that are diagnosed, fewer than the command's 10,000: a browser is waiting.
DIAGNOSED_FAILURES = 200
EVENT_TEXTS = {
    "born": "created the issue for",
    "titled": "set the title to",
    "renamed": "renamed it to",
    "summarised": "summarised it:",
    "state": "set the state to",
    "owner": "set the owner",
    "note": "added a note",
    "merged": "merged it into",
    "split": "split off",
    "proposed_merge": "proposed a merge",
    "refused_merge": "refused a merge with",
    "proposed_split": "proposed a split",
    "refused_split": "refused a split",
    "cause": "explained it",
    "trace_cause": "explained one of its traces",
    "no_cause": "found no cause:",
    "ticket": "recorded a ticket",
    "ignored_until": "ignored it until",
    "resolved_in": "resolved it in release",
}
VALUELESS_EVENTS = (
    "proposed_merge",
    "proposed_split",
    "cause",
    "trace_cause",
    "ticket",
    "refused_split",
    "ignored_until",
)


@dataclass(frozen=True, slots=True)
class FormError:
    """A refused form: its name, the reason, and the submitted fields."""

    form: str
    words: str
    typed: Mapping[str, str]


class IssuePage:
    """The page over one issue."""

    def __init__(self, console: Console, ranking: RankingCache) -> None:
        """Nothing is read yet."""
        self._console = console
        self._ranking = ranking
        self._cache: TimedCache[tuple[tuple[int, ...], int], IssueDetails]
        self._cache = TimedCache(most=MAX_CACHED, fresh_ns=FRESH_NS)

    def show(self, request: Request) -> Response:
        """GET /issues/ID; an alias redirects to its issue."""
        return self.show_page(request, None)

    def show_page(self, request: Request, wrong: FormError | None) -> Response:
        """The page; after a refused action with status 400, and the reason at the form."""
        console, now_ns = self._console, self._console.clock()
        days = int(choice_param(request, "days", DAYS, DAYS[0]))
        examples = number_of(request, "examples", default=EXAMPLES, low=1, high=MAX_EXAMPLES)
        with console.store() as client:
            known = self._ranking.ranked_issues(client, now_ns)
            ranked = _issue_named(known, request)
            if wrong is None and request.path_params["id"] != hex_id(ranked.issue.id):
                return RedirectResponse(issue_url(ranked.issue.id), 302)
            details = self._details(client, ranked.issue, examples)
        names = {row.issue.id: row.issue.title for row in known}
        if format_param(request) != HTML:
            return console.tables(request, _tables(details), "issue.html", title="")
        return console.page(
            request,
            "issue.html",
            title=ranked.issue.title or hex_id(ranked.issue.id),
            status=400 if wrong else 200,
            ranked=ranked,
            details=details,
            id=hex_id(ranked.issue.id),
            aliases=[hex_id(alias) for alias in ranked.issue.aliases],
            chips=_chips(ranked, now_ns),
            acts={
                str(act): ACTION_LABELS[act]
                for act in allowed_actions(IssueState(ranked.issue.state))
            },
            parts=_parts(details),
            steps=_steps(ranked.issue),
            traced=sum(step.claims for step in ranked.issue.steps),
            pattern=pattern_name(ranked.issue.fingerprint),
            compared_by=COMPARED_BY,
            fix=fix_of(details.cause or {}),
            titles={id: row.issue.title for row in known for id in row.issue.ids},
            trend=build_trend(details.profile.trend, now_ns=now_ns, days=days),
            size=(WIDTH, HEIGHT),
            days=days,
            trail=[_event_view(event, names) for event in reversed(details.trail[-MAX_EVENTS:])],
            merge=_merge(details, names),
            examples=examples,
            most_examples=MAX_EXAMPLES,
            wrong=wrong,
        )

    def back(self, request: Request) -> Response:
        """GET of a form's URL, such as a reload after an error: redirect to the issue."""
        return RedirectResponse(f"/issues/{quote(request.path_params['id'], safe='')}", 302)

    def why(self, request: Request) -> Response:
        """GET /issues/ID/why: where the evidence of some of its failures was lost."""
        with self._console.store() as client:
            issue = self.ranked(client, request).issue
            found = diagnose(client, load_failures(client, issue, limit=DIAGNOSED_FAILURES))
        return self._console.page(
            request,
            "issue_why.html" if "x-partial" in request.headers else "issue_why_page.html",
            title="Where the evidence was lost",
            stages=_stages(found),
            looked=found.total,
            issue=issue,
            id=hex_id(issue.id),
        )

    def _details(self, client: Client, issue: Issue, examples: int) -> IssueDetails:
        """The issue's details; figures and examples may be 20 seconds old, the trail is current."""
        key, now_ns = (issue.ids, examples), self._console.clock()
        details = self._cache.get(key, now_ns)
        if details is not None:
            return refresh_trail(client, details, issue)
        began_ns = time.monotonic_ns()
        details = load_details(client, issue, examples=examples)
        self._cache.put(key, details, now_ns, took_ns=time.monotonic_ns() - began_ns)
        return details

    def ranked(self, client: Client, request: Request) -> RankedIssue:
        """The issue in the URL; 404 if there is none."""
        return _issue_named(self._ranking.ranked_issues(client, self._console.clock()), request)


def _issue_named(known: Sequence[RankedIssue], request: Request) -> RankedIssue:
    try:
        issue = find_issue([row.issue for row in known], request.path_params["id"])
    except InputError as error:
        raise HTTPException(404, str(error)) from error
    return next(row for row in known if row.issue.id == issue.id)


def _chips(ranked: RankedIssue, now_ns: int) -> dict[str, object]:
    level = ranked.severity
    return {
        "severity": severity_chip(str(level.level), level.score),
        "state": state_chip(ranked.issue.state),
        "marks": mark_chips(issue_marks(ranked, now_ns)),
    }


def _parts(details: IssueDetails) -> dict[str, tuple[FigurePart, ...]]:
    """The most common routes, models and documents of the failures."""
    profile = details.profile
    found = {
        "Routes": profile.routes,
        "Models": profile.models,
        "Prompt versions": profile.prompts,
        "Documents named as evidence": profile.evidence,
        "Documents in the context": profile.context,
    }
    named = {name: tuple(part for part in parts if part.name) for name, parts in found.items()}
    return {name: parts[:MAX_PARTS] for name, parts in named.items() if parts}


def _steps(issue: Issue) -> list[tuple[FigurePart, str]]:
    """The steps in which the claims entered, each with the address of such answers."""
    return [
        (
            step,
            answers_url(
                service=issue.service,
                route=issue.route,
                q=written_filter([FilterTerm("step", step.name)]),
                since="30d",
            ),
        )
        for step in issue.steps[:MAX_PARTS]
    ]


def _event_view(event: IssueEvent, names: Mapping[int, str]) -> dict[str, object]:
    """An event for the template, with the other issue if it names one."""
    other = None
    if event.kind in ("merged", "split", "refused_merge") and event.value:
        other = int(event.value, 16)
    return {
        "at_ns": event.at_ns,
        "actor": event.actor,
        "kind": EVENT_TEXTS.get(event.kind, event.kind),
        "value": "" if other is not None else _event_value(event),
        "other": other,
        "other_title": names.get(other, hex_id(other)) if other is not None else "",
        # The note of a title is the number of claims, which only the software needs.
        "note": "" if event.kind == "titled" else event.note,
    }


def _event_value(event: IssueEvent) -> str:
    """What the event set, in words."""
    if event.kind in VALUELESS_EVENTS:
        return ""
    return pattern_name(event.value) if event.kind == "born" else event.value


def _merge(details: IssueDetails, names: Mapping[int, str]) -> dict[str, object] | None:
    """The issue that this one may be merged into."""
    if details.merge is None:
        return None
    into = int(str(details.merge["into"]), 16)
    likeness = details.merge.get("likeness")
    return {"into": into, "title": names.get(into, hex_id(into)), "likeness": likeness}


def _stages(found: Diagnosis) -> list[dict[str, object]]:
    return [
        {
            "words": STAGE_NAMES[lost],
            "count": found.counts[lost],
            "share": found.share(lost),
            "advice": STAGE_ADVICE[lost],
            "traces": found.traces[lost],
        }
        for lost in found.ordered
    ]


def _tables(details: IssueDetails) -> list[Table[Row]]:
    """The page's rows as files: `?format=&table=`."""
    answers = ("trace_id", "span_id", "claim", "answered_at", "label", "status", "question", "text",
               "used", "against", "url")  # fmt: skip
    events = ("at", "issue", "by", "kind", "value", "note")
    claims: list[Row] = [
        (
            *failure.key,
            iso(failure.time_ns),
            str(failure.label),
            str(failure.status),
            failure.question,
            failure.claim,
            "\n".join(one.text for one in failure.used),
            "\n".join(one.text for one in failure.against),
            answer_url(*failure.key),
        )
        for failure in details.typical
    ]
    trail: list[Row] = [
        (iso(event.at_ns), hex_id(event.issue), event.actor, event.kind, event.value, event.note)
        for event in details.trail
    ]
    steps: list[Row] = [(one.name, one.claims, one.weighted) for one in details.issue.steps]
    return [
        Table("examples", "Examples", claims, _positional_columns(answers)),
        Table("steps", "Steps", steps, _positional_columns(("step", "claims", "weighted"))),
        Table("trail", "History", trail, _positional_columns(events)),
    ]


def _positional_columns(names: Sequence[str]) -> list[Column[Row]]:
    return [Column(name, name, itemgetter(at)) for at, name in enumerate(names)]
