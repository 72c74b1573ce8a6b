"""Every state with every act, by a person and by the software."""

from __future__ import annotations

import pytest

from rt4chart_clustering.grouping.issue_state import (
    IssueAction,
    IssueState,
    allowed_actions,
    state_after,
    state_after_growth,
    state_after_match,
)
from rt4chart_collector.store.issues.issue_events import STATES

N, O, A = IssueState.NEW, IssueState.OPEN, IssueState.ACKNOWLEDGED  # noqa: E741
R, G, I = IssueState.RESOLVED, IssueState.REGRESSED, IssueState.IGNORED  # noqa: E741
# Per act, what each of the states N, O, A, R, G, I leads to.
TABLE = {
    IssueAction.ACKNOWLEDGE: (A, A, A, None, A, None),
    IssueAction.RESOLVE: (R, R, R, R, R, None),
    IssueAction.REOPEN: (None, O, O, O, None, O),
    IssueAction.IGNORE: (I, I, I, I, I, I),
}


@pytest.mark.parametrize("act", IssueAction)
def test_a_person_moves_an_issue_as_the_table_says(act: IssueAction) -> None:
    """All states with all acts; an act done twice changes nothing the second time."""
    assert tuple(state_after(state, act) for state in (N, O, A, R, G, I)) == TABLE[act]


def test_the_software_opens_what_grows_and_nothing_else() -> None:
    """An issue that a person has looked at keeps its state however it grows."""
    assert {state: state_after_growth(state) for state in IssueState} == {
        state: state for state in IssueState
    } | {N: O}


def test_the_software_calls_a_resolved_issue_regressed_on_a_match_and_nothing_else() -> None:
    """What is ignored stays ignored."""
    assert {state: state_after_match(state) for state in IssueState} == {
        state: state for state in IssueState
    } | {R: G}


def test_the_software_never_closes() -> None:
    """Neither move ends in a state in which nobody has to do anything, unless it began there."""
    for move in (state_after_growth, state_after_match):
        assert [s for s in IssueState if move(s).is_closed and not s.is_closed] == []


def test_no_state_is_a_dead_end_and_each_can_be_reached() -> None:
    """From each a person can act, and each but the first is led to by somebody."""
    reached = {state_after(s, a) for s in IssueState for a in IssueAction} | {
        state_after_growth(s) for s in IssueState
    }
    reached |= {state_after_match(s) for s in IssueState}

    assert all(allowed_actions(state) for state in IssueState)
    assert reached - {None} == set(IssueState)


def test_the_store_knows_the_same_states() -> None:
    """What is written as an event is what is read as a state."""
    assert tuple(IssueState) == STATES
