"""Issues: the stored rows, combined with their events and figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated

from rt4chart_collector.store.answers.verifications import FINAL_PER_PARTITION, Verification
from rt4chart_collector.store.engine.columns import (
    AT_START,
    OF_ANSWER,
    ClaimKey,
    IsDeleted,
    Partition,
    Version,
)
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.rows import (
    LOW_CARDINALITY,
    TIME_MS,
    RowTable,
    StoredAs,
    batch_token,
    field_values,
    read,
)
from rt4chart_collector.store.issues.assignments import assignments_of
from rt4chart_collector.store.issues.issue_events import (
    RENAMED,
    IssueEvent,
    group_by_root,
    last_events,
    resolve_aliases,
)
from rt4chart_collector.store.issues.issue_figures import FigurePart, IssueFigures, issue_figures

STATUS_TYPE = "Enum8('open' = 1, 'ack' = 2, 'resolved' = 3, 'ignored' = 4, 'regressed' = 5)"
# The column has fewer states than the events, and another name for one of them.
COLUMN_OF_STATE = {"new": "open", "acknowledged": "ack"}
STATE_OF_COLUMN = {"ack": "acknowledged"}
MS = 1_000_000


@dataclass(frozen=True, slots=True)
class IssueRow:
    """A stored issue; its title, state and counts are copies as of the run that wrote it.

    Dashboards read the copies; `list_issues` reads the events and assignments.
    """

    id: Annotated[int, StoredAs("IssueId", "UInt64")]
    title: Annotated[str, StoredAs("Title", "String")]
    summary: Annotated[str, StoredAs("Summary", "String")]
    failure_type: Annotated[str, StoredAs("FailureType", LOW_CARDINALITY)]
    fingerprint: Annotated[str, StoredAs("Fingerprint", LOW_CARDINALITY)]
    service: Annotated[str, StoredAs("Service", LOW_CARDINALITY)]
    route: Annotated[str, StoredAs("Route", LOW_CARDINALITY)]
    status: Annotated[str, StoredAs("Status", STATUS_TYPE)]
    first_ns: Annotated[int, StoredAs("FirstSeen", TIME_MS)]
    last_ns: Annotated[int, StoredAs("LastSeen", TIME_MS)]
    occurrences: Annotated[int, StoredAs("Occurrences", "UInt64")]
    routes: Annotated[tuple[str, ...], StoredAs("Routes", f"Array({LOW_CARDINALITY})")]
    centroid: Annotated[tuple[float, ...], StoredAs("Centroid", "Array(Float32)")]
    model: Annotated[str, StoredAs("EmbeddingModel", LOW_CARDINALITY)]
    example_traces: Annotated[tuple[str, ...], StoredAs("ExampleTraceIds", "Array(String)")]
    run: Annotated[str, StoredAs("RunId", "String")]
    version: Version
    is_deleted: IsDeleted = False


ISSUES = RowTable("rt4chart_issues", IssueRow)
STORED_ISSUES = f"""
SELECT {ISSUES.select()} FROM rt4chart_issues FINAL
WHERE IsDeleted = 0
ORDER BY IssueId
"""  # noqa: S608 - our own names


@dataclass(frozen=True, slots=True)
class Issue:
    """A named group of failures; times in nanoseconds, `centroid` in the space of `model`.

    `weighted` is the sum of its claims' weights, `answers` the number of their answers. `aliases`
    are issues merged into it. `run` is the grouping run that wrote its row. `steps` are those of
    `IssueFigures`.
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
    steps: tuple[FigurePart, ...] = ()

    @property
    def ids(self) -> tuple[int, ...]:
        """Its id and its aliases: its assignments and events are stored under all of them."""
        return (self.id, *self.aliases)

    @property
    def partition(self) -> Partition:
        """The partition of its failures: service, route and fingerprint."""
        return (self.service, self.route, self.fingerprint)


