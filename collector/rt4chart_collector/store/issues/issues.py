"""Issues as they are now: the registry's rows, what was done to them, and what they count.

A row is written when an issue is born and never removed. Its title, state and counts are a copy
for dashboards, as of the run that wrote it; `list_issues` reads the events and the assignments.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated

from rt4chart_collector.store.engine.columns import IsDeleted, Key, Partition, Version
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.rows import NAME, TIME_MS, RowTable, StoredAs, read, token_of
from rt4chart_collector.store.issues.assignments import assignments_of
from rt4chart_collector.store.issues.issue_events import (
    RENAMED,
    Event,
    aliases_among,
    folded,
    last_events,
)
from rt4chart_collector.store.issues.issue_figures import IssueFigures, figures

STATUS = "Enum8('open' = 1, 'ack' = 2, 'resolved' = 3, 'ignored' = 4, 'regressed' = 5)"
# The column knows fewer states than the events, and one under another name.
COLUMN_OF_STATE = {"new": "open", "acknowledged": "ack"}
STATE_OF_COLUMN = {"ack": "acknowledged"}
MS = 1_000_000


@dataclass(frozen=True, slots=True)
class IssueRow:
    """An issue's row: its title, state and counts are a copy as of the run that wrote it."""

    id: Annotated[int, StoredAs("IssueId", "UInt64")]
    title: Annotated[str, StoredAs("Title", "String")]
    summary: Annotated[str, StoredAs("Summary", "String")]
    failure_type: Annotated[str, StoredAs("FailureType", NAME)]
    fingerprint: Annotated[str, StoredAs("Fingerprint", NAME)]
    service: Annotated[str, StoredAs("Service", NAME)]
    route: Annotated[str, StoredAs("Route", NAME)]
    status: Annotated[str, StoredAs("Status", STATUS)]
    first_ns: Annotated[int, StoredAs("FirstSeen", TIME_MS)]
    last_ns: Annotated[int, StoredAs("LastSeen", TIME_MS)]
    occurrences: Annotated[int, StoredAs("Occurrences", "UInt64")]
    routes: Annotated[tuple[str, ...], StoredAs("Routes", f"Array({NAME})")]
    centroid: Annotated[tuple[float, ...], StoredAs("Centroid", "Array(Float32)")]
    model: Annotated[str, StoredAs("EmbeddingModel", NAME)]
    example_traces: Annotated[tuple[str, ...], StoredAs("ExampleTraceIds", "Array(String)")]
    run: Annotated[str, StoredAs("RunId", "String")]
    version: Version
    is_deleted: IsDeleted = False


ISSUES = RowTable("rt4chart_issues", IssueRow)
REGISTRY = f"""
SELECT {ISSUES.select()} FROM rt4chart_issues FINAL
WHERE IsDeleted = 0
ORDER BY IssueId
"""  # noqa: S608 - our own names


@dataclass(frozen=True, slots=True)
class Issue:
    """A named group of failures; times in nanoseconds, `centroid` in the space of `model`.

    `weighted` is what its `claims` stand for at their sample rates, `answers` how many they are in.
    `aliases` were merged into it. `run` is the run that wrote its row.
    """

    id: int
    title: str
    fingerprint: str
    service: str
    route: str
    first_ns: int
    last_ns: int
    claims: int
    centroid: tuple[float, ...]
    run: str
    state: str = "new"
    example_traces: tuple[str, ...] = ()
    model: str = ""
    summary: str = ""
    owner: str = ""
    weighted: float = 0.0
    answers: int = 0
    aliases: tuple[int, ...] = ()

    @property
    def ids(self) -> tuple[int, ...]:
        """Its id and its aliases': its assignments and its events lie under all of them."""
        return (self.id, *self.aliases)

    @property
    def partition(self) -> Partition:
        """Within what its failures were grouped: service, route and fingerprint."""
        return (self.service, self.route, self.fingerprint)


