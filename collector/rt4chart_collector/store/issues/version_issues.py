"""The failures of two versions of an application, by route and issue."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from otel_rt4chart.verify.core.rates import Measure
from rt4chart_collector.store.answers.answers import FAILED_COUNT
from rt4chart_collector.store.answers.verifications import FINAL_PER_PARTITION
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.rows import read_by
from rt4chart_collector.store.engine.version_scope import VersionScope
from rt4chart_collector.store.issues.failures import IS_FAILURE
from rt4chart_collector.store.issues.issue_events import aliases
from rt4chart_collector.store.issues.issue_figures import (
    IN_ROUTE_WINDOW,
    ROUTE_ANSWERS,
    ROUTE_FAILURES,
)

# An assignment that is older than its claim is of an earlier verdict. An answer without a failed
# claim joins none: most answers are left out of the join.
FAILURES_BY_ISSUE = f"""
SELECT v.version AS version, a.ServiceName AS service, a.Route AS route, a.IssueId AS issue,
    count() AS claims, sum(v.Weight * c.CheckWeight) AS weighted
FROM ({ROUTE_FAILURES.replace("{counted}", IS_FAILURE)}) AS c
INNER JOIN (
    {ROUTE_ANSWERS.replace("SELECT", "SELECT toString({column}) AS version,", 1)}
      AND {{column}} IN {{values:Array(String)}} AND {FAILED_COUNT[Measure.EITHER]} > 0
) AS v ON v.TraceId = c.TraceId AND v.SpanId = c.SpanId
INNER JOIN (
    SELECT ServiceName, Route, TraceId, SpanId, ClaimIndex, IssueId, Version
    FROM rt4chart_issue_assignments FINAL WHERE {IN_ROUTE_WINDOW}
) AS a ON a.TraceId = c.TraceId AND a.SpanId = c.SpanId AND a.ClaimIndex = c.ClaimIndex
WHERE a.Version > c.Version
GROUP BY version, service, route, issue
ORDER BY version, service, route, issue
"""  # noqa: S608 - our own names


@dataclass(frozen=True, slots=True)
class IssueFailures:
    """The failures of an issue on a route: their number, and the sum of their weights."""

    service: str
    route: str
    issue: int
    claims: int
    weighted: float


def failures_by_issue(
    client: Client, a: VersionScope, b: VersionScope
) -> tuple[list[IssueFailures], list[IssueFailures]]:
    """The assigned failures of both; one that was merged away has its root issue's id.

    An issue may then have several rows of one route.
    """
    if not a.shares_rows_with(b):
        return _failures(client, a, [a.value])[a.value], _failures(client, b, [b.value])[b.value]
    found = _failures(client, a, [a.value, b.value])
    return found[a.value], found[b.value]


def _failures(
    client: Client, of: VersionScope, values: Sequence[str]
) -> dict[str, list[IssueFailures]]:
    """The failures in the scope by version."""
    query = FAILURES_BY_ISSUE.replace("{column}", of.column)
    parameters = {**of.scope.parameters, "values": [*values]}
    rows = read_by(
        client, "version", IssueFailures, query, parameters, settings=FINAL_PER_PARTITION
    )
    roots = aliases(client) if rows else {}
    return {
        value: [replace(row, issue=roots.get(row.issue, row.issue)) for row in rows.get(value, ())]
        for value in values
    }
