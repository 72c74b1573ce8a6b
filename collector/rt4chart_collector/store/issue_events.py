"""What happened to issues: an append-only trail, from which their state, owner and names are read.

An issue whose last event of the kind `merged` names another is an alias of that one.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from otel_rt4chart.core.errors import InputError
from rt4chart_collector.store.connect import Client
from rt4chart_collector.store.layout import NAME, Layout, Row, token_of

ITSELF = "rt4chart"
STATES = ("new", "open", "acknowledged", "resolved", "regressed", "ignored")
# Of these the last one counts; of the others all of them.
# A title that a person gave stands before the run's.
RENAMED = "renamed"
LASTING = ("titled", RENAMED, "summarised", "state", "owner", "merged")
EVENTS = Layout(
    "rt4chart_issue_events",
    (
        ("IssueId", "UInt64"),
        ("At", "DateTime64(9, 'UTC')"),
        ("EventId", "String"),
        ("Actor", "String"),
        ("Kind", NAME),
        ("Value", "String"),
        ("Note", "String"),
    ),
)
OF_ISSUE = f"""
SELECT {EVENTS.selection} FROM rt4chart_issue_events FINAL
WHERE IssueId IN {{ids:Array(UInt64)}}
ORDER BY rt4chart_issue_events.At, EventId
"""  # noqa: S608 - our own names
LAST = """
SELECT IssueId, Kind,
    argMax((toUnixTimestamp64Nano(At), EventId, Actor, Value, Note), (At, EventId))
FROM rt4chart_issue_events FINAL
WHERE Kind IN {kinds:Array(String)}
GROUP BY IssueId, Kind
"""


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that happened; `kind` says what `value` is (migration 0005), `actor` who did it."""

    issue: int
    at_ns: int
    kind: str
    value: str = ""
    note: str = ""
    actor: str = ITSELF

    @property
    def id(self) -> str:
        """The same for the same event, written twice."""
        said = (self.issue, self.at_ns, self.actor, self.kind, self.value, self.note)
        return hashlib.sha256("\x1f".join(map(str, said)).encode()).hexdigest()[:16]


def record(client: Client, events: Sequence[Event]) -> None:
    """Write the events; the same ones twice are there once.

    Raises InputError for a state that there is not.
    """
    for event in events:
        if event.kind == "state" and event.value not in STATES:
            raise InputError(f"expected a state of {', '.join(STATES)}, got {event.value!r}")
    rows: list[Row] = [
        (one.issue, one.at_ns, one.id, one.actor, one.kind, one.value, one.note) for one in events
    ]
    EVENTS.insert(client, rows, token=token_of("events", [(one.issue, one.id) for one in events]))


def events_of(client: Client, issue_id: int) -> list[Event]:
    """The trail of an issue, the oldest event first; those of its aliases are under their ids."""
    return events_of_all(client, [issue_id])


def events_of_all(client: Client, issue_ids: Sequence[int]) -> list[Event]:
    """The trails of several issues in one, the oldest event first."""
    found = client.query(OF_ISSUE, {"ids": list(issue_ids)}).result_rows
    return [
        Event(issue, at_ns, kind, value, note, actor)
        for issue, at_ns, _, actor, kind, value, note in found
    ]


def last_events(client: Client, kinds: Sequence[str] = LASTING) -> dict[int, dict[str, Event]]:
    """The last event of each of these kinds, by issue and kind."""
    found: dict[int, dict[str, Event]] = {}
    for issue, kind, (at_ns, _, actor, value, note) in client.query(
        LAST, {"kinds": list(kinds)}
    ).result_rows:
        found.setdefault(issue, {})[kind] = Event(issue, at_ns, kind, value, note, actor)
    return found


def aliases(client: Client) -> dict[int, int]:
    """Every issue that was merged into another, and the one that stands for it in the end."""
    return aliases_among(last_events(client, ("merged",)))


def aliases_among(events: Mapping[int, Mapping[str, Event]]) -> dict[int, int]:
    """The same, of the last events of each issue by their kinds."""
    merged = {
        issue: int(last["merged"].value, 16)
        for issue, last in events.items()
        if "merged" in last and last["merged"].value
    }
    return {issue: root_of(issue, merged) for issue in merged}


def root_of(issue: int, merged: Mapping[int, int]) -> int:
    """The issue that stands for this one; of a circle, which nobody may write, the lowest id."""
    seen = [issue]
    while (following := merged.get(seen[-1])) is not None:
        if following in seen:
            return min(seen[seen.index(following) :])
        seen.append(following)
    return seen[-1]


def merged_into(
    client: Client, issue: int, into: int, *, actor: str, at_ns: int, note: str = ""
) -> Event:
    """Make an issue an alias of another, and say so; nothing is moved.

    Raises InputError where the two are one already, which is what a circle would begin with.
    """
    known = aliases(client)
    root = known.get(into, into)
    if known.get(issue, issue) == root:
        raise InputError(
            f"expected two issues, got {issue:016x} and {into:016x}, which are one: {root:016x}"
        )
    event = Event(known.get(issue, issue), at_ns, "merged", f"{root:016x}", note, actor)
    record(client, [event])
    return event


def folded(ids: Iterable[int], known: Mapping[int, int]) -> dict[int, list[int]]:
    """Each issue that is no alias with its aliases, itself first."""
    found: dict[int, list[int]] = {}
    for one in sorted(ids, key=lambda one: (one in known, one)):
        found.setdefault(known.get(one, one), []).append(one)
    return found
