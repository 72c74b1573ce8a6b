"""Merges and splits of issues, as a person decides them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

from otel_rt4chart.core.errors import InputError
from rt4chart_clustering.grouping.identity import derive_issue_id
from rt4chart_clustering.grouping.open_proposals import (
    REFUSED_MERGE,
    REFUSED_SPLIT,
    open_merge_proposal,
    open_split_proposal,
)
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.issues.assignments import (
    BY_SPLIT,
    Assignment,
    insert_assignments,
    nearer_assignments,
)
from rt4chart_collector.store.issues.issue_events import (
    IssueEvent,
    events_of,
    events_of_all,
    record_events,
    record_merge,
)
from rt4chart_collector.store.issues.issues import Issue, find_issue, insert_issues, stored_issues


def merge_issues(
    client: Client, issue: int, into: int, *, actor: str, now_ns: int, note: str = ""
) -> IssueEvent:
    """Make an issue an alias of another, which then stands for the failures of both.

    No failure is moved, so the merge can be undone. Raises InputError if one of them does not exist
    or they are merged already.
    """
    one, other = _find_issue(client, issue), _find_issue(client, into)
    event = record_merge(client, one.id, other.id, actor=actor, at_ns=now_ns, note=note)
    # Dashboards read the rows, and must not list an alias beside its issue.
    insert_issues(client, [replace(_registry_row(client, one.id), state="ignored")], version=now_ns)
    return event


def undo_merge(client: Client, issue: int, *, actor: str, now_ns: int) -> IssueEvent:
    """Make an alias an issue of its own again.

    Failures that were assigned since the merge stay with the other issue. Raises InputError if the
    issue is not an alias.
    """
    last = [event for event in events_of(client, issue) if event.kind == "merged"]
    if not last or not last[-1].value:
        raise InputError(f"expected an issue that was merged into another, got {issue:016x}")
    event = IssueEvent(issue, now_ns, "merged", "", actor=actor)
    record_events(client, [event])
    return event


def split_issue(client: Client, issue: int, *, actor: str, now_ns: int, note: str = "") -> int:
    """Apply the split that was proposed for an issue last, and return the new issue's id.

    The larger part keeps the id. An interrupted split can be repeated. Raises InputError if there
    is no open proposal.
    """
    one = _find_issue(client, issue)
    proposal = open_split_proposal(one, events_of(client, one.id))
    if proposal is None:
        raise InputError(
            f"expected an issue with a proposed split (rt4chart issues show), got {issue:016x}"
        )
    proposed = json.loads(proposal.value)
    larger, smaller = proposed["middles"]
    made = derive_issue_id(one.partition, f"{one.id:016x}", proposal.id)
    moved = nearer_assignments(client, one.ids, model=proposed["model"], to=smaller, than=larger)
    # An interrupted attempt may have created the issue and moved its failures.
    if all(row.id != made for row in stored_issues(client)):
        if not moved:
            raise InputError(
                f"expected failures to move, but no failure of {issue:016x} is stored any more"
            )
        rest = replace(
            _registry_row(client, one.id), centroid=tuple(larger), model=proposed["model"]
        )
        new = _split_row(replace(rest, id=made, centroid=tuple(smaller)), moved)
        insert_issues(client, [new, rest], version=now_ns)
    insert_assignments(
        client,
        [replace(each, issue=made, by=BY_SPLIT, version=each.version + 1) for each in moved],
    )
    record_events(
        client,
        [
            IssueEvent(made, now_ns, "born", one.fingerprint, f"split from {one.id:016x}", actor),
            IssueEvent(made, now_ns, "state", "new", actor=actor),
            IssueEvent(one.id, now_ns, "split", f"{made:016x}", note, actor),
        ],
    )
    return made


def refuse_merge(
    client: Client, issue: int, *, actor: str, now_ns: int, note: str = ""
) -> IssueEvent:
    """Refuse the merge that is proposed for an issue, so that it is not proposed again.

    Raises InputError if no merge is proposed.
    """
    one = _find_issue(client, issue)
    proposal = open_merge_proposal(one, events_of_all(client, one.ids))
    if proposal is None:
        raise InputError(f"expected an issue with a proposed merge, got {one.id:016x}")
    into = str(json.loads(proposal.value)["into"])
    event = IssueEvent(proposal.issue, now_ns, REFUSED_MERGE, into, note, actor)
    record_events(client, [event])
    return event


def refuse_split(
    client: Client, issue: int, *, actor: str, now_ns: int, note: str = ""
) -> IssueEvent:
    """Refuse the split that is proposed for an issue; InputError if none is."""
    one = _find_issue(client, issue)
    if open_split_proposal(one, events_of(client, one.id)) is None:
        raise InputError(f"expected an issue with a proposed split, got {one.id:016x}")
    event = IssueEvent(one.id, now_ns, REFUSED_SPLIT, "", note, actor)
    record_events(client, [event])
    return event


def _split_row(row: Issue, moved: Sequence[Assignment]) -> Issue:
    """The new issue's row, without the title, state and examples of the old one."""
    times = [failure.time_ns for failure in moved]
    return replace(
        row,
        title="",
        summary="",
        state="new",
        first_ns=min(times),
        last_ns=max(times),
        claims=len(moved),
        example_traces=(),
    )


def _find_issue(client: Client, issue: int) -> Issue:
    found = find_issue(client, issue)
    if found is None:
        raise InputError(
            f"expected the id of an issue (rt4chart issues lists them), got {issue:016x}"
        )
    return found


def _registry_row(client: Client, issue: int) -> Issue:
    return next(row for row in stored_issues(client) if row.id == issue)
