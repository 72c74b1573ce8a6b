"""Some failures of each of many issues: drawn by chance, the same each time, in one statement."""

from __future__ import annotations

from collections.abc import Sequence

from rt4chart_collector.store.connect import Client
from rt4chart_collector.store.failures import EVER, SELECTED, Failure, failures_read
from rt4chart_collector.store.matching import OF_WINDOW, Window

DRAWN = """
SELECT TraceId, SpanId, ClaimIndex FROM rt4chart_issue_assignments FINAL
WHERE IsDeleted = 0 AND IssueId IN {ids:Array(UInt64)}
  AND Timestamp >= fromUnixTimestamp64Nano({since:Int64})
ORDER BY cityHash64(TraceId, SpanId, ClaimIndex)
LIMIT {each:UInt32} BY IssueId
"""
# The same with their issues, which the order of their keys goes by.
PLACES = DRAWN.replace("SELECT ", "SELECT IssueId, ", 1)
FAILURES = f"""{SELECTED}
  AND (c.TraceId, c.SpanId, toInt32(c.ClaimIndex)) IN ({DRAWN})
ORDER BY TraceId, SpanId, ClaimIndex
"""
VECTORS = f"""
SELECT p.IssueId, e.Embedding
FROM (
    SELECT TraceId, SpanId, ClaimIndex, Embedding FROM rt4chart_failure_embeddings FINAL
    WHERE {OF_WINDOW} AND (TraceId, SpanId, ClaimIndex) IN ({DRAWN})
) AS e
INNER JOIN ({PLACES}) AS p
    ON p.TraceId = e.TraceId AND p.SpanId = e.SpanId AND p.ClaimIndex = e.ClaimIndex
ORDER BY cityHash64(e.TraceId, e.SpanId, e.ClaimIndex)
"""  # noqa: S608 - our own names


def sampled_failures(
    client: Client, issues: Sequence[int], *, each: int
) -> dict[int, list[Failure]]:
    """At most `each` failures of every one of these issues, in the order of their keys."""
    given = {"ids": list(issues), "each": each, "since": 0, "until": EVER}
    places = {
        (trace, span, index): issue
        for issue, trace, span, index in client.query(PLACES, given).result_rows
    }
    found: dict[int, list[Failure]] = {}
    for failure in failures_read(client, FAILURES, given):
        # A run that moves failures may have done so between the two statements.
        if (issue := places.get(failure.key)) is not None:
            found.setdefault(issue, []).append(failure)
    return found


def sampled_vectors(
    client: Client, window: Window, issues: Sequence[int], *, each: int
) -> dict[int, list[Sequence[float]]]:
    """Vectors of at most `each` failures of every one of these issues, in an order by chance."""
    given = {**window.parameters, "ids": list(issues), "each": each}
    found: dict[int, list[Sequence[float]]] = {}
    for issue, vector in client.query(VECTORS, given).result_rows:
        found.setdefault(issue, []).append(vector)
    return found