def insert_issues(client: Client, issues: Sequence[Issue], *, version: int) -> None:
    """Write a new version of each issue's row."""
    rows = [
        IssueRow(
            id=issue.id,
            title=issue.title,
            summary=issue.summary,
            failure_type=issue.fingerprint.rpartition(":")[2],
            fingerprint=issue.fingerprint,
            service=issue.service,
            route=issue.route,
            status=COLUMN_OF_STATE.get(issue.state, issue.state),
            first_ns=issue.first_ns,
            last_ns=issue.last_ns,
            occurrences=issue.claims,
            routes=(issue.route,),
            centroid=issue.centroid,
            model=issue.model,
            example_traces=issue.example_traces,
            run=issue.run,
            version=version,
        )
        for issue in issues
    ]
    ISSUES.insert(client, rows, token=token_of("issues", [(i.id, version) for i in issues]))


def as_row(issue: Issue) -> Issue:
    """The issue as its row gives it back: what is read elsewhere is left out."""
    column = COLUMN_OF_STATE.get(issue.state, issue.state)
    return replace(
        issue,
        first_ns=issue.first_ns // MS * MS,
        last_ns=issue.last_ns // MS * MS,
        state=STATE_OF_COLUMN.get(column, column),
        owner="",
        weighted=0.0,
        answers=0,
        aliases=(),
    )


def registry(client: Client) -> list[Issue]:
    """Every issue as its row has it, aliases too, by id."""
    return [_issue(row) for row in read(client, IssueRow, REGISTRY)]


def list_issues(client: Client) -> list[Issue]:
    """Every issue as it is now, the largest first; an alias stands in `aliases` of another.

    An issue of an earlier version that no run has looked at since counts nothing yet.
    """
    return _issues_now(client, None)


def issue_of_id(client: Client, issue_id: int) -> Issue | None:
    """The issue of that id, or the one that an alias of that id stands for; None where none is."""
    return next(iter(_issues_now(client, issue_id)), None)


def _issues_now(client: Client, only: int | None) -> list[Issue]:
    rows = {issue.id: issue for issue in registry(client)}
    events = last_events(client)
    roots = aliases_among(events)
    groups = [
        ids
        for ids in folded(rows, roots).values()
        if ids[0] in rows and (only is None or only in ids)
    ]
    read = None if only is None else [one for ids in groups for one in ids]
    counted = figures(client, roots, read)
    issues = [
        _now(rows[ids[0]], ids[1:], events.get(ids[0], {}), counted.get(ids[0], IssueFigures()))
        for ids in groups
    ]
    return sorted(issues, key=lambda issue: (-issue.claims, issue.id))


def member_keys(client: Client, issue: Issue, *, limit: int) -> list[Key]:
    """Failures of an issue, one a trace: its examples first, then the most typical."""
    shown = issue.example_traces
    return [
        one.key for one in assignments_of(client, issue.ids, limit=limit, shown=shown, a_trace=1)
    ]


def as_told(issue: Issue, last: Mapping[str, Event]) -> Issue:
    """The issue with title, summary, state and owner as the last events of each kind say."""

    def told(kind: str, otherwise: str) -> str:
        return last[kind].value if kind in last else otherwise

    return replace(
        issue,
        title=told(RENAMED, "") or told("titled", issue.title),
        summary=told("summarised", issue.summary),
        state=told("state", issue.state),
        owner=told("owner", ""),
    )


def _now(
    row: Issue, aliases: Sequence[int], last: Mapping[str, Event], counts: IssueFigures
) -> Issue:
    return replace(
        as_told(row, last),
        first_ns=min(row.first_ns, counts.first_ns) if counts.claims else row.first_ns,
        last_ns=max(row.last_ns, counts.last_ns),
        claims=counts.claims,
        weighted=counts.weighted,
        answers=counts.answers,
        aliases=tuple(aliases),
    )


def _issue(row: IssueRow) -> Issue:
    return Issue(
        id=row.id,
        title=row.title,
        fingerprint=row.fingerprint,
        service=row.service,
        route=row.route,
        first_ns=row.first_ns,
        last_ns=row.last_ns,
        claims=row.occurrences,
        centroid=row.centroid,
        run=row.run,
        state=STATE_OF_COLUMN.get(row.status, row.status),
        example_traces=row.example_traces,
        model=row.model,
        summary=row.summary,
    )
