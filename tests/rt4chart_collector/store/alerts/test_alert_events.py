"""What happened to alerts, as it is kept and as it is read."""

from __future__ import annotations

from dataclasses import replace

import pytest

from otel_rt4chart.core.errors import InputError
from rt4chart_collector.core.alerts.alert import Alert
from rt4chart_collector.core.alerts.facts import (
    AttributeValue,
    DriftEvidence,
    DriftFacts,
    MeasuredRate,
    UnfaithfulAnswer,
)
from rt4chart_collector.core.alerts.lifecycle import AlertPolicy
from rt4chart_collector.core.alerts.state import AlertEvent, AlertEventKind
from rt4chart_collector.notify.channels.message import MessageKind
from rt4chart_collector.notify.deliveries import AlertReceiver, delivered_event, due_message
from rt4chart_collector.store.alerts.alert_events import (
    EpisodeFilter,
    accept,
    accepted_times,
    acknowledge,
    alert_history,
    alert_history_count,
    alert_state,
    alert_states,
    alert_trail,
    open_alerts,
    record_alert_events,
    resolve,
    retract,
    snooze,
)
from rt4chart_collector.store.alerts.silences import silences
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.scope import QueryScope
from tests.rt4chart_collector.notify.world import DAY, DRIFT, HOUR, ISSUE, MINUTE, START

FACTS = DriftFacts(
    since_ns=START,
    before=MeasuredRate(rate=0.06, low=0.05, high=0.07, claims=80, answers=20, from_ns=START - DAY),
    after=MeasuredRate(),
    changed=(AttributeValue("model", "m", 0.0, 1.0, START),),
    worst_answers=(UnfaithfulAnswer(trace_id="a", claim="é\ud800"),),
    evidence=DriftEvidence(12.5, 9.1),
    unknown={"n": [1, None, True]},
)
SAID = replace(DRIFT, facts=FACTS)


def fired(alert: Alert, at_ns: int) -> AlertEvent:
    """That it began."""
    return AlertEvent(alert, at_ns, AlertEventKind.FIRED)


def ended(alert: Alert, at_ns: int) -> AlertEvent:
    """That it is over."""
    return AlertEvent(alert, at_ns, AlertEventKind.RESOLVED)


def test_an_alert_comes_back_with_its_facts(any_client: Client) -> None:
    """And is there once, however often it is written."""
    for _ in range(2):
        record_alert_events(any_client, [fired(SAID, START), fired(ISSUE, START + 1)])

    first, second = open_alerts(any_client, now_ns=START + MINUTE)

    assert (first.alert, second.fired_ns) == (ISSUE, START)
    answers = (UnfaithfulAnswer(trace_id="a", claim="é?"),)
    assert second.alert.facts == replace(FACTS, worst_answers=answers)
    assert (second.alert.starts_ns, second.state) == (DRIFT.starts_ns, "firing")
    assert len(alert_trail(any_client, DRIFT.id)) == 1


def test_what_people_do_shows(any_client: Client) -> None:
    """Acknowledged, silenced until when, resolved by whom."""
    record_alert_events(any_client, [fired(DRIFT, START)])

    acknowledge(any_client, DRIFT.id, actor="ann", now_ns=START + MINUTE, note="on it")
    (state,) = open_alerts(any_client, now_ns=START + 2 * MINUTE)
    assert (state.state, state.acknowledged_by) == ("acknowledged", "ann")

    kept = snooze(
        any_client, DRIFT.id, until_ns=START + HOUR, actor="ann", now_ns=START + 2 * MINUTE
    )
    (state,) = open_alerts(any_client, now_ns=START + 3 * MINUTE)
    assert (state.state, state.silenced_ns) == ("silenced", START + HOUR)
    assert silences(any_client, START + 3 * MINUTE) == [kept]
    assert open_alerts(any_client, now_ns=START + HOUR)[0].state == "acknowledged"

    resolve(any_client, DRIFT.id, actor="bob", now_ns=START + 4 * MINUTE)
    assert open_alerts(any_client, now_ns=START + 5 * MINUTE) == []
    over = alert_state(any_client, DRIFT.id, now_ns=START + 5 * MINUTE)
    assert over is not None
    assert (over.state, over.resolved_by, over.resolved_ns) == (
        *("resolved", "bob", START + 4 * MINUTE),
    )
    assert [(one.kind, one.actor, one.note) for one in alert_trail(any_client, DRIFT.id)][::-1] == [
        ("fired", "rt4chart", ""),
        ("acknowledged", "ann", "on it"),
        ("snoozed", "ann", ""),
        ("dismissed", "bob", ""),
    ]


