"""The states of an issue, their transitions, and the sizes at which it is reviewed anew."""

from __future__ import annotations

from enum import StrEnum

GROWTH = (10, 25, 50)


def growth_point(claims: int) -> int:
    """The highest of 10, 25, 50, 100, 250, 500, 1000, … that is reached, 0 below."""
    reached, scale = 0, 1
    while GROWTH[0] * scale <= claims:
        reached = max(point * scale for point in GROWTH if point * scale <= claims)
        scale *= 10
    return reached


class State(StrEnum):
    """Where an issue stands; `new` are those that nobody has looked at and that have not grown."""

    NEW = "new"
    OPEN = "open"
    ACKNOWLEDGED = "acknowledged"
    RESOLVED = "resolved"
    REGRESSED = "regressed"
    IGNORED = "ignored"

    @property
    def is_closed(self) -> bool:
        """True where nobody has to do anything."""
        return self in (State.RESOLVED, State.IGNORED)


class Act(StrEnum):
    """What a person can do to an issue's state."""

    ACKNOWLEDGE = "ack"
    RESOLVE = "resolve"
    REOPEN = "reopen"
    IGNORE = "ignore"


_LEADS_TO = {
    Act.ACKNOWLEDGE: State.ACKNOWLEDGED,
    Act.RESOLVE: State.RESOLVED,
    Act.REOPEN: State.OPEN,
    Act.IGNORE: State.IGNORED,
}
_FROM = {
    Act.ACKNOWLEDGE: {State.NEW, State.OPEN, State.REGRESSED},
    Act.RESOLVE: {State.NEW, State.OPEN, State.ACKNOWLEDGED, State.REGRESSED},
    Act.REOPEN: {State.ACKNOWLEDGED, State.RESOLVED, State.IGNORED},
    Act.IGNORE: set(State) - {State.IGNORED},
}


def after(state: State, act: Act) -> State | None:
    """The state that a person's act leads to; None where it may not be done in this one.

    An act that has been done already leads to the state that is there.
    """
    wanted = _LEADS_TO[act]
    return wanted if state is wanted or state in _FROM[act] else None


def acts_in(state: State) -> tuple[Act, ...]:
    """What a person may do now."""
    return tuple(act for act in Act if state in _FROM[act])


def grown(state: State) -> State:
    """The state when an issue has grown: a new one is open then."""
    return State.OPEN if state is State.NEW else state


def matched(state: State) -> State:
    """The state when a failure matches the issue again: a resolved one has regressed then."""
    return State.REGRESSED if state is State.RESOLVED else state
