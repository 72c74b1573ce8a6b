"""`rt4chart alerts show`: an alert with what its page in the console has."""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator, Sequence

from rich.console import Group, RenderableType

from otel_rt4chart.core.settings import load
from otel_rt4chart.core.text import clip, printable
from otel_rt4chart.verify.core.rates import Measure
from rt4chart_collector.commands.alerts.find_alert import find_alert, open_store
from rt4chart_collector.commands.alerts.read import as_json
from rt4chart_collector.core.alerts.lifecycle import alert_policy
from rt4chart_collector.core.alerts.state import AlertEvent, AlertState
from rt4chart_collector.core.printing import pairs, write
from rt4chart_collector.core.settings import AlertSettings
from rt4chart_collector.core.times import utc_time
from rt4chart_collector.incident.asked_before import AskedBefore, BeforeAndAfter
from rt4chart_collector.incident.figures import incident_figures
from rt4chart_collector.incident.read_incident import (
    RouteIncident,
    read_asked_before,
    read_incident,
)
from rt4chart_collector.incident.span import RateStep, usual_length
from rt4chart_collector.incident.timeline import Timeline, TimelineEntry, timeline
from rt4chart_collector.incident.wording import (
    asked_words,
    change_words,
    evidence_words,
    mix_words,
    notified_words,
    pair_words,
    passages_words,
    range_words,
    roll_back_words,
    steady_words,
    uncompared_words,
    values_words,
)
from rt4chart_collector.notify.alert_message import alert_message
from rt4chart_collector.notify.channels.message import MessageKind
from rt4chart_collector.notify.deliveries import next_attempt_ns
from rt4chart_collector.store.alerts.alert_events import alert_state, alert_states, alert_trail
from rt4chart_collector.store.answers.question_pairs import PairedAnswer
from rt4chart_collector.store.engine.concurrent_reads import ConcurrentReads

# The characters of an answer and of a passage's id on a terminal; JSON has them whole.
TEXT, PASSAGE = 400, 24
# Heights of the rate, from 0 to its highest step.
LEVELS = "▁▂▃▄▅▆▇█"
# Lines of the message that the incident says better.
REPLACED = ("changed", "of the rise")


def show(options: argparse.Namespace) -> int:
    """Show one alert: its state, its facts, the incident, and its events."""
    now = time.time_ns()
    with open_store(options) as client:
        state = alert_state(client, options.id, now_ns=now) or find_alert(
            alert_states(client, now_ns=now), options.id
        )
        events = alert_trail(client, state.id)
        with ConcurrentReads(client) as reads:
            incident = read_incident(reads, state, now_ns=now)
        asked = read_asked_before(client, state, now_ns=now)
    value = as_json(state) | {"trail": [_event(event) for event in events]}
    if incident is not None and asked is not None:
        value["incident"] = incident_figures(incident, asked)
    write(value, Group(*_shown(state, incident, asked, events, now)), as_json=options.json)
    return 0


def _shown(
    state: AlertState,
    incident: RouteIncident | None,
    asked: AskedBefore | None,
    events: Sequence[AlertEvent],
    now: int,
) -> Iterator[RenderableType]:
    alert = state.alert
    happened = timeline(
        state,
        events,
        began_ns=incident.since_ns if incident else 0,
        changes=incident.seen if incident else (),
    )
    yield printable(alert.title or str(alert.rule))
    owner = f"owner {state.owner}" if state.owner else "no owner"
    yield printable(f"{state.id} · {state.states} · {alert.severity} · {alert.rule} · {owner}")
    yield printable(notified_words(happened))
    if state.silenced_ns:
        yield f"silenced until {utc_time(state.silenced_ns)}"
    if state.is_open and state.quiet_ns:
        yield f"no evidence since {utc_time(state.quiet_ns)}"
    yield pairs(_facts(state, incident, now))
    if incident is not None and asked is not None:
        yield from _answers(asked, incident.facts.measure)
    yield ""
    yield pairs(_entries(happened))


def _facts(
    state: AlertState, incident: RouteIncident | None, now: int
) -> Iterator[tuple[str, str]]:
    # Texts of users are shown: whoever runs this can read them in the database anyway.
    message = alert_message(state, MessageKind.FIRED, "", now, with_texts=True)
    for name, value in message.facts:
        if incident is None or name not in REPLACED:
            yield name, value
        if incident is not None and name == "since":
            yield from _incident_facts(incident)
    for url in state.tickets:
        yield "ticket", url
    yield from _failing(state, now)


