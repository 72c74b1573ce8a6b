"""The page /issues/ID: one issue, why it happens, and what a person can do."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import TypeAlias
from urllib.parse import quote

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from otel_rt4chart.core.errors import InputError
from rt4chart_clustering.console.issue_list import mark_chips, severity_chip, state_chip
from rt4chart_clustering.console.standings import FRESH_NS, Standings
from rt4chart_clustering.console.trend import HEIGHT, WIDTH, trend_of
from rt4chart_clustering.explain.diagnosis import Diagnosis, diagnose
from rt4chart_clustering.explain.members import failures_of
from rt4chart_clustering.explain.stage import ADVICE, WORDS
from rt4chart_clustering.grouping.issue_state import State, acts_in
from rt4chart_clustering.triage.filter import marks_of
from rt4chart_clustering.triage.find import find, hex_of, shown_id
from rt4chart_clustering.triage.overview import Standing
from rt4chart_clustering.triage.whole import Whole, retold, whole_of
from rt4chart_collector.console.app.console import Console
from rt4chart_collector.console.view.filters import iso
from rt4chart_collector.console.view.params import one_of
from rt4chart_collector.console.view.params import whole_of as number_of
from rt4chart_collector.console.view.table import HTML, Column, Plain, Table, format_of
from rt4chart_collector.console.view.urls import answer_url, issue_url
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.issues.issue_events import Event
from rt4chart_collector.store.issues.issue_figures import FigurePart
from rt4chart_collector.store.issues.issues import Issue

Row: TypeAlias = tuple[Plain, ...]
EXAMPLES, MOST_EXAMPLES, PARTS, TRAIL = 6, 60, 8, 100
# Issues whose figures are kept for those who look again.
KEPT = 32
DAYS = ("14", "30")
# Failures whose lost evidence is looked for while somebody waits; the command takes 10,000.
EXPLAINED = 200
ACTS = {"ack": "Acknowledge", "resolve": "Resolve", "reopen": "Reopen", "ignore": "Ignore"}
KINDS = {
    "born": "was found",
    "titled": "was titled",
    "renamed": "was renamed",
    "summarised": "was summarised",
    "state": "is",
    "owner": "is owned by",
    "note": "note",
    "merged": "became part of",
    "split": "was split:",
    "proposed_merge": "merge proposed",
    "refused_merge": "merge refused:",
    "proposed_split": "split proposed",
    "refused_split": "split refused",
    "cause": "was explained",
    "ticket": "ticket",
}
WORDLESS = ("proposed_merge", "proposed_split", "cause", "ticket", "refused_split")


@dataclass(frozen=True, slots=True)
class Wrong:
    """What was refused: the form's name, the reason in words, and what was typed."""

    form: str
    words: str
    typed: Mapping[str, str]


class IssuePage:
    """The page over one issue."""

    def __init__(self, console: Console, standings: Standings) -> None:
        """Nothing is read yet."""
        self._console = console
        self._standings = standings
        self._lock = threading.Lock()
        self._kept: dict[tuple[tuple[int, ...], int], tuple[int, Whole]] = {}

    def show(self, request: Request) -> Response:
        """GET /issues/ID; an alias leads to the issue that it is part of."""
        return self.again(request, None)

    def again(self, request: Request, wrong: Wrong | None) -> Response:
        """The page; with status 400 and the reason at the form where something was refused."""
        console, now_ns = self._console, self._console.clock()
        days = int(one_of(request, "days", DAYS, DAYS[0]))
        examples = number_of(request, "examples", default=EXAMPLES, low=1, high=MOST_EXAMPLES)
        with console.store() as client:
            known = self._standings.known(client, now_ns)
            standing = _named(known, request)
            if wrong is None and request.path_params["id"] != shown_id(standing.issue):
                return RedirectResponse(issue_url(standing.issue.id), 302)
            whole = self._whole(client, standing.issue, examples)
        names = {one.issue.id: one.issue.title for one in known}
        if format_of(request) != HTML:
            return console.tables(request, _tables(whole), "issue.html", title="")
        return console.page(
            request,
            "issue.html",
            title=standing.issue.title or shown_id(standing.issue),
            status=400 if wrong else 200,
            one=standing,
            whole=whole,
            id=shown_id(standing.issue),
            aliases=[hex_of(one) for one in standing.issue.aliases],
            chips=_chips(standing, now_ns),
            acts={str(act): ACTS[act] for act in acts_in(State(standing.issue.state))},
            parts=_parts(whole),
            trend=trend_of(whole.profile.trend, now_ns=now_ns, days=days),
            size=(WIDTH, HEIGHT),
            days=days,
            trail=[_told(event, names) for event in reversed(whole.trail[-TRAIL:])],
            merge=_merge(whole, names),
            examples=examples,
            most_examples=MOST_EXAMPLES,
            wrong=wrong,
        )

    def back(self, request: Request) -> Response:
        """GET of an address that forms are sent to, such as after a refusal: to the issue."""
        return RedirectResponse(f"/issues/{quote(request.path_params['id'], safe='')}", 302)

    def why(self, request: Request) -> Response:
        """GET /issues/ID/why: where the evidence of some of its failures was lost."""
        with self._console.store() as client:
            issue = self.standing(client, request).issue
            found = diagnose(client, failures_of(client, issue, limit=EXPLAINED))
        return self._console.page(
            request,
            "issue_why.html" if "x-partial" in request.headers else "issue_why_page.html",
            title="Where the evidence was lost",
            stages=_stages(found),
            looked=found.total,
            issue=issue,
            id=shown_id(issue),
        )

    def _whole(self, client: Client, issue: Issue, examples: int) -> Whole:
        """Its figures and examples may be 20 seconds old, its trail is that of now."""
        key, now_ns = (issue.ids, examples), self._console.clock()
        with self._lock:
            kept = self._kept.get(key)
        if kept is not None and now_ns - kept[0] < FRESH_NS:
            return retold(client, kept[1], issue)
        whole = whole_of(client, issue, examples=examples)
        with self._lock:
            while len(self._kept) >= KEPT:
                del self._kept[next(iter(self._kept))]
            self._kept[key] = (now_ns, whole)
        return whole

    def standing(self, client: Client, request: Request) -> Standing:
        """The issue that the address names; 404 where there is none."""
        return _named(self._standings.known(client, self._console.clock()), request)


