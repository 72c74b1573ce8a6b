"""The health page: which answers arrived, how they were decided, and what failed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import Response

from otel_rt4chart.verify.core.recalibration import number_of
from otel_rt4chart.verify.rates.recalibrate import LEAST_LABELS
from rt4chart_collector.console.answers.wording import decision_reason
from rt4chart_collector.console.app.console import Console
from rt4chart_collector.console.app.section import Section, page_routes
from rt4chart_collector.console.settings.label_tables import JUDGE, RATERS, RELIABILITY, rater_rows
from rt4chart_collector.console.view.filters import count, interval, label, link, percent, when
from rt4chart_collector.console.view.params import ID, bad_request, text_param
from rt4chart_collector.console.view.reliability_diagram import reliability_diagram
from rt4chart_collector.console.view.table import Column, TableLayout
from rt4chart_collector.console.view.urls import answer_url, route_url
from rt4chart_collector.core.times import iso
from rt4chart_collector.labelling.status import agreement_text
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
from rt4chart_collector.store.engine.budgets import LeasedBudget, leased_budgets
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.scope import QueryScope
from rt4chart_collector.store.issues.grouping_runs import GroupingRun, last_runs
from rt4chart_collector.store.rates.traffic import decision_counts

# Names of the status that a reader would have to look up.
STATUS_LABELS = {
    "answers_put_off": "answers postponed while the judge was paused",
    "judging": "judge",
    "traces_unsaved": "traces whose verdicts could not be stored",
}


@dataclass(frozen=True, slots=True)
class DecisionCount:
    """The number of answers with a decision, over all routes, and their share."""

    decision: str
    answers: int
    share: float


def _route_cell(row: DeadLetter) -> Markup:
    return link(route_url(row.service, row.route), row.route or "(no route)")


def _answer_cell(row: DeadLetter) -> Markup:
    return link(answer_url(row.trace_id, row.span_id), row.trace_id[:12])


def _budget_cell(row: LeasedBudget) -> str:
    return f"{row.budget:,.12g}"


def _precision_cell(row: Precision) -> Markup:
    return Markup('<strong>{}</strong> <span class="interval">{}</span>').format(
        percent(row.rate.value), interval(row.rate)
    )


DECISIONS: TableLayout[DecisionCount] = TableLayout(
    "decisions",
    "Answers by decision",
    (
        Column("decision", "Decision", lambda row: row.decision),
        Column("answers", "Answers", lambda row: row.answers, is_number=True),
        Column(
            "share", "Share", lambda row: row.share, lambda row: percent(row.share), is_number=True
        ),
        Column("why", "Why", lambda row: decision_reason(row.decision)),
    ),
    "No answers in this time range. Send traces to the service, or choose a longer range.",
)
REASONS: TableLayout[tuple[str, int]] = TableLayout(
    "reasons",
    "Dead letters by reason",
    (
        Column("reason", "Reason", lambda row: row[0]),
        Column("answers", "Answers", lambda row: row[1], is_number=True),
    ),
    "No dead letters in this time range.",
)
DEAD: TableLayout[DeadLetter] = TableLayout(
    "letters",
    "Dead letters",
    (
        Column("last", "Last failed", lambda row: iso(row.last_ns), lambda row: when(row.last_ns)),
        Column("reason", "Reason", lambda row: row.reason),
        Column("error_type", "Error", lambda row: row.error_type, is_minor=True),
        Column("attempts", "Attempts", lambda row: row.attempts, is_number=True),
        Column("service", "Service", lambda row: row.service, is_exported_only=True),
        Column("route", "Route", lambda row: row.route, _route_cell),
        Column("trace_id", "Answer", lambda row: row.trace_id, _answer_cell),
        Column("span_id", "Span", lambda row: row.span_id, is_exported_only=True),
        Column("verifier", "Verifier", lambda row: row.verifier, is_minor=True),
    ),
    "No dead letters in this time range.",
)
GROUPING: TableLayout[GroupingRun] = TableLayout(
    "runs",
    "Runs of grouping",
    (
        Column(
            "started", "Started", lambda row: iso(row.started_ns), lambda row: when(row.started_ns)
        ),
        Column("cause", "Cause", lambda row: row.cause, is_minor=True),
        Column(
            "seconds",
            "Seconds",
            lambda row: row.seconds,
            lambda row: f"{row.seconds:.1f}",
            is_number=True,
        ),
        Column("failures", "New failures", lambda row: row.failures, is_number=True),
        Column("new", "New issues", lambda row: row.created, is_number=True),
        Column("regressed", "Regressed", lambda row: row.regressed, is_number=True),
        Column(
            "waiting",
            "In no issue",
            lambda row: row.waiting,
            is_number=True,
            hint="failures in no issue at the end of the run",
        ),
        Column("error", "Error", lambda row: row.error),
    ),
    "Failures were not grouped into issues yet. The service does it every 15 minutes.",
)
PRECISION: TableLayout[Precision] = TableLayout(
    "precision",
    "Agreement of feedback with the judge",
    (
        Column("verifier", "Verifier", lambda row: row.verifier),
        Column("of", "Verdict on", lambda row: "claims" if row.is_of_claims else "answers"),
        Column("label", "Label", lambda row: row.label, lambda row: label(row.label)),
        Column("precision", "Agreement", lambda row: row.rate.value, _precision_cell),
        Column("low", "Low", lambda row: row.rate.low, is_exported_only=True),
        Column("high", "High", lambda row: row.rate.high, is_exported_only=True),
        Column("judged", "Verdicts", lambda row: row.judged, is_number=True),
        Column("opinions", "Opinions", lambda row: row.opinions, is_number=True),
    ),
    "No feedback in this time range. Give feedback with the buttons on the page of an answer.",
)
BUDGETS: TableLayout[LeasedBudget] = TableLayout(
    "budgets",
    "Budgets of the judge",
    (
        Column("scope", "Of", lambda row: row.scope),
        Column("unit", "Unit", lambda row: row.unit.value),
        Column("period", "Period", lambda row: f"this {row.period}"),
        Column("budget", "Budget", lambda row: row.budget, _budget_cell, is_number=True),
        Column(
            "leased",
            "Leased",
            lambda row: row.leased / row.budget if row.budget else 0.0,
            lambda row: percent(row.leased / row.budget if row.budget else 0.0),
            is_number=True,
            hint="spent, or held by a process that may spend it",
        ),
        Column("processes", "Processes", lambda row: row.holders, is_number=True),
    ),
    "No budget of the judge was used in this hour or day: RT4CHART_JUDGE_BUDGET sets one.",
)


MAX_LETTERS, MAX_RUNS, MAX_BUDGETS = 100, 10, 200


@dataclass(frozen=True, slots=True)
class TraceLookup:
    """What the store has of a trace."""

    trace_id: str
    spans: int
    decisions: Sequence[Verification]
    letters: Mapping[tuple[str, str], DeadLetter]


def show_health(console: Console, request: Request) -> Response:
    """GET /health; with `?trace=`, also the decisions on the answers of that trace."""
    scope, trace = console.scope(request), text_param(request, "trace", longest=128)
    verifier = scope.verifier or ""
    if trace and not ID.fullmatch(trace):
        raise bad_request("trace", "a trace id, 32 hexadecimal digits", trace)
    labels = console.label_findings.find(scope, console.clock())
    bins = labels.reliability
    with console.store() as client:
        decided = decision_counts(client, scope)
        reasons = dead_letter_reasons(client, scope)
        letters = last_dead_letters(client, scope, limit=MAX_LETTERS)
        waiting = letter_counts(client, verifier).waiting
        runs = last_runs(client, limit=MAX_RUNS)
        precision = judge_precision(client, QueryScope(scope.since_ns, scope.until_ns))
        budgets = leased_budgets(client, console.clock(), limit=MAX_BUDGETS)
        found = _trace_lookup(client, trace.lower(), verifier) if trace else None
    return console.tables(
        request,
        [
            DECISIONS.with_rows(_decision_rows(decided)),
            REASONS.with_rows(reasons),
            DEAD.with_rows(letters),
            GROUPING.with_rows(runs),
            BUDGETS.with_rows(budgets),
            PRECISION.with_rows(precision),
            JUDGE.with_rows(list(labels.rates.values())),
            RELIABILITY.with_rows(bins),
            RATERS.with_rows(rater_rows(labels.agreement)),
        ],
        "health.html",
        title="Health",
        figures=_status_lines(console.facts.status() if console.facts.status else {}),
        has_figures=console.facts.status is not None,
        waiting=waiting,
        trace=trace,
        found=found,
        decision_reason=decision_reason,
        verifier=verifier,
        labels=labels,
        diagram=reliability_diagram(bins) if bins else "",
        is_sparse=sum(one.labels for one in bins) < LEAST_LABELS,
        recalibration=number_of(verifier),
        alpha=agreement_text(labels.agreement.alpha),
    )


def _trace_lookup(client: Client, trace_id: str, verifier: str) -> TraceLookup:
    return TraceLookup(
        trace_id,
        span_count(client, trace_id),
        verifications_of_trace(client, trace_id),
        letters_of(client, [trace_id], verifier),
    )


def _decision_rows(decided: Mapping[str, int]) -> list[DecisionCount]:
    """The decisions with their share of all answers."""
    total = sum(decided.values())
    return [DecisionCount(name, answers, answers / total) for name, answers in decided.items()]


def _status_lines(status: Mapping[str, object]) -> list[tuple[str, str]]:
    """The status of the service as names and values."""
    return [
        (STATUS_LABELS.get(name, name.replace("_", " ")), _status_text(value))
        for name, value in status.items()
    ]


def _status_text(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Mapping):
        if value.get("paused") is False:
            return "running"
        return ", ".join(f"{name} {_status_text(inner)}" for name, inner in value.items()) or "none"
    return count(value) if isinstance(value, int | float) else str(value)


ROUTES = page_routes(("GET", "/health", show_health))
SECTION = Section("Health", "/health", ROUTES, Path(__file__).parent / "templates", order=80)
