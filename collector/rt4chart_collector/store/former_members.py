"""Who belonged to an issue in earlier versions, which wrote all members anew in each run."""

from __future__ import annotations

from rt4chart_collector.store.assignments import MATCH, Assignment
from rt4chart_collector.store.connect import Client
from rt4chart_collector.store.failures import EVER, LAST_VERDICT
from rt4chart_collector.store.issues import Issue

# The failures in force whose verdict the run that last saw the issue had before it.
FORMER = f"""
SELECT m.TraceId, m.SpanId, m.ClaimIndex, toUnixTimestamp64Nano(m.Timestamp), m.Distance,
    c.Version
FROM (
    SELECT TraceId, SpanId, ClaimIndex, Timestamp, Distance, Version
    FROM rt4chart_issue_members FINAL WHERE IssueId = {{id:UInt64}} AND RunId = {{run:String}}
) AS m
INNER JOIN (
    SELECT c.TraceId AS TraceId, c.SpanId AS SpanId, toInt32(c.ClaimIndex) AS ClaimIndex,
        c.Version AS Version
    FROM rt4chart_claims AS c FINAL
    INNER JOIN ({LAST_VERDICT}) AS v
        ON v.TraceId = c.TraceId AND v.SpanId = c.SpanId AND v.VerifierId = c.VerifierId
    WHERE c.Label IN ('contradicted', 'baseless') AND c.IsDeleted = 0
) AS c ON c.TraceId = m.TraceId AND c.SpanId = m.SpanId AND c.ClaimIndex = m.ClaimIndex
WHERE c.Version <= m.Version
ORDER BY m.TraceId, m.SpanId, m.ClaimIndex
"""  # noqa: S608 - our own names


def former_members(client: Client, issue: Issue) -> list[Assignment]:
    """The assignments that its last members would have had."""
    given = {"id": issue.id, "run": issue.run, "since": 0, "until": EVER}
    return [
        Assignment(
            (trace, span, index), time_ns, issue.id, issue.partition, distance, MATCH, version + 1
        )
        for trace, span, index, time_ns, distance, version in (
            client.query(FORMER, given).result_rows
        )
    ]
