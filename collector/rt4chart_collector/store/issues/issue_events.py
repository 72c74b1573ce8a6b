"""The events of issues: an append-only trail from which state, owner and titles are derived.

An issue whose last `merged` event names another issue is an alias of that issue.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any

from otel_rt4chart.core.errors import InputError
from rt4chart_collector.core.actors import SYSTEM_ACTOR
from rt4chart_collector.store.engine.columns import Actor, Note
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.rows import (
    LOW_CARDINALITY,
    TIME,
    RowTable,
    StoredAs,
    batch_token,
    read,
)

STATES = ("new", "open", "acknowledged", "resolved", "regressed", "ignored")
# A title from a person takes precedence over the title from a grouping run.
RENAMED = "renamed"
# Only the last event of each of these kinds counts; of other kinds, every event.
STATE_KINDS = ("titled", RENAMED, "summarised", "state", "owner", "merged")


@dataclass(frozen=True, slots=True)
class IssueEvent:
    """An event; `kind` defines the meaning of `value`, `actor` caused it."""

    issue: Annotated[int, StoredAs("IssueId", "UInt64")]
    at_ns: Annotated[int, StoredAs("At", TIME)]
    kind: Annotated[str, StoredAs("Kind", LOW_CARDINALITY)]
    value: Annotated[str, StoredAs("Value", "String")] = ""
    note: Note = ""
    actor: Actor = SYSTEM_ACTOR
    id: Annotated[str, StoredAs("EventId", "String")] = field(default="", compare=False)

    def __post_init__(self) -> None:
        """Derive the id from the content: an event that is written twice has one id."""
        parts = (self.issue, self.at_ns, self.actor, self.kind, self.value, self.note)
        digest = hashlib.sha256("\x1f".join(map(str, parts)).encode()).hexdigest()
        object.__setattr__(self, "id", digest[:16])


EVENTS = RowTable("rt4chart_issue_events", IssueEvent)
EVENTS_OF_ISSUES = f"""
SELECT {EVENTS.select()} FROM rt4chart_issue_events FINAL
WHERE IssueId IN {{ids:Array(UInt64)}}
ORDER BY rt4chart_issue_events.At, EventId
"""  # noqa: S608 - our own names
LAST_EVENTS = f"""
SELECT {EVENTS.select()} FROM rt4chart_issue_events FINAL
WHERE Kind IN {{kinds:Array(String)}}
ORDER BY IssueId, Kind, rt4chart_issue_events.At DESC, EventId DESC LIMIT 1 BY IssueId, Kind
"""  # noqa: S608


MAX_NOTE, MAX_OWNER = 4_000, 100


def record_events(client: Client, events: Sequence[IssueEvent]) -> None:
    """Write the events; the same event twice is stored once.

    Raises InputError for an unknown state, and for a note or an owner that is too long.
    """
    for event in events:
        if len(event.note) > MAX_NOTE or (event.kind == "owner" and len(event.value) > MAX_OWNER):
            raise InputError(
                f"expected a note of at most {MAX_NOTE:,} characters and an owner of at most "
                f"{MAX_OWNER}, got {len(event.note):,} and {len(event.value):,}"
            )
        if event.kind == "state" and event.value not in STATES:
            raise InputError(f"expected a state of {', '.join(STATES)}, got {event.value!r}")
    EVENTS.insert(
        client,
        events,
        token=batch_token("events", [(event.issue, event.id) for event in events]),
    )


def events_of(client: Client, issue_id: int) -> list[IssueEvent]:
    """The trail of an issue, the oldest event first; those of its aliases are under their ids."""
    return events_of_all(client, [issue_id])


def events_of_all(client: Client, issue_ids: Sequence[int]) -> list[IssueEvent]:
    """The trails of several issues in one, the oldest event first."""
    return read(client, IssueEvent, EVENTS_OF_ISSUES, {"ids": list(issue_ids)})


def last_events(
    client: Client, kinds: Sequence[str] = STATE_KINDS
) -> dict[int, dict[str, IssueEvent]]:
    """The last event of each of these kinds, by issue and kind."""
    found: dict[int, dict[str, IssueEvent]] = {}
    for event in read(client, IssueEvent, LAST_EVENTS, {"kinds": list(kinds)}):
        found.setdefault(event.issue, {})[event.kind] = event
    return found


def event_with_state(last: Mapping[str, IssueEvent], kind: str) -> IssueEvent | None:
    """An issue's last event of a kind, if it was recorded together with the issue's state.

    None for one that belongs to an earlier decision.
    """
    recorded, state = last.get(kind), last.get("state")
    return recorded if recorded and state and recorded.at_ns == state.at_ns else None


def aliases(client: Client) -> dict[int, int]:
    """Every merged issue, with its root issue."""
    return resolve_aliases(last_events(client, ("merged",)))


def resolve_aliases(events: Mapping[int, Mapping[str, IssueEvent]]) -> dict[int, int]:
    """The root issue of each alias, from the last events of each issue by kind."""
    merged = {
        issue: int(last["merged"].value, 16)
        for issue, last in events.items()
        if "merged" in last and last["merged"].value
    }
    return {issue: root_of(issue, merged) for issue in merged}


def root_of(issue: int, merged: Mapping[int, int]) -> int:
    """The root of this issue; in a cycle (see `record_merge`) the lowest id."""
    seen = [issue]
    while (following := merged.get(seen[-1])) is not None:
        if following in seen:
            return min(seen[seen.index(following) :])
        seen.append(following)
    return seen[-1]


def record_merge(
    client: Client, issue: int, into: int, *, actor: str, at_ns: int, note: str = ""
) -> IssueEvent:
    """Make an issue an alias of another issue by an event; no failure is moved.

    Raises InputError if they have one root already, so that merges make no cycle. Two concurrent
    merges in opposite directions can make one.
    """
    known = aliases(client)
    root = known.get(into, into)
    if known.get(issue, issue) == root:
        raise InputError(
            f"expected two issues, got {issue:016x} and {into:016x}, both merged into {root:016x}"
        )
    event = IssueEvent(known.get(issue, issue), at_ns, "merged", f"{root:016x}", note, actor)
    record_events(client, [event])
    return event


def group_by_root(ids: Iterable[int], known: Mapping[int, int]) -> dict[int, list[int]]:
    """Each root issue with the ids of its group, the root first."""
    found: dict[int, list[int]] = {}
    for issue in sorted(ids, key=lambda issue: (issue in known, issue)):
        found.setdefault(known.get(issue, issue), []).append(issue)
    return found


def event_value(
    event: IssueEvent | None, *, without: Sequence[str] = ()
) -> Mapping[str, Any] | None:
    """The JSON object of an event, without some of its fields; None if there is none."""
    try:
        value = json.loads(event.value) if event else None
    except ValueError:
        return None
    if not isinstance(value, dict):
        return None
    return {name: content for name, content in value.items() if name not in without}
