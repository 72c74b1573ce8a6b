"""An incident as JSON values: rates are shares of claims, times are RFC 3339 texts."""

from __future__ import annotations

from collections.abc import Sequence

from rt4chart_collector.comparison.wording import answer_figures
from rt4chart_collector.core.alerts.facts import MeasuredRate
from rt4chart_collector.core.times import iso
from rt4chart_collector.incident.asked_before import AnswerCount, AskedBefore, BeforeAndAfter
from rt4chart_collector.incident.read_incident import RouteIncident
from rt4chart_collector.incident.roll_back import RollBack
from rt4chart_collector.incident.span import RateStep
from rt4chart_collector.incident.wording import change_words, evidence_words, mix_words


def incident_figures(incident: RouteIncident, asked: AskedBefore) -> dict[str, object]:
    """Everything that the page shows of the rise."""
    began, use = incident.began, incident.passages
    evidence, meaning = evidence_words(incident)
    return {
        "since": iso(incident.since_ns),
        "began_between": [iso(began.low_ns), iso(began.high_ns)],
        "evidence": {"word": evidence, "meaning": meaning},
        "rate": {
            "from": iso(incident.span.begin_ns),
            "until": iso(incident.span.until_ns),
            "is_cut": incident.span.is_cut,
            "steps": _steps(incident.steps),
        },
        "changed": [
            {
                "attribute": one.change.new.attribute,
                "value": one.change.new.value,
                "replaced": one.change.replaced,
                "share_before": one.change.new.share_before,
                "share_after": one.change.new.share_after,
                "first_seen": iso(one.first_ns) if one.first_ns else None,
                "when": change_words(one, incident.since_ns),
            }
            for one in incident.changes
        ],
        "unchanged": {one.attribute: list(one.values) for one in incident.steady},
        "not_compared": {one.attribute: one.number for one in incident.uncompared},
        "mix_of_questions": mix_words(incident),
        "passages": {
            "an_answer_before": _mean(use.passages_before, use.answers_before),
            "an_answer_since": _mean(use.passages_after, use.answers_after),
            "unseen_share": use.unseen_share if use.is_known else None,
        },
        "first_seen": [
            {"at": iso(one.at_ns), "attribute": one.attribute, "value": one.value}
            for one in incident.seen
        ],
        "roll_back": _roll_back(incident.roll_back) if incident.roll_back else None,
        "questions": {
            "faulty": asked.questions,
            "asked_before": asked.asked_before,
            "is_cut_since": asked.is_cut_since,
            "is_cut_before": asked.is_cut_before,
            "is_cut_like": asked.is_cut_like,
            "pairs": [_pair(pair) for pair in asked.pairs],
        },
    }


def _steps(steps: Sequence[RateStep]) -> list[dict[str, object]]:
    return [
        {
            "from": iso(step.begin_ns),
            "until": iso(step.end_ns),
            "rate": step.rate.value,
            "low": step.rate.low,
            "high": step.rate.high,
            "claims": step.claims,
            "answers": step.answers,
        }
        for step in steps
    ]


def _roll_back(found: RollBack) -> dict[str, object]:
    return {
        "attribute": found.attribute,
        "to": found.to,
        "replaced_by": found.of,
        "last_seen": iso(found.last_ns) if found.last_ns else None,
        "week_before": _rate(found.before),
        "since": _rate(found.since),
        "is_better": found.is_better,
    }


def _rate(found: MeasuredRate) -> dict[str, object]:
    return {
        "rate": found.rate,
        "low": found.low,
        "high": found.high,
        "claims": found.claims,
        "answers": found.answers,
    }


def _pair(pair: BeforeAndAfter) -> dict[str, object]:
    return {
        "question": pair.after.verdict.question,
        "since": {**answer_figures(pair.after), **_count(pair.asked_after)},
        "before": {
            "question": pair.before.verdict.question,
            "is_same_question": pair.is_same,
            **answer_figures(pair.before),
            **_count(pair.asked_before),
        }
        if pair.before
        else None,
    }


def _count(found: AnswerCount) -> dict[str, object]:
    return {"answers": found.answers, "faulty": found.faulty}


def _mean(passages: int, answers: int) -> float | None:
    return passages / answers if answers else None
