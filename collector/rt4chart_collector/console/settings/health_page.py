"""The pipeline's health: what arrived, what was decided, what failed, and why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from otel_rt4chart.spans.model.verdict import Decision
from rt4chart_collector.console.app.section import Section
from rt4chart_collector.console.routes.route_tables import Kind
from rt4chart_collector.console.view.filters import count, interval, iso, label, link, percent, when
from rt4chart_collector.console.view.params import ID, bad_request, text_param
from rt4chart_collector.console.view.table import Column
from rt4chart_collector.console.view.urls import answer_url, route_url
from rt4chart_collector.store.answers.dead_letters import (
    DeadLetter,
    dead_letter_reasons,
    last_dead_letters,
    letter_counts,
    letters_of,
)
from rt4chart_collector.store.answers.feedback import Precision, judge_precision
from rt4chart_collector.store.answers.spans import span_count
from rt4chart_collector.store.answers.verifications import Verification, verifications_of_trace
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.rates.traffic import coverage

if TYPE_CHECKING:
    from rt4chart_collector.console.app.console import Console

# What each decision means for whoever asks why there is no verdict.
WHY: Mapping[str, str] = {
    Decision.VERIFIED: "it was verified",
    Decision.NOT_SAMPLED: "it was not in the sample: see RT4CHART_SAMPLE_RATE and /settings",
    Decision.THROTTLED: "more answers came in that second than the application lets through",
    Decision.OVER_BUDGET: "the application's budget for verification was spent",
    Decision.NO_CONTENT: "its spans carry no text: let the instrumentation capture content",
    Decision.REDACTED: "its text was redacted before it arrived",
    Decision.TRUNCATED: "its text was cut: raise OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT",
    Decision.NO_CONTEXT: "no passage was found in its trace: is the retrieval traced there?",
    Decision.QUEUE_FULL: "there was no room for it in the application's queue",
    Decision.ERROR: "the judge failed on it",
}


@dataclass(frozen=True, slots=True)
class Decided:
    """How many answers of all routes have a decision, and their share."""

    decision: str
    answers: int
    share: float


def _route(row: DeadLetter) -> Markup:
    return link(route_url(row.service, row.route), row.route or "(no route)")


def _answer(row: DeadLetter) -> Markup:
    return link(answer_url(row.trace_id, row.span_id), row.trace_id[:12])


def _agreed(row: Precision) -> Markup:
    return Markup('<strong>{}</strong> <span class="interval">{}</span>').format(
        percent(row.rate.value), interval(row.rate)
    )


DECISIONS: Kind[Decided] = Kind(
    "decisions",
    "Answers by decision",
    (
        Column("decision", "Decision", lambda row: row.decision),
        Column("answers", "Answers", lambda row: row.answers, is_number=True),
        Column(
            "share", "Share", lambda row: row.share, lambda row: percent(row.share), is_number=True
        ),
        Column("why", "Why", lambda row: WHY.get(row.decision, "")),
    ),
    "No answer was seen in this time. Send traces to the service, or choose a longer time.",
)
REASONS: Kind[tuple[str, int]] = Kind(
    "reasons",
    "Given up, by reason",
    (
        Column("reason", "Reason", lambda row: row[0]),
        Column("answers", "Answers", lambda row: row[1], is_number=True),
    ),
    "Nothing was given up in this time.",
)
DEAD: Kind[DeadLetter] = Kind(
    "letters",
    "Dead letters",
    (
        Column("last", "Last failed", lambda row: iso(row.last_ns), lambda row: when(row.last_ns)),
        Column("reason", "Reason", lambda row: row.reason),
        Column("error_type", "Error", lambda row: row.error_type),
        Column("attempts", "Attempts", lambda row: row.attempts, is_number=True),
        Column("service", "Service", lambda row: row.service, is_exported_only=True),
        Column("route", "Route", lambda row: row.route, _route),
        Column("trace_id", "Answer", lambda row: row.trace_id, _answer),
        Column("span_id", "Span", lambda row: row.span_id, is_exported_only=True),
        Column("verifier", "Verifier", lambda row: row.verifier),
    ),
    "No dead letter of this time. Those that there are: rt4chart replay tries them once more.",
)
PRECISION: Kind[Precision] = Kind(
    "precision",
    "How often people agree with the judge",
    (
        Column("verifier", "Verifier", lambda row: row.verifier),
        Column("of", "Of", lambda row: "claims" if row.is_of_claims else "answers"),
        Column("label", "Label", lambda row: row.label, lambda row: label(row.label)),
        Column("precision", "Agreed", lambda row: row.rate.value, _agreed),
        Column("low", "Low", lambda row: row.rate.low, is_exported_only=True),
        Column("high", "High", lambda row: row.rate.high, is_exported_only=True),
        Column("judged", "Verdicts", lambda row: row.judged, is_number=True),
        Column("opinions", "Opinions", lambda row: row.opinions, is_number=True),
    ),
    "Nobody has said yet what they think of a verdict: the buttons are on an answer's page.",
)


LETTERS = 100


@dataclass(frozen=True, slots=True)
class Found:
    """What is known of a trace that somebody asks for."""

    trace_id: str
    spans: int
    decisions: Sequence[Verification]
    letters: Mapping[tuple[str, str], DeadLetter]


class Health:
    """GET /health."""

    def __init__(self, console: Console) -> None:
        """Nothing is read yet."""
        self._console = console

    def show(self, request: Request) -> Response:
        """With `?trace=`, what became of the answers of that trace."""
        console = self._console
        since_ns, until_ns = console.window(request)
        verifier, trace = console.verifier(request), text_param(request, "trace", longest=128)
        if trace and not ID.fullmatch(trace):
            raise bad_request("trace", "a trace id, 32 hexadecimal digits", trace)
        with console.store() as client:
            covered = coverage(client, since_ns=since_ns, until_ns=until_ns, verifier=verifier)
            reasons = dead_letter_reasons(client, since_ns=since_ns)
            letters = last_dead_letters(client, since_ns=since_ns, limit=LETTERS)
            waiting = letter_counts(client, verifier).waiting
            precision = judge_precision(client, since_ns=since_ns, until_ns=until_ns)
            found = _found(client, trace.lower(), verifier) if trace else None
        totals: dict[str, int] = {}
        for one in covered.values():
            for decision, answers in one.decisions.items():
                totals[decision] = totals.get(decision, 0) + answers
        return console.tables(
            request,
            [
                DECISIONS.of(_shares(totals)),
                REASONS.of(reasons),
                DEAD.of(letters),
                PRECISION.of(precision),
            ],
            "health.html",
            title="Health",
            figures=_lines(console.facts.status() if console.facts.status else {}),
            has_figures=console.facts.status is not None,
            waiting=waiting,
            trace=trace,
            found=found,
            why=WHY,
            verifier=verifier,
        )


def _found(client: Client, trace_id: str, verifier: str) -> Found:
    return Found(
        trace_id,
        span_count(client, trace_id),
        verifications_of_trace(client, trace_id),
        letters_of(client, [trace_id], verifier),
    )


def _shares(totals: Mapping[str, int]) -> list[Decided]:
    total = sum(totals.values())
    ordered = sorted(totals.items(), key=lambda one: (-one[1], one[0]))
    return [Decided(name, answers, answers / total) for name, answers in ordered if answers]


def _lines(told: Mapping[str, object]) -> list[tuple[str, str]]:
    """The status of the service, one line a figure."""
    return [(name.replace("_", " "), _said(value)) for name, value in told.items()]


def _said(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {_said(one)}" for name, one in value.items()) or "none"
    return count(value) if isinstance(value, int | float) else str(value)


def routes(console: Console) -> Sequence[BaseRoute]:
    """GET /health."""
    return [Route("/health", Health(console).show, methods=["GET"])]


SECTION = Section("Health", "/health", routes, order=80)