def _named(known: Sequence[Standing], request: Request) -> Standing:
    try:
        issue = find([one.issue for one in known], request.path_params["id"])
    except InputError as error:
        raise HTTPException(404, str(error)) from error
    return next(one for one in known if one.issue.id == issue.id)


def _chips(standing: Standing, now_ns: int) -> dict[str, object]:
    level = standing.severity
    return {
        "severity": severity_chip(str(level.level), level.score),
        "state": state_chip(standing.issue.state),
        "marks": mark_chips(marks_of(standing, now_ns)),
    }


def _parts(whole: Whole) -> dict[str, tuple[FigurePart, ...]]:
    """Where its failures are; the documents that the judge named come first."""
    profile = whole.profile
    found = {
        "Routes": profile.routes,
        "Models": profile.models,
        "Prompt versions": profile.prompts,
        "Documents named as evidence": profile.evidence,
        "Documents in the context": profile.context,
    }
    named = {name: tuple(part for part in parts if part.name) for name, parts in found.items()}
    return {name: parts[:PARTS] for name, parts in named.items() if parts}


def _told(event: Event, names: Mapping[int, str]) -> dict[str, object]:
    """An event in words; the other issue where it names one."""
    other = None
    if event.kind in ("merged", "split", "refused_merge") and event.value:
        other = int(event.value, 16)
    return {
        "at_ns": event.at_ns,
        "actor": event.actor,
        "kind": KINDS.get(event.kind, event.kind),
        "value": "" if event.kind in WORDLESS or other is not None else event.value,
        "other": other,
        "other_title": names.get(other, hex_of(other)) if other is not None else "",
        # What the software notes at a title is a count for itself.
        "note": "" if event.kind == "titled" else event.note,
    }


def _merge(whole: Whole, names: Mapping[int, str]) -> dict[str, object] | None:
    """The issue that this one may be the same as."""
    if whole.merge is None:
        return None
    into = int(str(whole.merge["into"]), 16)
    likeness = whole.merge.get("likeness")
    return {"into": into, "title": names.get(into, hex_of(into)), "likeness": likeness}


def _stages(found: Diagnosis) -> list[dict[str, object]]:
    return [
        {
            "words": WORDS[lost],
            "count": found.counts[lost],
            "share": found.share(lost),
            "advice": ADVICE[lost],
            "traces": found.traces[lost],
        }
        for lost in found.ordered
    ]


def _tables(whole: Whole) -> list[Table[Row]]:
    """The page's rows as files: `?format=&table=`."""
    answers = ("trace_id", "span_id", "claim", "answered_at", "label", "question", "text", "url")
    events = ("at", "issue", "by", "kind", "value", "note")
    claims: list[Row] = [
        (*one.key, iso(one.time_ns), str(one.label), one.question, one.claim, answer_url(*one.key))
        for one in whole.typical
    ]
    trail: list[Row] = [
        (iso(one.at_ns), hex_of(one.issue), one.actor, one.kind, one.value, one.note)
        for one in whole.trail
    ]
    return [
        Table("examples", "Examples", claims, _by_place(answers)),
        Table("trail", "Trail", trail, _by_place(events)),
    ]


def _by_place(names: Sequence[str]) -> list[Column[Row]]:
    return [Column(name, name, itemgetter(at)) for at, name in enumerate(names)]
