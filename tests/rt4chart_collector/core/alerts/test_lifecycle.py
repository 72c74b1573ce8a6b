"""The life of an alert: told once, told when it gets worse, resolved, and silent where asked."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rt4chart_collector.core.alerts.facts import NoteFacts
from rt4chart_collector.core.alerts.lifecycle import AlertPolicy, quiet_period_ns, worst_of_each
from rt4chart_collector.core.alerts.silence import Silence
from rt4chart_collector.core.alerts.state import AlertEventKind
from rt4chart_collector.notify.alert_message import headline
from rt4chart_collector.notify.channels.message import MessageKind
from rt4chart_collector.notify.deliveries import AlertReceiver
from tests.rt4chart_collector.notify.world import DRIFT, HOUR, ISSUE, MINUTE, World

WARNING = replace(DRIFT, severity="warning")


def test_an_alert_is_told_once_and_its_end_once() -> None:
    """However often it is seen; it ends after half an hour without evidence."""
    world = World()

    assert world.look(DRIFT) == [MessageKind.FIRED]
    assert [world.look(DRIFT) for _ in range(30)] == [[]] * 30
    assert [world.look() for _ in range(30)] == [[]] * 30
    assert world.look() == [MessageKind.RESOLVED]
    assert world.look() == []
    assert [one.kind for one in world.events] == [
        *(
            AlertEventKind.FIRED,
            AlertEventKind.NOTIFIED,
            AlertEventKind.QUIET,
            AlertEventKind.RESOLVED,
            AlertEventKind.NOTIFIED,
        )
    ]


def test_evidence_that_pauses_ends_nothing() -> None:
    """What comes back within the time that is kept is the same alert."""
    world = World()
    world.look(DRIFT)

    told = [world.look(*wrong, after_s=900) for wrong in ((), (DRIFT,), (), (DRIFT,), ())]

    assert told == [[]] * 5
    assert world.states[DRIFT.id].is_open


def test_the_same_thing_twice_is_one_alert() -> None:
    """Where two say different severities, the worse one counts."""
    world = World()

    assert world.look(WARNING, DRIFT, WARNING) == [MessageKind.FIRED]
    assert world.sent[0].severity == "critical"
    assert worst_of_each([WARNING, DRIFT]) == {DRIFT.id: DRIFT}


def test_getting_worse_is_told_and_getting_better_is_not() -> None:
    """Of one episode each severity once: to and fro is no news."""
    world = World()
    world.look(WARNING)

    assert world.look(DRIFT) == [MessageKind.WORSE]
    assert [world.look(one) for one in (WARNING, DRIFT, WARNING, DRIFT)] == [[]] * 4
    assert world.states[DRIFT.id].alert.severity == "critical"


def test_nobody_is_told_of_what_is_not_for_them_until_it_is() -> None:
    """PagerDuty hears of a warning when it has become an error."""
    world = World(receivers=[AlertReceiver("pagerduty", "error"), AlertReceiver("mail", "info")])

    world.look(WARNING)
    world.look(replace(DRIFT, severity="error"))

    assert [(one.target, one.what) for one in world.sent] == [
        *(
            ("mail", MessageKind.FIRED),
            ("pagerduty", MessageKind.FIRED),
            ("mail", MessageKind.WORSE),
        )
    ]


def test_a_receiver_of_one_rule_hears_of_no_other() -> None:
    """Not of their end either."""
    world = World(receivers=[AlertReceiver("mail", rules=frozenset({"new_issue"}))])

    assert world.look(DRIFT) == []
    assert world.look(DRIFT, ISSUE) == [MessageKind.FIRED]
    world.look()
    assert world.look(after_s=3600) == [MessageKind.RESOLVED]
    assert {one.alert_id for one in world.sent} == {ISSUE.id}


def test_reminders_come_until_somebody_takes_it_on() -> None:
    """Every four hours; the acknowledgement is told, and then nothing but worse."""
    world = World()
    world.look(WARNING)

    assert [world.look(WARNING, after_s=3600) for _ in range(8)].count([MessageKind.REMINDED]) == 2
    world.act(WARNING, AlertEventKind.ACKNOWLEDGED)
    assert world.look(WARNING) == [MessageKind.ACKNOWLEDGED]
    assert [world.look(WARNING, after_s=36_000) for _ in range(5)] == [[]] * 5
    assert world.look(DRIFT) == [MessageKind.WORSE]
    assert world.states[DRIFT.id].state == "firing"
    assert world.look(DRIFT, after_s=14_400) == [MessageKind.REMINDED]


def test_no_reminder_of_what_nothing_speaks_for() -> None:
    """It is about to end."""
    world = World(policy=AlertPolicy(remind_s=600))
    world.look(DRIFT)

    assert [world.look(after_s=600) for _ in range(3)] == [[]] * 3


def test_a_silence_is_kept_and_what_still_fires_is_told_when_it_ends() -> None:
    """It stands in the history meanwhile."""
    world = World()
    world.silences = [Silence(world.now_ns, world.now_ns + 2 * HOUR, {"service": "shop"})]

    assert [world.look(DRIFT, after_s=1800) for _ in range(3)] == [[]] * 3
    assert world.states[DRIFT.id].state == "silenced"
    assert [one.kind for one in world.events] == [AlertEventKind.FIRED]
    assert world.look(DRIFT, after_s=1800) == [MessageKind.FIRED]


@pytest.mark.parametrize(
    ("wants", "told"),
    [
        (frozenset(MessageKind), MessageKind.ACKNOWLEDGED),
        (frozenset({MessageKind.FIRED, MessageKind.WORSE}), MessageKind.FIRED),
    ],
)
def test_what_was_taken_on_in_a_silence_pages_nobody(
    wants: frozenset[MessageKind], told: MessageKind
) -> None:
    """It is told as acknowledged where there is a place for that, and pages when it gets worse."""
    world = World(receivers=[AlertReceiver("pagerduty", wants=wants)])
    world.silences = [Silence(world.now_ns, world.now_ns + HOUR)]
    world.look(WARNING)
    world.act(WARNING, AlertEventKind.ACKNOWLEDGED)
    world.look(WARNING)
    assert world.states[WARNING.id].states == "silenced, acknowledged"
    assert headline(world.states[WARNING.id], MessageKind.FIRED, 0).startswith(
        "warning, acknowledged by ann: "
    )

    assert world.look(WARNING, after_s=3600) == [told]
    assert world.look(WARNING) == []
    assert world.look(DRIFT) == [MessageKind.WORSE]


def test_what_came_and_went_in_a_silence_is_never_told() -> None:
    """A maintenance window is for that."""
    world = World()
    world.silences = [Silence(world.now_ns, world.now_ns + 5 * HOUR)]
    world.look(DRIFT)
    world.look()
    world.look(after_s=3600)
    world.silences = []

    assert world.look(after_s=5 * 3600) == []
    assert world.states[DRIFT.id].state == "resolved"


def test_an_end_that_a_silence_held_back_is_told_after_it() -> None:
    """Who was told that it began must not believe for ever that it lasts."""
    world = World()
    world.look(DRIFT)
    world.silences = [Silence(world.now_ns, world.now_ns + 3 * HOUR, {"id": DRIFT.id})]
    world.look()
    assert world.look(after_s=3600) == []

    assert world.look(after_s=3 * 3600) == [MessageKind.RESOLVED]


def test_what_a_person_resolved_fires_again_when_it_has_gone_and_come_back() -> None:
    """Or when it gets worse; not because it is still there."""
    world = World()
    world.look(WARNING)
    world.act(WARNING, AlertEventKind.DISMISSED)

    assert world.look(WARNING) == [MessageKind.RESOLVED]
    assert [world.look(WARNING, after_s=36_000) for _ in range(3)] == [[]] * 3
    world.look()
    world.look(after_s=3600)
    assert world.look(WARNING) == [MessageKind.FIRED]
    world.act(WARNING, AlertEventKind.DISMISSED)
    world.look(WARNING)
    assert world.look(DRIFT) == [MessageKind.FIRED]


def test_what_comes_and_goes_ends_later_each_time() -> None:
    """Half an hour, an hour, two, four, six at most: a day has few messages."""
    world = World()
    kept = []
    for _ in range(8):
        world.look(DRIFT)
        state = world.states[DRIFT.id]
        kept.append(quiet_period_ns(state, world.now_ns, world.policy) // MINUTE)
        world.look()
        world.look(after_s=kept[-1] * 60)

    # The first ones are more than a day ago by then.
    assert kept[:5] == [30, 60, 120, 240, 360]
    assert max(kept) == 360


def test_a_message_that_failed_is_sent_again_later_and_later() -> None:
    """After one minute, two, four; the other target does not wait for it."""
    world = World(receivers=[AlertReceiver("slack"), AlertReceiver("mail")])
    assert world.look(DRIFT, reaches=["mail"]) == [MessageKind.FIRED]

    tried = []
    for minute in range(1, 20):
        before = world.tries
        world.look(DRIFT, reaches=["mail"])
        if world.tries > before:
            tried.append(minute)

    assert tried == [1, 3, 7, 15]
    assert world.look(DRIFT, after_s=3600) == [MessageKind.FIRED]
    assert world.states[DRIFT.id].deliveries["slack"].failures == 0


def test_trying_has_an_end() -> None:
    """After twelve times it is said so; as long as the alert is open each reminder tries once."""
    world = World(policy=AlertPolicy(remind_s=14_400))
    for _ in range(10 * 60):
        world.look(DRIFT, reaches=[])

    kinds = [one.kind for one in world.events]
    assert kinds.count(AlertEventKind.FAILED) == 12
    assert kinds.count(AlertEventKind.ABANDONED) == 1
    assert world.look(DRIFT, after_s=14_400) == [MessageKind.FIRED]


def test_without_reminders_trying_ends_for_good() -> None:
    """Until something else is to be told."""
    world = World(policy=AlertPolicy(remind_s=0))
    for _ in range(48 * 12):
        world.look(WARNING, after_s=300, reaches=[])

    assert [one.kind for one in world.events].count(AlertEventKind.FAILED) == 12
    assert world.look(WARNING) == []
    assert world.look(DRIFT) == [MessageKind.FIRED]


def test_new_facts_are_kept_once_an_hour_and_told_nobody() -> None:
    """The page of an alert shows how it is now."""
    world = World()
    for minute in range(150):
        assert world.look(replace(DRIFT, facts=NoteFacts(what=str(minute)))) == (
            [] if minute else [MessageKind.FIRED]
        )

    updates = [one for one in world.events if one.kind == AlertEventKind.UPDATED]
    assert [one.alert.facts for one in updates] == [NoteFacts(what="60"), NoteFacts(what="120")]
    assert world.states[DRIFT.id].alert.starts_ns == DRIFT.starts_ns


def test_a_clock_that_goes_back_disorders_nothing() -> None:
    """What happens later stands later."""
    world = World()
    world.look(DRIFT)
    world.look(DRIFT, after_s=-7200)
    world.look(after_s=60)

    assert world.restarted() == world.states
    state = world.states[DRIFT.id]
    assert state.quiet_ns == state.fired_ns + 2
