"""The claims that a file of labels names by the ids of their spans."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rt4chart_collector.store.answers.claims import CLAIMS, ClaimRow
from rt4chart_collector.store.engine.columns import SAMPLE_WEIGHT, AnswerKey
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.rows import read
from rt4chart_collector.store.labels.drawn_claims import ClaimVerdictRow
from rt4chart_collector.store.labels.draws import verdict_values

SPANS_AT_ONCE = 1_000
CLAIMS_OF_SPANS = f"""
SELECT {CLAIMS.select()} FROM rt4chart_claims FINAL
WHERE IsDeleted = 0 AND Label != 'not_a_claim' AND SpanId IN {{spans:Array(String)}}
"""  # noqa: S608 - our own names
WEIGHTS = f"""
SELECT TraceId AS trace_id, SpanId AS span_id, VerifierId AS verifier, {SAMPLE_WEIGHT} AS weight
FROM rt4chart_verifications FINAL
WHERE IsDeleted = 0 AND SpanId IN {{spans:Array(String)}}
"""  # noqa: S608
# What remains of an answer whose claims were deleted: spans, labels, opinions, a place in a draw.
KNOWN_SPANS = """
SELECT DISTINCT SpanId AS span_id FROM (
    SELECT SpanId FROM rt4chart_labels WHERE SpanId IN {spans:Array(String)}
    UNION ALL
    SELECT SpanId FROM rt4chart_label_queue WHERE SpanId IN {spans:Array(String)}
    UNION ALL
    SELECT SpanId FROM rt4chart_feedback WHERE SpanId IN {spans:Array(String)}
    UNION ALL
    SELECT SpanId FROM otel_traces WHERE SpanId IN {spans:Array(String)}
)
"""


@dataclass(frozen=True, slots=True)
class StoredClaim:
    """A claim of a span with the weight of its answer."""

    row: ClaimRow
    weight: float

    @property
    def undrawn(self) -> ClaimVerdictRow:
        """The claim for a label without a known probability."""
        return ClaimVerdictRow(
            **verdict_values(self.row, self.weight),
            draw="",
            stratum="",
            rank=0.0,
            rate=0.0,
            probability=0.0,
        )


@dataclass(frozen=True, slots=True)
class _AnswerWeight:
    trace_id: str
    span_id: str
    verifier: str
    weight: float


@dataclass(frozen=True, slots=True)
class _KnownSpan:
    span_id: str


def claims_of_spans(client: Client, spans: Sequence[str]) -> list[StoredClaim]:
    """The claims of the answers with these span ids, by every verifier."""
    found: list[StoredClaim] = []
    for some in _in_parts(spans):
        parameters = {"spans": some}
        weights: dict[tuple[AnswerKey, str], float] = {
            ((one.trace_id, one.span_id), one.verifier): one.weight
            for one in read(client, _AnswerWeight, WEIGHTS, parameters)
        }
        found += [
            StoredClaim(row, weights.get((row.key, row.verifier), 0.0))
            for row in read(client, ClaimRow, CLAIMS_OF_SPANS, parameters)
        ]
    return found


def known_spans(client: Client, spans: Sequence[str]) -> frozenset[str]:
    """Those of these spans that the database knows, though their claims may be deleted."""
    return frozenset(
        one.span_id
        for some in _in_parts(spans)
        for one in read(client, _KnownSpan, KNOWN_SPANS, {"spans": some})
    )


def _in_parts(spans: Sequence[str]) -> Iterator[list[str]]:
    for at in range(0, len(spans), SPANS_AT_ONCE):
        yield list(spans[at : at + SPANS_AT_ONCE])