@pytest.mark.parametrize("given", ["", "nothing", DRIFT.id])
def test_what_is_not_open_cannot_be_acted_on(client: Client, given: str) -> None:
    """An id that never was, and an alert that is over."""
    record_alert_events(client, [fired(DRIFT, START), ended(DRIFT, START + 1)])

    with pytest.raises(InputError, match="expected the id of an open alert"):
        acknowledge(client, given, actor="ann", now_ns=START + 2)
    assert alert_state(client, "nothing", now_ns=START) is None


def test_old_ends_are_not_read_and_old_alerts_that_are_open_are(client: Client) -> None:
    """Each from a day before it last fired on."""
    record_alert_events(
        client,
        [
            *(fired(DRIFT, START), ended(DRIFT, START + HOUR)),
            *(fired(ISSUE, START), ended(ISSUE, START + 1), fired(ISSUE, START + 3 * DAY)),
        ],
    )

    (state,) = alert_states(client, now_ns=START + 30 * DAY)

    assert (state.id, state.fired_ns) == (ISSUE.id, START + 3 * DAY)
    assert state.fired_before == (START + 3 * DAY,)


def test_who_was_told_that_it_fired_is_told_that_it_ended(any_client: Client) -> None:
    """However long a silence kept that back, up to 90 days; once told it is over."""
    pager = AlertReceiver("pagerduty")
    record_alert_events(any_client, [fired(DRIFT, START), fired(ISSUE, START)])
    states = {one.id: one for one in open_alerts(any_client, now_ns=START + 1)}
    record_alert_events(
        any_client,
        [delivered_event(states[DRIFT.id], pager, MessageKind.FIRED, START + 1, key="k")],
    )
    record_alert_events(any_client, [ended(DRIFT, START + HOUR), ended(ISSUE, START + HOUR)])

    (state,) = alert_states(any_client, now_ns=START + 30 * DAY)

    assert state.id == DRIFT.id
    assert due_message(state, pager, START + 30 * DAY, AlertPolicy()) is MessageKind.RESOLVED
    assert alert_states(any_client, now_ns=START + 91 * DAY) == []
    record_alert_events(
        any_client, [delivered_event(state, pager, MessageKind.RESOLVED, START + 30 * DAY)]
    )
    assert alert_states(any_client, now_ns=START + 40 * DAY) == []


def test_a_last_message_that_was_given_up_is_not_waited_for(client: Client) -> None:
    """It is not tried again; the message before it, given up while the alert fired, is followed."""
    slack, told = AlertReceiver("slack"), {"target": "slack", "what": "fired", "episode_ns": START}
    record_alert_events(
        client, [fired(DRIFT, START), AlertEvent(DRIFT, START + 1, AlertEventKind.NOTIFIED, told)]
    )
    given_up = AlertEvent(DRIFT, START + 2, AlertEventKind.ABANDONED, {**told, "what": "reminded"})
    record_alert_events(client, [given_up, ended(DRIFT, START + HOUR)])
    (state,) = alert_states(client, now_ns=START + 9 * DAY)
    assert due_message(state, slack, START + 9 * DAY, AlertPolicy()) is MessageKind.RESOLVED

    last = AlertEvent(
        DRIFT, START + 9 * DAY, AlertEventKind.ABANDONED, {**told, "what": "resolved"}
    )
    record_alert_events(client, [last])

    assert alert_states(client, now_ns=START + 17 * DAY) == []


def test_the_history_is_of_episodes_by_the_page(any_client: Client) -> None:
    """The newest first, each with its own end."""
    for number in range(5):
        record_alert_events(any_client, [fired(DRIFT, START + number * HOUR)])
        record_alert_events(
            any_client, [ended(DRIFT, START + number * HOUR + MINUTE)] * (number < 4)
        )
    record_alert_events(any_client, [fired(ISSUE, START + 30 * MINUTE)])
    wanted = EpisodeFilter(QueryScope(START, START + DAY))

    first = alert_history(any_client, wanted, limit=3)
    second = alert_history(any_client, wanted, limit=3, offset=3)

    assert [(one.alert.id, one.fired_ns, one.ended_ns) for one in (*first, *second)] == [
        (DRIFT.id, START + 4 * HOUR, 0),
        (DRIFT.id, START + 3 * HOUR, START + 3 * HOUR + MINUTE),
        (DRIFT.id, START + 2 * HOUR, START + 2 * HOUR + MINUTE),
        (DRIFT.id, START + HOUR, START + HOUR + MINUTE),
        (ISSUE.id, START + 30 * MINUTE, 0),
        (DRIFT.id, START, START + MINUTE),
    ]
    assert alert_history_count(any_client, wanted) == 6
    assert alert_history_count(any_client, replace(wanted, rule="new_issue")) == 1
    assert alert_history_count(any_client, replace(wanted, severity="info")) == 0
    other = replace(wanted, scope=wanted.scope.of_route("shop", "other"))
    assert alert_history(any_client, other) == []


