"""A person's actions on an issue, recorded as events in its trail."""

from __future__ import annotations

from otel_rt4chart.core.errors import InputError
from rt4chart_clustering.grouping.issue_state import (
    IssueAction,
    IssueState,
    allowed_actions,
    state_after,
)
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.issues.issue_events import RENAMED, IssueEvent, record_events
from rt4chart_collector.store.issues.issues import Issue

MAX_TITLE = 200


def change_state(
    client: Client, issue: Issue, action: IssueAction, *, actor: str, at_ns: int, note: str = ""
) -> IssueState:
    """Perform an action and return the issue's new state.

    A repeated action writes nothing but its note. InputError if the state does not allow it.
    """
    state = IssueState(issue.state)
    target = state_after(state, action)
    if target is None:
        possible = ", ".join(allowed_actions(state))
        raise InputError(f"expected one of {possible} for an issue that is {state}, got {action}")
    if target is not state:
        record_events(client, [IssueEvent(issue.id, at_ns, "state", target, note, actor)])
    elif note:
        add_note(client, issue, note, actor=actor, at_ns=at_ns)
    return target


def assign_owner(
    client: Client, issue: Issue, owner: str, *, actor: str, at_ns: int, note: str = ""
) -> None:
    """Set the owner; an empty name removes the owner."""
    record_events(client, [IssueEvent(issue.id, at_ns, "owner", owner, note, actor)])


def add_note(client: Client, issue: Issue, text: str, *, actor: str, at_ns: int) -> None:
    """Add a note to the trail."""
    if not text.strip():
        raise InputError("expected a note, got an empty text")
    record_events(client, [IssueEvent(issue.id, at_ns, "note", "", text, actor)])


def rename_issue(
    client: Client, issue: Issue, title: str, *, actor: str, at_ns: int, note: str = ""
) -> None:
    """Set a title that later runs do not replace; "" restores the generated title."""
    title_line = " ".join(title.split())
    if len(title_line) > MAX_TITLE:
        raise InputError(
            f"expected a title of {MAX_TITLE} characters at most, got {len(title_line)}: shorten it"
        )
    record_events(client, [IssueEvent(issue.id, at_ns, RENAMED, title_line, note, actor)])