def _incident_facts(incident: RouteIncident) -> Iterator[tuple[str, str]]:
    if words := range_words(incident.began):
        yield "the rise began", words
    evidence, meaning = evidence_words(incident)
    if evidence:
        yield "evidence", f"{evidence}: {meaning}"
    if incident.steps:
        yield "rate", _sparkline(incident.steps)
    for one in incident.changes:
        name = one.change.new.attribute.replace("_", " ")
        yield f"changed: {name}", f"{values_words(one)}; {change_words(one, incident.since_ns)}"
    yield "mix of questions", mix_words(incident)
    yield "passages", passages_words(incident.passages)
    for steady in incident.steady:
        yield steady.attribute.replace("_", " "), steady_words(steady)
    for left in incident.uncompared:
        yield f"{left.attribute.replace('_', ' ')}: not compared", uncompared_words(left)
    if back := incident.roll_back:
        yield "roll back", " ".join(roll_back_words(back, incident.facts.measure))


def _sparkline(steps: Sequence[RateStep]) -> str:
    """The rate as a line of signs, a gap where no claim was decided, with its ends in numbers."""
    length = usual_length(steps)
    rates = {
        round((step.end_ns - steps[0].end_ns) / length): step.rate.value or 0.0 for step in steps
    }
    most = max(rates.values()) or 1.0
    signs = "".join(
        LEVELS[min(int(rates[at] / most * (len(LEVELS) - 1) + 0.5), len(LEVELS) - 1)]
        if at in rates
        else " "
        for at in range(max(rates) + 1)
    )
    claims = [step.claims for step in steps]
    return (
        f"{signs}  {utc_time(steps[0].begin_ns)} to {utc_time(steps[-1].end_ns)} UTC, "
        f"{min(rates.values()):.1%} to {max(rates.values()):.1%}, {min(claims)} to {max(claims)} "
        "claims a sign"
    )


def _answers(asked: AskedBefore, measure: Measure) -> Iterator[RenderableType]:
    yield ""
    yield asked_words(asked, measure)
    for pair in asked.pairs:
        yield ""
        yield pairs(_pair(pair, measure))


def _pair(pair: BeforeAndAfter, measure: Measure) -> Iterator[tuple[str, str]]:
    before, after = pair_words(pair, measure)
    yield "question", _text(pair.after.verdict.question)
    if pair.before is None:
        yield "before", "no like question was found in the week before the rise"
    else:
        if not pair.is_same:
            yield "like question", _text(pair.before.verdict.question)
        yield "before", f"{_text(pair.before.verdict.answer)} ({before})"
    yield "since", f"{_text(pair.after.verdict.answer)} ({after})"
    yield from _wrong(pair.after)


def _wrong(answer: PairedAnswer) -> Iterator[tuple[str, str]]:
    """What is wrong with an answer, and the sentences of the passages against it."""
    for row in answer.failed[:3]:
        for clash in row.claim.clashes[:2]:
            found = f"“{clash.found}”" if clash.found else "nothing of it"
            yield str(row.label), f"“{clash.claimed}”, the passages have {found}"
        if not row.claim.clashes:
            yield str(row.label), _text(row.text)
        for one in row.claim.evidence[:2]:
            yield clip(one.passage_id, PASSAGE), _text(one.text)


def _text(text: str) -> str:
    return clip(" ".join(text[: TEXT * 4].split()), TEXT)


def _entries(happened: Timeline) -> Iterator[tuple[str, str]]:
    for entry in (*reversed(happened.earlier), *happened.entries):
        yield utc_time(entry.at_ns), _entry(entry)


def _entry(entry: TimelineEntry) -> str:
    by = f"by {entry.actor}" if entry.actor else ""
    return " ".join(filter(None, (entry.what, entry.detail, by, entry.error, entry.note)))


def _failing(state: AlertState, now: int) -> Iterator[tuple[str, str]]:
    """The targets whose last message failed, and when it is tried again by these settings."""
    policy = alert_policy(load(AlertSettings))
    for name, delivery in sorted(state.deliveries.items()):
        next_ns = next_attempt_ns(state, delivery, policy)
        if delivery.failures:
            times = f"failed {delivery.failures} time{'s' if delivery.failures > 1 else ''}, "
            then = f"tried next at {utc_time(next_ns)}" if next_ns else "not tried again"
            if next_ns and next_ns <= now:
                then = "tried next in the service's next round"
            if next_ns and state.silenced_ns:
                then = f"tried next when the silence is over, at {utc_time(state.silenced_ns)}"
            yield f"to {name}", f"{times}{then}"


def _event(event: AlertEvent) -> dict[str, object]:
    return {
        "at_ns": event.at_ns,
        "kind": str(event.kind),
        "body": dict(event.body),
        "actor": event.actor,
        "note": event.note,
    }