def insert_issues(client: Client, issues: Sequence[Issue], *, version: int) -> None:
    """Write a new version of each issue's row."""
    rows = [
        IssueRow(
            **field_values(issue, IssueRow),
            failure_type=issue.fingerprint.rpartition(":")[2],
            status=COLUMN_OF_STATE.get(issue.state, issue.state),
            occurrences=issue.claims,
            routes=(issue.route,),
            version=version,
        )
        for issue in issues
    ]
    ISSUES.insert(client, rows, token=batch_token("issues", [(i.id, version) for i in issues]))


def last_written(client: Client) -> tuple[int, int]:
    """The number of issues and the newest version of one: another after a run that changed any."""
    ((issues, version),) = client.query(
        "SELECT uniqExact(IssueId), max(Version) FROM rt4chart_issues"
    ).result_rows
    return int(issues), int(version)


def as_stored(issue: Issue) -> Issue:
    """The issue as it is read from its row, without figures, aliases and owner."""
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
        steps=(),
    )


def stored_issues(client: Client) -> list[Issue]:
    """Every stored issue, aliases too, by id, without events and figures."""
    return [_issue_from_row(row) for row in read(client, IssueRow, STORED_ISSUES)]


def list_issues(client: Client) -> list[Issue]:
    """Every issue with its events and figures, the largest first; aliases are in their root."""
    return _current_issues(client, None)


def find_issue(client: Client, issue_id: int) -> Issue | None:
    """The issue of that id, or the root issue of that alias; None for an unknown id."""
    return next(iter(_current_issues(client, issue_id)), None)


def _current_issues(client: Client, only: int | None) -> list[Issue]:
    rows = {issue.id: issue for issue in stored_issues(client)}
    events = last_events(client)
    roots = resolve_aliases(events)
    groups = [
        ids
        for ids in group_by_root(rows, roots).values()
        if ids[0] in rows and (only is None or only in ids)
    ]
    read = None if only is None else [issue for ids in groups for issue in ids]
    counted = issue_figures(client, roots, read)
    issues = [
        _current_issue(
            rows[ids[0]], ids[1:], events.get(ids[0], {}), counted.get(ids[0], IssueFigures())
        )
        for ids in groups
    ]
    return sorted(issues, key=lambda issue: (-issue.claims, issue.id))


def member_keys(client: Client, issue: Issue, *, limit: int) -> list[ClaimKey]:
    """Failures of an issue, one for each trace: its examples first, then the most typical."""
    examples = issue.example_traces
    return [
        row.key
        for row in assignments_of(client, issue.ids, limit=limit, examples=examples, per_trace=1)
    ]


def apply_events(issue: Issue, last: Mapping[str, IssueEvent]) -> Issue:
    """The issue with the title, summary, state and owner of the last events."""

    def last_value(kind: str, otherwise: str) -> str:
        return last[kind].value if kind in last else otherwise

    return replace(
        issue,
        title=last_value(RENAMED, "") or last_value("titled", issue.title),
        summary=last_value("summarised", issue.summary),
        state=last_value("state", issue.state),
        owner=last_value("owner", ""),
    )


def _current_issue(
    row: Issue, aliases: Sequence[int], last: Mapping[str, IssueEvent], counts: IssueFigures
) -> Issue:
    return replace(
        apply_events(row, last),
        first_ns=min(row.first_ns, counts.first_ns) if counts.claims else row.first_ns,
        last_ns=max(row.last_ns, counts.last_ns),
        claims=counts.claims,
        weighted=counts.weighted,
        answers=counts.answers,
        aliases=tuple(aliases),
        steps=counts.steps,
    )


def _issue_from_row(row: IssueRow) -> Issue:
    """The issue; fields of one name mean the same in both."""
    state = STATE_OF_COLUMN.get(row.status, row.status)
    return Issue(**field_values(row, Issue), claims=row.occurrences, state=state)


