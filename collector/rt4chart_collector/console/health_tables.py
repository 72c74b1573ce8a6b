"""The tables of the page on health."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from markupsafe import Markup

from otel_rt4chart.verdict import Decision
from rt4chart_collector.console.filters import interval, iso, label, link, percent, when
from rt4chart_collector.console.route_tables import Kind
from rt4chart_collector.console.table import Column
from rt4chart_collector.console.urls import answer_url, route_url
from rt4chart_collector.store.dead_letters import Letter
from rt4chart_collector.store.feedback import Precision

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


def _route(row: Letter) -> Markup:
    return link(route_url(row.service, row.route), row.route or "(no route)")


def _answer(row: Letter) -> Markup:
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
DEAD: Kind[Letter] = Kind(
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
