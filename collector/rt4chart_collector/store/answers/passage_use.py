"""The passages that answers were given from, before a time and from then on."""

from __future__ import annotations

from dataclasses import dataclass

from rt4chart_collector.store.answers.verifications import FINAL_PER_PARTITION
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.rows import read
from rt4chart_collector.store.engine.scope import QueryScope, in_scope

# The answers nearest to the time on each side that are read.
MAX_ANSWERS = 5_000
# Each passage in an answer's context by its id, and each answer as one more row.
PASSAGE_USE = f"""
SELECT sumIf(before, is_answer) AS answers_before, sumIf(after, is_answer) AS answers_after,
    sumIf(before, NOT is_answer) AS passages_before, sumIf(after, NOT is_answer) AS passages_after,
    sumIf(after, NOT is_answer AND before = 0) AS unseen
FROM (
    SELECT part.1 AS is_answer, part.2 AS id, countIf(NOT is_after) AS before,
        countIf(is_after) AS after
    FROM (
        SELECT Timestamp >= fromUnixTimestamp64Nano({{at:Int64}}) AS is_after,
            arrayFilter((id, used) -> used, Passages.Id, Passages.IsContext) AS ids
        FROM rt4chart_verifications FINAL
        WHERE IsDeleted = 0 AND Decision = 'verified' AND {in_scope()}
        ORDER BY abs(toUnixTimestamp64Nano(Timestamp) - {{at:Int64}}), TraceId, SpanId
        LIMIT {MAX_ANSWERS} BY is_after
    )
    ARRAY JOIN arrayConcat([(true, '')], arrayMap(id -> (false, id), ids)) AS part
    GROUP BY is_answer, id
)
"""  # noqa: S608 - our own names


@dataclass(frozen=True, slots=True)
class PassageUse:
    """The answers and their passages, before a time and after; `unseen` were not used before."""

    answers_before: int
    answers_after: int
    passages_before: int
    passages_after: int
    unseen: int

    @property
    def is_known(self) -> bool:
        """True if there are answers with passages on both sides."""
        return self.passages_before > 0 and self.passages_after > 0

    @property
    def unseen_share(self) -> float:
        """The share of the passages after the time that were not used before."""
        return self.unseen / self.passages_after if self.passages_after else 0.0


def passage_use(client: Client, scope: QueryScope, *, at_ns: int) -> PassageUse:
    """The passages of the scope's answers; of many, those nearest to the time."""
    parameters = {**scope.parameters, "at": at_ns}
    (found,) = read(client, PassageUse, PASSAGE_USE, parameters, settings=FINAL_PER_PARTITION)
    return found
