"""A reproducible random sample of the failures of each of many issues, in one statement."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rt4chart_collector.store.engine.columns import StoredKey
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.rows import read
from rt4chart_collector.store.issues.failures import EVER, SELECTED, Failure
from rt4chart_collector.store.issues.match_failures import OF_WINDOW, DescriptionWindow

DRAWN = """
SELECT TraceId, SpanId, ClaimIndex FROM rt4chart_issue_assignments FINAL
WHERE IsDeleted = 0 AND IssueId IN {ids:Array(UInt64)}
  AND Timestamp >= fromUnixTimestamp64Nano({since:Int64})
ORDER BY cityHash64(TraceId, SpanId, ClaimIndex)
LIMIT {each:UInt32} BY IssueId
"""
# The same with their issues, which the order of their keys goes by.
PLACES = DRAWN.replace("SELECT ", "SELECT IssueId, ", 1)
KEYS = f"""
SELECT IssueId AS issue, TraceId AS key_trace, SpanId AS key_span, ClaimIndex AS key_claim
FROM ({PLACES})
"""  # noqa: S608 - our own names
FAILURES = f"""{SELECTED}
  AND (c.TraceId, c.SpanId, toInt32(c.ClaimIndex)) IN ({DRAWN})
ORDER BY trace_id, span_id, claim_index
"""
VECTORS = f"""
SELECT p.IssueId AS issue, e.Embedding AS vector
FROM (
    SELECT TraceId, SpanId, ClaimIndex, Embedding FROM rt4chart_failure_embeddings FINAL
    WHERE {OF_WINDOW} AND (TraceId, SpanId, ClaimIndex) IN ({DRAWN})
) AS e
INNER JOIN ({PLACES}) AS p
    ON p.TraceId = e.TraceId AND p.SpanId = e.SpanId AND p.ClaimIndex = e.ClaimIndex
ORDER BY cityHash64(e.TraceId, e.SpanId, e.ClaimIndex)
"""  # noqa: S608 - our own names


@dataclass(frozen=True, slots=True)
class _IssueKey:
    issue: int
    key: StoredKey


@dataclass(frozen=True, slots=True)
class _IssueVector:
    issue: int
    vector: Sequence[float]


def sampled_failures(
    client: Client, issues: Sequence[int], *, each: int
) -> dict[int, list[Failure]]:
    """At most `each` failures of every one of these issues, in the order of their keys."""
    given = {"ids": list(issues), "each": each, "since": 0, "until": EVER}
    places = {one.key: one.issue for one in read(client, _IssueKey, KEYS, given)}
    found: dict[int, list[Failure]] = {}
    for failure in read(client, Failure, FAILURES, given):
        # A run that moves failures may have done so between the two statements.
        if (issue := places.get(failure.key)) is not None:
            found.setdefault(issue, []).append(failure)
    return found


def sampled_vectors(
    client: Client, window: DescriptionWindow, issues: Sequence[int], *, each: int
) -> dict[int, list[Sequence[float]]]:
    """Vectors of at most `each` failures of every one of these issues, in an order by chance."""
    given = {**window.parameters, "ids": list(issues), "each": each}
    found: dict[int, list[Sequence[float]]] = {}
    for one in read(client, _IssueVector, VECTORS, given):
        found.setdefault(one.issue, []).append(one.vector)
    return found
