"""Issues and their members: an append-only registry, the newest version of each row counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rt4chart_collector.store.connect import Client
from rt4chart_collector.store.failures import Key
from rt4chart_collector.store.layout import Layout, Row, token_of

NAME = "LowCardinality(String)"
STATUS = "Enum8('open' = 1, 'ack' = 2, 'resolved' = 3, 'ignored' = 4, 'regressed' = 5)"
ISSUES = Layout(
    "rt4chart_issues",
    (
        ("IssueId", "UInt64"),
        ("Title", "String"),
        ("FailureType", NAME),
        ("Fingerprint", NAME),
        ("Service", NAME),
        ("Route", NAME),
        ("Status", STATUS),
        ("FirstSeen", "DateTime64(3, 'UTC')"),
        ("LastSeen", "DateTime64(3, 'UTC')"),
        ("Occurrences", "UInt64"),
        ("Routes", f"Array({NAME})"),
        ("Centroid", "Array(Float32)"),
        ("ExampleTraceIds", "Array(String)"),
        ("RunId", "String"),
        ("Version", "UInt64"),
        ("IsDeleted", "UInt8"),
    ),
)
MEMBERS = Layout(
    "rt4chart_issue_members",
    (
        ("IssueId", "UInt64"),
        ("RunId", "String"),
        ("TraceId", "String"),
        ("SpanId", "String"),
        ("ClaimIndex", "Int32"),
        ("Distance", "Float32"),
        ("Timestamp", "DateTime64(9, 'UTC')"),
        ("Version", "UInt64"),
    ),
)
EMBEDDINGS = Layout(
    "rt4chart_failure_embeddings",
    (
        ("Timestamp", "DateTime64(9, 'UTC')"),
        ("TraceId", "String"),
        ("SpanId", "String"),
        ("ClaimIndex", "Int32"),
        ("EmbeddingModel", NAME),
        ("Text", "String"),
        ("Embedding", "Array(Float32)"),
        ("Version", "UInt64"),
    ),
)
LIST = """
SELECT IssueId, Title, Fingerprint, Service, Route, toString(Status) AS Status,
    toUnixTimestamp64Milli(FirstSeen) AS First, toUnixTimestamp64Milli(LastSeen) AS Last,
    Occurrences, Centroid, ExampleTraceIds, RunId
FROM rt4chart_issues FINAL
WHERE IsDeleted = 0
ORDER BY Occurrences DESC, IssueId
"""
MEMBERS_OF = """
SELECT TraceId, SpanId, ClaimIndex FROM rt4chart_issue_members FINAL
WHERE IssueId = {id:UInt64} AND RunId = {run:String}
ORDER BY has({shown:Array(String)}, TraceId) DESC, indexOf({shown:Array(String)}, TraceId),
    Distance, TraceId, SpanId, ClaimIndex
LIMIT 1 BY TraceId LIMIT {limit:UInt32}
"""
MS = 1_000_000


@dataclass(frozen=True, slots=True)
class Issue:
    """A named group of failures; times in nanoseconds, `centroid` in the embedder's space.

    `run` is the run that last saw it: its members are those of that run.
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
    status: str = "open"
    example_traces: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Member:
    """A failure in an issue; `distance` is from the issue's middle, the medoid's is 0."""

    issue: int
    key: Key
    time_ns: int
    distance: float


@dataclass(frozen=True, slots=True)
class Embedded:
    """The vector of a failure, and the text that it was made from."""

    key: Key
    time_ns: int
    text: str
    vector: tuple[float, ...]


def insert_issues(client: Client, issues: Sequence[Issue], *, version: int) -> None:
    """Write a new version of each issue."""
    rows: list[Row] = [
        (issue.id, issue.title, issue.fingerprint.rpartition(":")[2], issue.fingerprint,
         issue.service, issue.route, issue.status, issue.first_ns // MS, issue.last_ns // MS,
         issue.claims, [issue.route], list(issue.centroid), list(issue.example_traces),
         issue.run, version, 0)
        for issue in issues
    ]  # fmt: skip
    ISSUES.insert(client, rows, token=token_of("issues", [(i.id, version) for i in issues]))


def insert_members(client: Client, members: Sequence[Member], *, run: str, version: int) -> None:
    """Write who belongs to which issue in this run."""
    rows: list[Row] = [
        (member.issue, run, *member.key, member.distance, member.time_ns, version)
        for member in members
    ]
    token = token_of("members", [(m.issue, *m.key, run) for m in members])
    MEMBERS.insert(client, rows, token=token)


def insert_embeddings(
    client: Client, embedded: Sequence[Embedded], *, model: str, version: int
) -> None:
    """Write the failures' vectors under the embedder's name."""
    rows: list[Row] = [
        (one.time_ns, *one.key, model, one.text, list(one.vector), version) for one in embedded
    ]
    token = token_of("embeddings", [(*one.key, model, version) for one in embedded])
    EMBEDDINGS.insert(client, rows, token=token)


def list_issues(client: Client) -> list[Issue]:
    """Every issue as it is now, the largest first."""
    return [_issue(row) for row in client.query(LIST).named_results()]


def member_keys(client: Client, issue: Issue, *, limit: int) -> list[Key]:
    """Members of an issue's last run, one a trace: its examples first, then the most typical."""
    shown = list(issue.example_traces)
    given = {"id": issue.id, "run": issue.run, "limit": limit, "shown": shown}
    return [tuple(row) for row in client.query(MEMBERS_OF, given).result_rows]


def _issue(row: Mapping[str, Any]) -> Issue:
    return Issue(
        id=row["IssueId"],
        title=row["Title"],
        fingerprint=row["Fingerprint"],
        service=row["Service"],
        route=row["Route"],
        first_ns=row["First"] * MS,
        last_ns=row["Last"] * MS,
        claims=row["Occurrences"],
        centroid=tuple(row["Centroid"]),
        run=row["RunId"],
        example_traces=tuple(row["ExampleTraceIds"]),
        status=row["Status"],
    )
