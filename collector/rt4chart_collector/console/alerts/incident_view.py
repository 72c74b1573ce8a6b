"""An incident as its page shows it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from otel_rt4chart.core.text import clip
from rt4chart_collector.console.alerts.rate_chart import RateChart, rate_chart, step_words
from rt4chart_collector.console.answers.answer_side import AnswerSide, answer_side
from rt4chart_collector.core.alerts.facts import AttributeChange
from rt4chart_collector.core.alerts.state import AlertState
from rt4chart_collector.incident.asked_before import BeforeAndAfter
from rt4chart_collector.incident.read_incident import RouteIncident
from rt4chart_collector.incident.wording import (
    asked_words,
    change_words,
    evidence_words,
    mix_words,
    pair_words,
    passages_words,
    range_words,
    roll_back_words,
    steady_words,
    uncompared_words,
    values_words,
)
from rt4chart_collector.store.answers.question_pairs import PairedAnswer

QUESTION = 400


@dataclass(frozen=True, slots=True)
class ChangeRow:
    """What changed, or what did not: `url` is a comparison, "" where there is none."""

    name: str
    value: str
    when: str = ""
    is_changed: bool = False
    url: str = ""


@dataclass(frozen=True, slots=True)
class ComparedAnswers:
    """A faulty answer since the rise beside one from before it, None where there is none.

    `like` is the question of the latter where it has other words.
    """

    question: str
    like: str
    before: AnswerSide | None
    after: AnswerSide
    counts: tuple[str, str]


@dataclass(frozen=True, slots=True)
class IncidentView:
    """The parts of the page that need more than the alert's own facts."""

    incident: RouteIncident
    chart: RateChart
    step: str
    range: str
    evidence: tuple[str, str]
    rows: tuple[ChangeRow, ...]
    roll_back: str
    roll_back_url: str
    asked: str
    answers: tuple[ComparedAnswers, ...]


def incident_view(
    incident: RouteIncident, state: AlertState, compared: Mapping[AttributeChange, str]
) -> IncidentView:
    """`compared` has the addresses where a change's two values are compared."""
    back = incident.roll_back
    urls = [
        url
        for change, url in compared.items()
        if back and (change.new.attribute, change.new.value) == (back.attribute, back.of)
    ]
    return IncidentView(
        incident=incident,
        chart=rate_chart(incident, fired_ns=state.fired_ns),
        step=step_words(incident.steps),
        range=range_words(incident.began),
        evidence=evidence_words(incident),
        rows=tuple(_rows(incident, compared)),
        roll_back=" ".join(roll_back_words(back, incident.facts.measure)) if back else "",
        roll_back_url=next(iter(urls), ""),
        asked=asked_words(incident.asked, incident.facts.measure),
        answers=tuple(_answers(pair, incident) for pair in incident.asked.pairs),
    )


def _rows(incident: RouteIncident, compared: Mapping[AttributeChange, str]) -> list[ChangeRow]:
    changed = [
        ChangeRow(
            one.change.new.attribute.replace("_", " "),
            values_words(one),
            change_words(one, incident.since_ns),
            is_changed=True,
            url=compared.get(one.change, ""),
        )
        for one in incident.changes
    ]
    steady = [
        ChangeRow(one.attribute.replace("_", " "), steady_words(one)) for one in incident.steady
    ]
    uncompared = [
        ChangeRow(f"{one.attribute.replace('_', ' ')}: not compared", uncompared_words(one))
        for one in incident.uncompared
    ]
    return [
        *changed,
        ChangeRow(
            "mix of questions", mix_words(incident), is_changed=incident.facts.parts is not None
        ),
        ChangeRow("passages", passages_words(incident.passages)),
        *steady,
        *uncompared,
    ]


def _answers(pair: BeforeAndAfter, incident: RouteIncident) -> ComparedAnswers:
    return ComparedAnswers(
        question=_question(pair.after),
        like=_question(pair.before) if pair.before and not pair.is_same else "",
        before=answer_side(pair.before, by_judge=False) if pair.before else None,
        after=answer_side(pair.after, by_judge=False),
        counts=pair_words(pair, incident.facts.measure),
    )


def _question(answer: PairedAnswer) -> str:
    return clip(" ".join(answer.verdict.question[: QUESTION * 4].split()), QUESTION)
