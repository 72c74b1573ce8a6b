"""Which services have a turn of their own: those that come again, not every name that is sent."""

from __future__ import annotations

from rt4chart_collector.pipeline.service_turns import (
    AT_ONCE,
    FORGOTTEN_S,
    MOST,
    PROVEN_S,
    SHARED,
    ServiceTurns,
)


def test_first_services_have_turns_of_their_own_at_once() -> None:
    """The next one shares a turn until it comes again after a minute."""
    turns = ServiceTurns()
    names = [f"service {number}" for number in range(AT_ONCE)]

    assert [turns.turn_of(name, 0.0) for name in names] == names
    late = [turns.turn_of("late", now) for now in (0.0, PROVEN_S - 1, PROVEN_S)]
    assert late == [SHARED, SHARED, "late"]


def test_any_number_of_made_up_names_shares_one_turn() -> None:
    """Those that came before keep theirs."""
    turns = ServiceTurns()
    for number in range(AT_ONCE):
        turns.turn_of(f"service {number}", 0.0)

    found = {turns.turn_of(f"made up {number}", number / 10) for number in range(10_000)}

    assert found == {SHARED}
    assert turns.turn_of("service 3", 1_000.0) == "service 3"


def test_name_that_is_not_seen_for_an_hour_gives_its_turn_away() -> None:
    """Only where no turn is free, and to a name that has come again."""
    turns = ServiceTurns()
    names = [f"service {number}" for number in range(MOST + 1)]
    for now in (0.0, PROVEN_S):
        before = [turns.turn_of(name, now) for name in names]
    at = FORGOTTEN_S + PROVEN_S
    for name in names[1:MOST]:
        turns.turn_of(name, at - 1)

    after = [turns.turn_of(names[MOST], at - 1), turns.turn_of(names[MOST], at)]

    assert before == [*names[:MOST], SHARED]
    assert after == [SHARED, names[MOST]]
    assert turns.turn_of(names[0], at) == SHARED
