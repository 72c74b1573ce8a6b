"""What was seen on the way to an answer: the ids of its passages, and the stages of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from otel_rt4chart.spans.model.verdict import Stage
from rt4chart_collector.store.connect import Client
from rt4chart_collector.store.verdicts import AnswerKey

# Of an answer that several verifiers judged, what the last of them saw.
SEEN = """
SELECT TraceId, SpanId, argMax((Passages.Id, Passages.Stages, Passages.IsContext), Version)
FROM rt4chart_verifications FINAL
WHERE IsDeleted = 0 AND Decision = 'verified'
  AND (TraceId, SpanId) IN {keys:Array(Tuple(String, String))}
GROUP BY TraceId, SpanId
"""


@dataclass(frozen=True, slots=True)
class SeenPassage:
    """A passage by its id, the stages at which it was seen, and whether the answer had it."""

    id: str
    stages: frozenset[Stage]
    is_context: bool


def passages_of(
    client: Client, keys: Sequence[AnswerKey]
) -> dict[AnswerKey, tuple[SeenPassage, ...]]:
    """The passages of these answers (trace and span); an answer that is gone is left out."""
    rows = client.query(SEEN, {"keys": list(keys)}).result_rows if keys else []
    return {
        (trace, span): tuple(
            SeenPassage(name, stages_of(stages), bool(is_context))
            for name, stages, is_context in zip(*seen, strict=True)
        )
        for trace, span, seen in rows
    }


def stages_of(written: str) -> frozenset[Stage]:
    """The stages of a passage, from the column that joins them; a later version's are left out."""
    known = {stage.value: stage for stage in Stage}
    return frozenset(known[name] for name in written.split(",") if name in known)
