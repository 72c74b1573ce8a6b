"""The runs that group failures into issues, and the failures that are in no issue yet."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from rt4chart_collector.store.answers.verifications import FINAL_PER_PARTITION
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.rows import (
    LOW_CARDINALITY,
    TIME_MS,
    RowTable,
    StoredAs,
    batch_token,
    read,
)
from rt4chart_collector.store.engine.scope import in_time
from rt4chart_collector.store.issues.failures import IS_FAILURE, IS_FAILURE_OF_C, MAX_TIME_NS

COUNT = "UInt64"


@dataclass(frozen=True, slots=True)
class GroupingRun:
    """A run that has ended; with an `error`, its counts are 0.

    Of the issues, `created` are new, `grown` have more failures. `waiting` failures were in no
    issue at its end.
    """

    started_ns: Annotated[int, StoredAs("StartedAt", TIME_MS)]
    ended_ns: Annotated[int, StoredAs("EndedAt", TIME_MS)]
    id: Annotated[str, StoredAs("RunId", "String")]
    cause: Annotated[str, StoredAs("Cause", LOW_CARDINALITY)]
    error: Annotated[str, StoredAs("Error", "String")] = ""
    failures: Annotated[int, StoredAs("Failures", COUNT)] = 0
    grouped: Annotated[int, StoredAs("Grouped", COUNT)] = 0
    waiting: Annotated[int, StoredAs("Waiting", COUNT)] = 0
    unexplained: Annotated[int, StoredAs("Unexplained", COUNT)] = 0
    created: Annotated[int, StoredAs("Created", COUNT)] = 0
    grown: Annotated[int, StoredAs("Grown", COUNT)] = 0
    regressed: Annotated[int, StoredAs("Regressed", COUNT)] = 0
    proposed: Annotated[int, StoredAs("Proposed", COUNT)] = 0

    @property
    def seconds(self) -> float:
        """How long it took."""
        return (self.ended_ns - self.started_ns) / 1e9


RUNS = RowTable("rt4chart_grouping_runs", GroupingRun)
LAST_RUNS = f"""
SELECT {RUNS.select()} FROM rt4chart_grouping_runs FINAL
ORDER BY StartedAt DESC, RunId LIMIT {{limit:UInt32}}
"""  # noqa: S608 - our own names
# If several verifiers judged an answer, the latest verdict counts. An assignment that is older than
# its claim does not.
WAITING_FAILURES = f"""
SELECT count() FROM rt4chart_claims AS c FINAL
INNER JOIN (
    SELECT TraceId, SpanId, argMax(VerifierId, Version) AS VerifierId
    FROM rt4chart_verifications FINAL
    WHERE IsDeleted = 0 AND Decision = 'verified' AND {in_time()}
      AND TraceId IN (SELECT TraceId FROM rt4chart_claims WHERE {IS_FAILURE} AND {in_time()})
    GROUP BY TraceId, SpanId
) AS v ON v.TraceId = c.TraceId AND v.SpanId = c.SpanId AND v.VerifierId = c.VerifierId
LEFT ANY JOIN (
    SELECT TraceId, SpanId, ClaimIndex, Version FROM rt4chart_issue_assignments FINAL
    WHERE IsDeleted = 0 AND {in_time()}
) AS a ON a.TraceId = c.TraceId AND a.SpanId = c.SpanId AND a.ClaimIndex = toInt32(c.ClaimIndex)
WHERE {IS_FAILURE_OF_C} AND c.IsDeleted = 0 AND {in_time("c.Timestamp")} AND a.Version <= c.Version
"""  # noqa: S608 - our own names


def insert_run(client: Client, run: GroupingRun) -> None:
    """Write a run that has ended."""
    RUNS.insert(client, [run], token=batch_token("grouping run", [(run.id,)]))


def last_runs(client: Client, *, limit: int = 20) -> list[GroupingRun]:
    """The last runs, the latest first."""
    return read(client, GroupingRun, LAST_RUNS, {"limit": limit})


def waiting_failures(client: Client, *, since_ns: int) -> int:
    """The failures of answers since then that belong to no issue yet."""
    parameters = {"since": since_ns, "until": MAX_TIME_NS}
    ((count,),) = client.query(
        WAITING_FAILURES, parameters, settings=FINAL_PER_PARTITION
    ).result_rows
    return int(count)
