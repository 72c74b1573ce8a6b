"""What a person does to an issue, as events in its trail."""

from __future__ import annotations

from otel_rt4chart.core.errors import InputError
from rt4chart_clustering.grouping.issue_state import Act, State, acts_in, after
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.issues.issue_events import RENAMED, Event, record
from rt4chart_collector.store.issues.issues import Issue

LONGEST_TITLE = 200


def move(
    client: Client, issue: Issue, act: Act, *, actor: str, at_ns: int, note: str = ""
) -> State:
    """Do it and say who did; the state that the issue is in then.

    An act done before is not written again, unless there is something to note. InputError where it
    may not be done in the issue's state.
    """
    state = State(issue.state)
    wanted = after(state, act)
    if wanted is None:
        possible = ", ".join(acts_in(state))
        raise InputError(f"expected one of {possible} for an issue that is {state}, got {act}")
    if wanted is not state:
        record(client, [Event(issue.id, at_ns, "state", wanted, note, actor)])
    elif note:
        remark(client, issue, note, actor=actor, at_ns=at_ns)
    return wanted


def assign(
    client: Client, issue: Issue, owner: str, *, actor: str, at_ns: int, note: str = ""
) -> None:
    """Make somebody the owner; nobody where the name is empty."""
    record(client, [Event(issue.id, at_ns, "owner", owner, note, actor)])


def remark(client: Client, issue: Issue, text: str, *, actor: str, at_ns: int) -> None:
    """Write a note."""
    if not text.strip():
        raise InputError("expected a note, got an empty text")
    record(client, [Event(issue.id, at_ns, "note", "", text, actor)])


def rename(
    client: Client, issue: Issue, title: str, *, actor: str, at_ns: int, note: str = ""
) -> None:
    """Give it a person's title, which stands whatever a run would call it; "" takes it back."""
    named = " ".join(title.split())
    if len(named) > LONGEST_TITLE:
        raise InputError(
            f"expected a title of {LONGEST_TITLE} characters at most, got {len(named)}: shorten it"
        )
    record(client, [Event(issue.id, at_ns, RENAMED, named, note, actor)])
