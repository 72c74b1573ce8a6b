"""The failures of one version of an application, by route and issue."""

from __future__ import annotations

from dataclasses import dataclass

from rt4chart_collector.store.answers.verifications import FINAL_PER_PARTITION
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.rows import read
from rt4chart_collector.store.engine.version_scope import VersionScope
from rt4chart_collector.store.issues.failures import IS_FAILURE
from rt4chart_collector.store.issues.issue_events import aliases
from rt4chart_collector.store.issues.issue_figures import (
    IN_ROUTE_WINDOW,
    ROUTE_ANSWERS,
    ROUTE_FAILURES,
)

# An assignment that is older than its claim is of an earlier verdict.
FAILURES_BY_ISSUE = f"""
SELECT a.ServiceName AS service, a.Route AS route, a.IssueId AS issue, count() AS claims,
    sum(v.Weight * c.CheckWeight) AS weighted
FROM ({ROUTE_FAILURES.replace("{counted}", IS_FAILURE)}) AS c
INNER JOIN ({ROUTE_ANSWERS} AND {{condition}}) AS v
    ON v.TraceId = c.TraceId AND v.SpanId = c.SpanId
INNER JOIN (
    SELECT ServiceName, Route, TraceId, SpanId, ClaimIndex, IssueId, Version
    FROM rt4chart_issue_assignments FINAL WHERE {IN_ROUTE_WINDOW}
) AS a ON a.TraceId = c.TraceId AND a.SpanId = c.SpanId AND a.ClaimIndex = c.ClaimIndex
WHERE a.Version > c.Version
GROUP BY service, route, issue
ORDER BY service, route, issue
"""  # noqa: S608 - our own names


@dataclass(frozen=True, slots=True)
class IssueFailures:
    """The failures of an issue on a route: their number, and the sum of their weights."""

    service: str
    route: str
    issue: int
    claims: int
    weighted: float


def failures_by_issue(client: Client, of: VersionScope) -> list[IssueFailures]:
    """The assigned failures of the version; one that was merged away has its root issue's id.

    An issue may then have several rows of one route.
    """
    query = FAILURES_BY_ISSUE.replace("{condition}", of.condition)
    rows = read(client, IssueFailures, query, of.parameters, settings=FINAL_PER_PARTITION)
    roots = aliases(client) if rows else {}
    return [
        IssueFailures(
            row.service, row.route, roots.get(row.issue, row.issue), row.claims, row.weighted
        )
        for row in rows
    ]
