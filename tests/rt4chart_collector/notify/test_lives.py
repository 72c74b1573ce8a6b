"""What holds in every life of alerts, whatever goes wrong, breaks or is silenced."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from rt4chart_collector.core.alerts.lifecycle import AlertPolicy
from rt4chart_collector.core.alerts.silence import Silence
from rt4chart_collector.core.alerts.state import AlertEventKind
from rt4chart_collector.notify.channels.message import MessageKind
from rt4chart_collector.notify.deliveries import AlertReceiver
from tests.rt4chart_collector.notify.world import DAY, DRIFT, HOUR, ISSUE, SECOND, World

SEVERITIES = st.sampled_from(["critical", "error", "warning", "info"])
WRONG = st.lists(
    st.builds(
        lambda alert, severity: replace(alert, severity=severity),
        st.sampled_from([DRIFT, ISSUE]),
        SEVERITIES,
    ),
    max_size=3,
)
ROUNDS = st.lists(
    st.tuples(
        WRONG,
        st.sampled_from([30, 60, 300, 1800, 7200, 40_000]),
        st.sets(st.sampled_from(["slack", "pager"])),
        st.sampled_from(["", "", "", "", "acknowledged", "dismissed", "silence", "restart"]),
    ),
    max_size=40,
)
RECEIVERS = (
    AlertReceiver("slack"),
    AlertReceiver("pager", "error", wants=frozenset(MessageKind) - {MessageKind.REMINDED}),
)


def lived(rounds: list[tuple[list[object], int, set[str], str]]) -> World:
    """A world after these rounds."""
    world = World(receivers=RECEIVERS)
    for wrong, after_s, reaches, what in rounds:
        world.look(*wrong, after_s=after_s, reaches=reaches)  # type: ignore[arg-type]
        if what == "silence":
            world.silences.append(Silence(world.now_ns, world.now_ns + 3 * HOUR, {"id": DRIFT.id}))
        elif what == "restart":
            world.states = world.restarted()
        elif what and DRIFT.id in world.states and world.states[DRIFT.id].is_open:
            world.act(DRIFT, AlertEventKind(what))
    return world


@given(ROUNDS)
def test_a_restart_changes_nothing(rounds: list[tuple[list[object], int, set[str], str]]) -> None:
    """What a process knows is what the events say."""
    world = lived(rounds)

    assert world.restarted() == world.states


@given(ROUNDS)
def test_each_thing_is_told_once(rounds: list[tuple[list[object], int, set[str], str]]) -> None:
    """To each target: of an episode its beginning, each severity, the acknowledgement, its end."""
    world = lived(rounds)

    told = Counter(
        (one.target, one.alert_id, one.episode_ns, one.what, one.severity)
        for one in world.sent
        if one.what is not MessageKind.REMINDED
    )
    firsts = Counter(
        (one.target, one.alert_id, one.episode_ns)
        for one in world.sent
        if one.what is MessageKind.FIRED
    )
    assert set(told.values()) <= {1}
    assert set(firsts.values()) <= {1}


@given(ROUNDS)
def test_silence_is_silence(rounds: list[tuple[list[object], int, set[str], str]]) -> None:
    """Nothing is told of an alert at a time that a silence covers."""
    world = lived(rounds)

    for one in world.sent:
        alert = world.states[one.alert_id].alert
        # A silence of a round begins after what the round told.
        assert not any(
            s.covers(alert, one.at_ns) and s.starts_ns < one.at_ns for s in world.silences
        )


@given(ROUNDS)
def test_who_was_told_of_it_is_told_of_its_end(
    rounds: list[tuple[list[object], int, set[str], str]],
) -> None:
    """Once all is calm, everybody can be reached and no silence is left, nothing is owed."""
    world = lived(rounds)
    for _ in range(8):
        world.look(after_s=8 * 3600)

    assert not any(one.is_open for one in world.states.values())
    for state in world.states.values():
        assert {told.what for told in state.deliveries.values()} <= {"", MessageKind.RESOLVED}
    assert world.look(after_s=DAY // SECOND) == []


@given(st.lists(st.booleans(), max_size=300), st.sampled_from([300, 900]))
def test_flapping_is_bounded(seen: list[bool], after_s: int) -> None:
    """However an alert comes and goes: of eight episodes in a day there is no ninth."""
    world = World(policy=AlertPolicy(remind_s=0))
    for is_wrong in seen:
        world.look(*([DRIFT] if is_wrong else []), after_s=after_s)

    fired = [one.at_ns for one in world.events if one.kind == AlertEventKind.FIRED]
    assert all(sum(0 <= at - other < DAY for other in fired) <= 8 for at in fired)


@given(ROUNDS, st.integers(1, 5))
def test_trying_is_bounded(
    rounds: list[tuple[list[object], int, set[str], str]], tries: int
) -> None:
    """Without reminders a message is tried so many times at most."""
    world = World(policy=AlertPolicy(tries=tries, remind_s=0), receivers=RECEIVERS)
    for wrong, after_s, _, _ in rounds * 3:
        world.look(*wrong, after_s=after_s, reaches=[])  # type: ignore[arg-type]

    failed = Counter(
        (one.body["target"], one.body["message"])
        for one in world.events
        if one.kind == AlertEventKind.FAILED
    )
    assert all(count <= tries for count in failed.values())
