"""Every state with every act, by a person and by the software."""

from __future__ import annotations

import pytest

from rt4chart_clustering.grouping.issue_state import Act, State, acts_in, after, grown, matched
from rt4chart_collector.store.issues.issue_events import STATES

N, O, A = State.NEW, State.OPEN, State.ACKNOWLEDGED  # noqa: E741
R, G, I = State.RESOLVED, State.REGRESSED, State.IGNORED  # noqa: E741
# Per act, what each of the states N, O, A, R, G, I leads to.
TABLE = {
    Act.ACKNOWLEDGE: (A, A, A, None, A, None),
    Act.RESOLVE: (R, R, R, R, R, None),
    Act.REOPEN: (None, O, O, O, None, O),
    Act.IGNORE: (I, I, I, I, I, I),
}


@pytest.mark.parametrize("act", Act)
def test_a_person_moves_an_issue_as_the_table_says(act: Act) -> None:
    """All states with all acts; an act done twice changes nothing the second time."""
    assert tuple(after(state, act) for state in (N, O, A, R, G, I)) == TABLE[act]


def test_the_software_opens_what_grows_and_nothing_else() -> None:
    """An issue that a person has looked at keeps its state however it grows."""
    assert {state: grown(state) for state in State} == {state: state for state in State} | {N: O}


def test_the_software_calls_a_resolved_issue_regressed_on_a_match_and_nothing_else() -> None:
    """What is ignored stays ignored."""
    assert {state: matched(state) for state in State} == {state: state for state in State} | {R: G}


def test_the_software_never_closes() -> None:
    """Neither move ends in a state in which nobody has to do anything, unless it began there."""
    for move in (grown, matched):
        assert [s for s in State if move(s).is_closed and not s.is_closed] == []


def test_no_state_is_a_dead_end_and_each_can_be_reached() -> None:
    """From each a person can act, and each but the first is led to by somebody."""
    reached = {after(s, a) for s in State for a in Act} | {grown(s) for s in State}
    reached |= {matched(s) for s in State}

    assert all(acts_in(state) for state in State)
    assert reached - {None} == set(State)


def test_the_store_knows_the_same_states() -> None:
    """What is written as an event is what is read as a state."""
    assert tuple(State) == STATES
