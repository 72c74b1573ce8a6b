"""An incident as its page shows it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from rt4chart_collector.console.alerts.rate_chart import RateChart, rate_chart, step_words
from rt4chart_collector.core.alerts.facts import AttributeChange
from rt4chart_collector.core.alerts.state import AlertState
from rt4chart_collector.incident.read_incident import RouteIncident
from rt4chart_collector.incident.wording import (
    change_words,
    evidence_words,
    mix_words,
    passages_words,
    range_words,
    roll_back_words,
    steady_words,
    uncompared_words,
    values_words,
)


@dataclass(frozen=True, slots=True)
class ChangeRow:
    """What changed, or what did not: `url` is a comparison, "" where there is none."""

    name: str
    value: str
    when: str = ""
    is_changed: bool = False
    url: str = ""


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
