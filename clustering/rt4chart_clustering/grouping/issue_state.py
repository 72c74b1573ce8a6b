"""The states of an issue, their transitions, and the sizes at which an issue has grown."""

from __future__ import annotations

from enum import StrEnum

# The kind of the event that says in which release an issue is resolved.
RESOLVED_IN = "resolved_in"
_GROWTH_STEPS = (10, 25, 50)


def growth_point(claims: int) -> int:
    """The highest of 10, 25, 50, 100, 250, 500, 1000, … that the claims have reached, or 0."""
    reached, scale = 0, 1
    while _GROWTH_STEPS[0] * scale <= claims:
        reached = max(point * scale for point in _GROWTH_STEPS if point * scale <= claims)
        scale *= 10
    return reached


class IssueState(StrEnum):
    """The state of an issue. A `new` one has neither grown nor been looked at by a person."""

    NEW = "new"
    OPEN = "open"
    ACKNOWLEDGED = "acknowledged"
    RESOLVED = "resolved"
    REGRESSED = "regressed"
    IGNORED = "ignored"

    @property
    def is_closed(self) -> bool:
        """True if nobody has to act."""
        return self in (IssueState.RESOLVED, IssueState.IGNORED)


class IssueAction(StrEnum):
    """An action of a person that changes an issue's state."""

    ACKNOWLEDGE = "ack"
    RESOLVE = "resolve"
    REOPEN = "reopen"
    IGNORE = "ignore"


_LEADS_TO = {
    IssueAction.ACKNOWLEDGE: IssueState.ACKNOWLEDGED,
    IssueAction.RESOLVE: IssueState.RESOLVED,
    IssueAction.REOPEN: IssueState.OPEN,
    IssueAction.IGNORE: IssueState.IGNORED,
}
_FROM = {
    IssueAction.ACKNOWLEDGE: {IssueState.NEW, IssueState.OPEN, IssueState.REGRESSED},
    IssueAction.RESOLVE: {
        IssueState.NEW,
        IssueState.OPEN,
        IssueState.ACKNOWLEDGED,
        IssueState.REGRESSED,
    },
    IssueAction.REOPEN: {IssueState.ACKNOWLEDGED, IssueState.RESOLVED, IssueState.IGNORED},
    IssueAction.IGNORE: set(IssueState) - {IssueState.IGNORED},
}


def state_after(state: IssueState, action: IssueAction) -> IssueState | None:
    """The state after a person's action; None if this state does not allow it.

    Repeating an action leaves the state as it is.
    """
    target = _LEADS_TO[action]
    return target if state is target or state in _FROM[action] else None


def allowed_actions(state: IssueState) -> tuple[IssueAction, ...]:
    """The actions that this state allows."""
    return tuple(action for action in IssueAction if state in _FROM[action])


def state_after_growth(state: IssueState) -> IssueState:
    """The state after an issue has grown: a new one is open then."""
    return IssueState.OPEN if state is IssueState.NEW else state


def state_after_match(state: IssueState) -> IssueState:
    """The state after another failure matched the issue: a resolved one has regressed then."""
    return IssueState.REGRESSED if state is IssueState.RESOLVED else state
