"""A person's actions on an issue, recorded as events in its trail."""

from __future__ import annotations

import json

from otel_rt4chart.core.errors import InputError
from rt4chart_clustering.grouping.ignore_until import IgnoreUntil
from rt4chart_clustering.grouping.issue_state import (
    RESOLVED_IN,
    IssueAction,
    IssueState,
    allowed_actions,
    state_after,
)
from rt4chart_collector.core.ticket_url import ticket_url
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.issues.issue_events import RENAMED, IssueEvent, record_events
from rt4chart_collector.store.issues.issue_tickets import LINK
from rt4chart_collector.store.issues.issues import Issue

MAX_TITLE = 200
MAX_RELEASE = 500
FOR_EVER = IgnoreUntil()


def change_state(
    client: Client,
    issue: Issue,
    action: IssueAction,
    *,
    actor: str,
    at_ns: int,
    note: str = "",
    until: IgnoreUntil = FOR_EVER,
    release: str = "",
) -> IssueState:
    """Perform an action and return the issue's new state.

    `until` ends an ignoring, `release` is the one in which an issue is resolved: failures of
    earlier ones are no regression. A repeated action writes nothing but its note and these two.
    InputError if the state does not allow it.
    """
    state, target = IssueState(issue.state), check_action(issue, action)
    terms = [until.event(issue.id, at_ns, actor)] if until else []
    if release:
        if len(release) > MAX_RELEASE:
            raise InputError(
                f"expected a release of {MAX_RELEASE} characters at most, got {len(release)}"
            )
        terms.append(IssueEvent(issue.id, at_ns, RESOLVED_IN, release, "", actor))
    if target is not state or terms:
        record_events(client, [IssueEvent(issue.id, at_ns, "state", target, note, actor), *terms])
    elif note:
        add_note(client, issue, note, actor=actor, at_ns=at_ns)
    return target


def check_action(issue: Issue, action: IssueAction) -> IssueState:
    """The state after the action; InputError if the issue's state does not allow it."""
    state = IssueState(issue.state)
    target = state_after(state, action)
    if target is None:
        possible = ", ".join(allowed_actions(state))
        raise InputError(
            f"expected one of {possible} for {issue.id:016x}, which is {state}, got {action}"
        )
    return target


def conditions(
    issue: Issue, *, now_ns: int, seconds: int = 0, failures: int = 0, a_day: int = 0
) -> IgnoreUntil:
    """Ignore an issue for that time, that many further failures, or until so many come a day."""
    return IgnoreUntil(
        now_ns + seconds * 10**9 if seconds else 0,
        issue.claims + failures if failures else 0,
        a_day,
    )


def link_ticket(
    client: Client, issue: Issue, url: str, *, actor: str, at_ns: int, is_removed: bool = False
) -> None:
    """Record the address of a ticket that somebody made elsewhere, or that it is no longer one."""
    value = {
        "system": LINK,
        "key": "",
        "url": ticket_url(url),
        "claims": issue.claims,
        "removed": is_removed,
    }
    record_events(client, [IssueEvent(issue.id, at_ns, "ticket", json.dumps(value), "", actor)])


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