# Beyond the limit, the issues with the oldest last failure are left out.
LATEST_ISSUES = f"""
SELECT {ISSUES.select("id", "title", "service", "route", "first_ns")}
FROM rt4chart_issues FINAL WHERE IsDeleted = 0
ORDER BY LastSeen DESC, IssueId LIMIT {{limit:UInt32}}
"""  # noqa: S608 - our own names
WATCHED_KINDS = ("titled", "state", "merged", "born")


@dataclass(frozen=True, slots=True)
class WatchedIssue:
    """An issue for the monitor: its state ("" for none yet), since when, and when it was created.

    `first_ns` is the time of its first failure, `born_ns` that of its creation, 0 if unknown.
    """

    id: int
    title: str
    service: str
    route: str
    first_ns: int
    born_ns: int = 0
    state: str = ""
    state_ns: int = 0
    aliases: tuple[int, ...] = ()


def watched_issues(client: Client, *, limit: int = 10_000) -> list[WatchedIssue]:
    """The `limit` issues with the latest failures, without aliases and centroids, by id."""
    rows = read(client, WatchedIssue, LATEST_ISSUES, {"limit": limit})
    events = last_events(client, WATCHED_KINDS)
    roots = resolve_aliases(events)
    under: dict[int, list[int]] = {}
    for alias, root in sorted(roots.items()):
        under.setdefault(root, []).append(alias)
    return [
        _watched_issue(row, events.get(row.id, {}), under.get(row.id, ()))
        for row in sorted(rows, key=lambda row: row.id)
        if row.id not in roots
    ]


def _watched_issue(
    row: WatchedIssue, last: Mapping[str, IssueEvent], aliases: Sequence[int]
) -> WatchedIssue:
    title, state, created = (last.get(kind) for kind in ("titled", "state", "born"))
    return replace(
        row,
        title=title.value if title else row.title,
        born_ns=created.at_ns if created else 0,
        state=state.value if state else "",
        state_ns=state.at_ns if state else 0,
        aliases=tuple(aliases),
    )


ANSWER_ASSIGNMENTS = f"""
SELECT ClaimIndex AS claim, IssueId AS issue FROM rt4chart_issue_assignments FINAL
WHERE {OF_ANSWER} AND {AT_START} AND Version > {{version:UInt64}}
ORDER BY ClaimIndex, IssueId
"""  # noqa: S608 - our own names
ISSUE_TITLES = """
SELECT IssueId AS issue, Title AS title, toString(Status) AS state FROM rt4chart_issues FINAL
WHERE IssueId IN {ids:Array(UInt64)} AND IsDeleted = 0
"""


@dataclass(frozen=True, slots=True)
class ClaimIssue:
    """The issue of a claim, which is its index in the answer (-1: the whole answer)."""

    claim: int
    issue: int
    title: str = ""
    state: str = ""


def issues_of_answer(client: Client, verification: Verification) -> list[ClaimIssue]:
    """The issues of an answer's claims, by claim; an alias is replaced by its root issue."""
    parameters = {**verification.verdict_parameters, "version": verification.version}
    assigned = read(
        client, ClaimIssue, ANSWER_ASSIGNMENTS, parameters, settings=FINAL_PER_PARTITION
    )
    if not assigned:
        return []
    events = last_events(client)
    roots = resolve_aliases(events)
    found = [replace(row, issue=roots.get(row.issue, row.issue)) for row in assigned]
    ids = sorted({row.issue for row in found})
    stored = {row["issue"]: row for row in client.query(ISSUE_TITLES, {"ids": ids}).named_results()}
    return [_titled(row, stored.get(row.issue, {}), events.get(row.issue, {})) for row in found]


def _titled(
    row: ClaimIssue, stored: Mapping[str, str], last: Mapping[str, IssueEvent]
) -> ClaimIssue:
    value = {kind: event.value for kind, event in last.items()}
    title = value.get(RENAMED) or value.get("titled") or stored.get("title", "")
    return replace(row, title=title, state=value.get("state", stored.get("state", "")))