def test_what_people_resolved_is_told_by_route(any_client: Client) -> None:
    """In order, of that rule and time; what ended by itself is none of it."""
    record_alert_events(any_client, [ended(replace(DRIFT, route="other"), START)])
    for number in (1, 2):
        record_alert_events(any_client, [fired(DRIFT, START + number * HOUR)])
        at = START + number * HOUR + MINUTE
        accept(any_client, DRIFT.id, actor="ann", now_ns=at)

    found = accepted_times(any_client, "route_drift", since_ns=START)

    assert list(found) == [(DRIFT.service, DRIFT.route)]
    assert found[DRIFT.service, DRIFT.route] == sorted(found[DRIFT.service, DRIFT.route])
    assert len(found[DRIFT.service, DRIFT.route]) == 2
    assert accepted_times(any_client, "new_issue", since_ns=START) == {}
    assert accepted_times(any_client, "route_drift", since_ns=START + DAY) == {}


def test_an_acceptance_is_undone_and_given_again(any_client: Client) -> None:
    """Only those after the last retraction count; the alert that it closed fires again."""
    record_alert_events(any_client, [fired(DRIFT, START)])
    accept(any_client, DRIFT.id, actor="ann", now_ns=START + 1)
    retract(any_client, DRIFT.id, actor="bob", now_ns=START + 2)

    assert accepted_times(any_client, "route_drift", since_ns=START) == {}
    (state,) = open_alerts(any_client, now_ns=START + 4)
    assert (state.fired_ns, state.alert.facts) == (START + 3, DRIFT.facts)
    with pytest.raises(InputError, match="whose rate was accepted"):
        retract(any_client, DRIFT.id, actor="bob", now_ns=START + 4)

    accept(any_client, DRIFT.id, actor="ann", now_ns=START + 5)
    found = accepted_times(any_client, "route_drift", since_ns=START)
    assert found == {(DRIFT.service, DRIFT.route): [START + 5]}
    assert open_alerts(any_client, now_ns=START + 6) == []


def test_an_alert_that_was_closed_before_it_was_accepted_stays_closed(any_client: Client) -> None:
    """Somebody had resolved it for another reason; so does one whose evidence has ended."""
    record_alert_events(any_client, [fired(DRIFT, START)])
    resolve(any_client, DRIFT.id, actor="ann", now_ns=START + 1)
    accept(any_client, DRIFT.id, actor="ann", now_ns=START + 2)
    retract(any_client, DRIFT.id, actor="bob", now_ns=START + 3)
    assert open_alerts(any_client, now_ns=START + 4) == []

    record_alert_events(any_client, [fired(DRIFT, START + 10)])
    accept(any_client, DRIFT.id, actor="ann", now_ns=START + 11)
    record_alert_events(any_client, [ended(DRIFT, START + 12)])
    retract(any_client, DRIFT.id, actor="bob", now_ns=START + 13)
    assert open_alerts(any_client, now_ns=START + 14) == []


def test_to_resolve_accepts_nothing(any_client: Client) -> None:
    """An alert that was only closed leaves the baseline; it may be accepted afterwards."""
    record_alert_events(any_client, [fired(DRIFT, START)])
    resolve(any_client, DRIFT.id, actor="ann", now_ns=START + 1)

    assert accepted_times(any_client, "route_drift", since_ns=START) == {}

    accept(any_client, DRIFT.id, actor="ann", now_ns=START + 2)
    assert len(accepted_times(any_client, "route_drift", since_ns=START)) == 1


def test_only_a_risen_rate_can_be_accepted(client: Client) -> None:
    """A new issue has no rate, and an alert that has ended by itself nothing to accept."""
    record_alert_events(client, [fired(ISSUE, START)])
    record_alert_events(client, [fired(DRIFT, START), ended(DRIFT, START + 1)])

    with pytest.raises(InputError, match="expected an alert about a risen rate"):
        accept(client, ISSUE.id, actor="ann", now_ns=START + 2)
    with pytest.raises(InputError, match="expected the id of an open alert"):
        accept(client, DRIFT.id, actor="ann", now_ns=START + 2)


def test_unknown_words_are_refused(client: Client) -> None:
    """Nothing is written then."""
    for wrong in (
        fired(replace(DRIFT, severity="loud"), START),
        AlertEvent(DRIFT, START, "else"),
        fired(replace(DRIFT, rule="else"), START),
    ):
        with pytest.raises(InputError, match="expected one of"):
            record_alert_events(client, [fired(ISSUE, START), wrong])

    assert alert_states(client, now_ns=START) == []
