"""What a person decides about issues' identity: merges, taken back or not, and splits."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

from otel_rt4chart.core.errors import InputError
from rt4chart_clustering.grouping.identity import new_id
from rt4chart_clustering.grouping.proposals import (
    NO_MERGE,
    NO_SPLIT,
    standing_merge,
    standing_split,
)
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.issues.assignments import (
    SPLIT,
    Assignment,
    insert_assignments,
    nearer,
)
from rt4chart_collector.store.issues.issue_events import (
    Event,
    events_of,
    events_of_all,
    merged_into,
    record,
)
from rt4chart_collector.store.issues.issues import Issue, insert_issues, issue_of_id, registry


def apply_merge(
    client: Client, issue: int, into: int, *, actor: str, now_ns: int, note: str = ""
) -> Event:
    """Make an issue an alias of another: its failures, and those that match it, are that one's.

    Nothing is moved, so it can be taken back. Raises InputError where one of them is not there, or
    the two are one already.
    """
    one, other = _issue(client, issue), _issue(client, into)
    event = merged_into(client, one.id, other.id, actor=actor, at_ns=now_ns, note=note)
    # Dashboards read the rows: an alias shall not stand there beside what stands for it.
    insert_issues(client, [replace(_row(client, one.id), state="ignored")], version=now_ns)
    return event


def take_back_merge(client: Client, issue: int, *, actor: str, now_ns: int) -> Event:
    """Make an alias an issue of its own again; what matched it meanwhile stays where it is.

    Raises InputError for what is no alias.
    """
    last = [event for event in events_of(client, issue) if event.kind == "merged"]
    if not last or not last[-1].value:
        raise InputError(f"expected an issue that was merged into another, got {issue:016x}")
    event = Event(issue, now_ns, "merged", "", actor=actor)
    record(client, [event])
    return event


def apply_split(client: Client, issue: int, *, actor: str, now_ns: int, note: str = "") -> int:
    """Do the split that was proposed of an issue last; the id of the issue that comes of it.

    The larger part keeps the id. Broken off, it can be done again: what was written stays. Raises
    InputError where no split is proposed, or the one that is was done.
    """
    one = _issue(client, issue)
    proposal = standing_split(one, events_of(client, one.id))
    if proposal is None:
        raise InputError(
            f"expected an issue of which a split is proposed (rt4chart issues show), got "
            f"{issue:016x}"
        )
    proposed = json.loads(proposal.value)
    larger, smaller = proposed["middles"]
    made = new_id(one.partition, f"{one.id:016x}", proposal.id)
    moved = nearer(client, one.ids, model=proposed["model"], to=smaller, than=larger)
    # An earlier try that was broken off may have made the issue, and moved its failures.
    if all(row.id != made for row in registry(client)):
        if not moved:
            raise InputError(
                f"expected failures to move, but none of {issue:016x} is there any more"
            )
        rest = replace(_row(client, one.id), centroid=tuple(larger), model=proposed["model"])
        new = _split_off(replace(rest, id=made, centroid=tuple(smaller)), moved)
        insert_issues(client, [new, rest], version=now_ns)
    insert_assignments(
        client,
        [replace(each, issue=made, by=SPLIT, version=each.version + 1) for each in moved],
    )
    record(
        client,
        [
            Event(made, now_ns, "born", one.fingerprint, f"split from {one.id:016x}", actor),
            Event(made, now_ns, "state", "new", actor=actor),
            Event(one.id, now_ns, "split", f"{made:016x}", note, actor),
        ],
    )
    return made


def refuse_merge(client: Client, issue: int, *, actor: str, now_ns: int, note: str = "") -> Event:
    """Say no to the merge that is proposed of an issue: the same one is not proposed again.

    Raises InputError where none is proposed.
    """
    one = _issue(client, issue)
    proposal = standing_merge(one, events_of_all(client, one.ids))
    if proposal is None:
        raise InputError(f"expected an issue of which a merge is proposed, got {one.id:016x}")
    into = str(json.loads(proposal.value)["into"])
    event = Event(proposal.issue, now_ns, NO_MERGE, into, note, actor)
    record(client, [event])
    return event


def refuse_split(client: Client, issue: int, *, actor: str, now_ns: int, note: str = "") -> Event:
    """Say no to the split that is proposed of an issue; InputError where none is."""
    one = _issue(client, issue)
    if standing_split(one, events_of(client, one.id)) is None:
        raise InputError(f"expected an issue of which a split is proposed, got {one.id:016x}")
    event = Event(one.id, now_ns, NO_SPLIT, "", note, actor)
    record(client, [event])
    return event


def _split_off(row: Issue, moved: Sequence[Assignment]) -> Issue:
    """The new issue's row, which has nothing yet of what a person or a run gave to the old one."""
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


def _issue(client: Client, issue: int) -> Issue:
    found = issue_of_id(client, issue)
    if found is None:
        raise InputError(
            f"expected the id of an issue (rt4chart issues lists them), got {issue:016x}"
        )
    return found


def _row(client: Client, issue: int) -> Issue:
    return next(row for row in registry(client) if row.id == issue)
