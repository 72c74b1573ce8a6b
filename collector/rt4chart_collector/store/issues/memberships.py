"""How much each failure belongs to each issue of its service, and the vectors behind it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

from rt4chart_collector.store.engine.columns import (
    ClaimKey,
    ServiceName,
    StartNs,
    StoredKey,
    Version,
)
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.rows import RowTable, StoredAs, batch_token, read
from rt4chart_collector.store.issues.failures import failure_versions
from rt4chart_collector.store.issues.match_failures import IN_WINDOW, DescriptionWindow

JOINT_SERVICES = f"""
SELECT DISTINCT ServiceName AS service FROM rt4chart_failure_embeddings
WHERE {IN_WINDOW} AND JointVersion = {{joint:String}} ORDER BY service
"""  # noqa: S608 - our own names
NEWEST = f"""
    SELECT TraceId, SpanId, ClaimIndex FROM rt4chart_failure_embeddings FINAL
    WHERE {IN_WINDOW} AND JointVersion = {{joint:String}} AND ServiceName = {{service:String}}
    ORDER BY Timestamp DESC, TraceId, SpanId, ClaimIndex LIMIT {{limit:UInt32}}
"""  # noqa: S608 - our own names
OF_NEWEST = "{trace} IN (SELECT TraceId FROM newest)"
# The newest failures that are current: the verdict that they describe is the last one.
JOINT_FAILURES = f"""
WITH newest AS ({NEWEST})
SELECT e.TraceId AS key_trace, e.SpanId AS key_span, e.ClaimIndex AS key_claim,
    toUnixTimestamp64Nano(e.Timestamp) AS time_ns, e.Version AS version, e.Joint AS vector,
    if(a.Version = e.Version, a.IssueId, 0) AS issue
FROM (
    SELECT TraceId, SpanId, ClaimIndex, Timestamp, Version, Joint
    FROM rt4chart_failure_embeddings FINAL
    WHERE {IN_WINDOW} AND (TraceId, SpanId, ClaimIndex) IN (SELECT * FROM newest)
      AND (TraceId, SpanId, ClaimIndex, Version) IN ({failure_versions(OF_NEWEST)})
) AS e
LEFT ANY JOIN (
    SELECT TraceId, SpanId, ClaimIndex, IssueId, Version FROM rt4chart_issue_assignments FINAL
    WHERE IsDeleted = 0 AND {OF_NEWEST.replace("{trace}", "TraceId")}
) AS a ON a.TraceId = e.TraceId AND a.SpanId = e.SpanId AND a.ClaimIndex = e.ClaimIndex
ORDER BY key_trace, key_span, key_claim
"""  # noqa: S608 - our own names


@dataclass(frozen=True, slots=True)
class JointFailure:
    """A failure with its joint vector; `issue` is 0 if it is in none yet."""

    key: StoredKey
    time_ns: int
    version: int
    vector: Sequence[float]
    issue: int


@dataclass(frozen=True, slots=True)
class Membership:
    """The issues that a failure belongs to, with its share of each, the largest first.

    Shares add up to at most 1. `outlier` goes from 0 to 1. `description_version` is the version of
    the description that was measured.
    """

    key: StoredKey
    time_ns: StartNs
    service: ServiceName
    issues: Annotated[tuple[int, ...], StoredAs("Issues", "Array(UInt64)")]
    shares: Annotated[tuple[float, ...], StoredAs("Shares", "Array(Float32)")]
    outlier: Annotated[float, StoredAs("Outlier", "Float32")]
    description_version: Annotated[int, StoredAs("DescriptionVersion", "UInt64")]
    version: Version

    @property
    def ranked(self) -> tuple[MembershipShare, ...]:
        """The issues with their shares, the largest first."""
        return tuple(map(MembershipShare, self.issues, self.shares))


MEMBERSHIPS = RowTable("rt4chart_issue_memberships", Membership)
# A membership of an earlier verdict does not count: the assignment is then of a later description.
MEMBERSHIPS_OF_FAILURES = f"""
SELECT {MEMBERSHIPS.select(table="m")} FROM (
    SELECT * FROM rt4chart_issue_memberships FINAL
    WHERE (TraceId, SpanId, ClaimIndex) IN {{keys:Array(Tuple(String, String, Int32))}}
) AS m
INNER JOIN (
    SELECT TraceId, SpanId, ClaimIndex, Version FROM rt4chart_issue_assignments FINAL
    WHERE IsDeleted = 0 AND (TraceId, SpanId, ClaimIndex)
        IN {{keys:Array(Tuple(String, String, Int32))}}
) AS a ON a.TraceId = m.TraceId AND a.SpanId = m.SpanId AND a.ClaimIndex = m.ClaimIndex
WHERE a.Version = m.DescriptionVersion
"""  # noqa: S608 - our own names
# The mean share of each issue over the measured failures of some issues.
RELATED_ISSUES = """
WITH measured AS (
    SELECT m.Issues AS Issues, m.Shares AS Shares
    FROM rt4chart_issue_memberships AS m FINAL
    INNER JOIN (
        SELECT TraceId, SpanId, ClaimIndex, Version FROM rt4chart_issue_assignments FINAL
        WHERE IsDeleted = 0 AND IssueId IN {ids:Array(UInt64)}
    ) AS a ON a.TraceId = m.TraceId AND a.SpanId = m.SpanId AND a.ClaimIndex = m.ClaimIndex
    WHERE a.Version = m.DescriptionVersion
)
SELECT pair.1 AS issue, sum(pair.2) / (SELECT count() FROM measured) AS share
FROM measured ARRAY JOIN arrayZip(Issues, Shares) AS pair
GROUP BY issue ORDER BY share DESC, issue
"""


@dataclass(frozen=True, slots=True)
class MembershipShare:
    """An issue and a share of it, from 0 to 1."""

    issue: int
    share: float


def joint_services(client: Client, window: DescriptionWindow, *, joint_version: str) -> list[str]:
    """The services that have failures with a joint vector of this version in the window."""
    parameters = {**window.parameters, "joint": joint_version}
    return [row["service"] for row in client.query(JOINT_SERVICES, parameters).named_results()]


def joint_failures(
    client: Client, window: DescriptionWindow, service: str, *, joint_version: str, limit: int
) -> list[JointFailure]:
    """The newest failures of a service, at most `limit`, sorted by key."""
    parameters = {**window.parameters, "joint": joint_version, "service": service, "limit": limit}
    return read(client, JointFailure, JOINT_FAILURES, parameters)


def insert_memberships(client: Client, found: Sequence[Membership]) -> None:
    """Write memberships; the latest of a failure counts."""
    token = batch_token("memberships", [(*row.key, row.version) for row in found])
    MEMBERSHIPS.insert(client, found, token=token)


def memberships_of(client: Client, keys: Sequence[ClaimKey]) -> Mapping[ClaimKey, Membership]:
    """The memberships of these failures, as far as they were measured."""
    rows = read(client, Membership, MEMBERSHIPS_OF_FAILURES, {"keys": list(keys)}) if keys else []
    return {row.key: row for row in rows}


def related_issues(client: Client, issues: Sequence[int]) -> list[MembershipShare]:
    """The mean share of each issue over the failures of these ones, the largest first."""
    return read(client, MembershipShare, RELATED_ISSUES, {"ids": list(issues)})
