"""The claims of verified answers: one row type, written and read by column name.

A new column takes a migration, a field of the claim in `otel_rt4chart.verify.core.model`, and a
field of the same name here.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, NamedTuple

from otel_rt4chart.verify.core.model import (
    AnswerRange,
    Claim,
    ClaimKind,
    ClaimStatus,
    Clash,
    Evidence,
    Label,
    Relation,
)
from rt4chart_collector.store.answers.verifications import FINAL_PER_PARTITION, Verification
from rt4chart_collector.store.engine.columns import (
    AT_START,
    OF_ANSWER,
    AnswerKey,
    Environment,
    IsDeleted,
    Model,
    StoredConfidence,
    VerdictRow,
    Version,
)
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.rows import (
    LOW_CARDINALITY,
    RowTable,
    StoredAs,
    field_values,
    group,
    nested,
    read,
)

CLAIM_LABELS = (
    "Enum8('entailed' = 1, 'contradicted' = 2, 'baseless' = 3, 'undecided' = 4, 'not_a_claim' = 5)"
)
# The empty label: no chunk was asked, so there is no local one.
LOCAL_LABELS = CLAIM_LABELS.replace("Enum8(", "Enum8('' = 0, ")
ClaimIndex = Annotated[int, StoredAs("ClaimIndex", "UInt16")]
ClaimLabel = Annotated[Label, StoredAs("Label", CLAIM_LABELS)]
ClaimState = Annotated[ClaimStatus, StoredAs("Status", LOW_CARDINALITY)]
StoredRange = Annotated[
    AnswerRange,
    group(
        AnswerRange, start=StoredAs("AnswerStart", "UInt32"), end=StoredAs("AnswerEnd", "UInt32")
    ),
]
StoredEvidence = Annotated[
    tuple[Evidence, ...],
    nested(
        Evidence,
        passage_id=StoredAs("Evidence.DocId", "Array(String)"),
        start=StoredAs("Evidence.Start", "Array(UInt32)"),
        end=StoredAs("Evidence.End", "Array(UInt32)"),
        text=StoredAs("Evidence.Text", "Array(String)"),
        relation=StoredAs("Evidence.Relation", f"Array({LOW_CARDINALITY})"),
    ),
]
StoredClashes = Annotated[
    tuple[Clash, ...],
    nested(
        Clash,
        slot=StoredAs("Clashes.Slot", f"Array({LOW_CARDINALITY})"),
        claimed=StoredAs("Clashes.Claimed", "Array(String)"),
        found=StoredAs("Clashes.Found", "Array(String)"),
    ),
]


def _local_label(stored: str) -> Label | None:
    return Label(stored) if stored else None


def _sentence_index(sentence: int) -> int:
    """The index within the column's range; a claim about the whole answer has -1."""
    return min(max(sentence, 0), 2**16 - 1)


@dataclass(frozen=True, slots=True)
class ClaimRow(VerdictRow):
    """One claim of a verifier's verdict on an answer; `index` is its number in the answer."""

    environment: Environment
    model: Model
    index: ClaimIndex
    # The following fields have the names and types of `Claim`.
    text: Annotated[str, StoredAs("Claim", "String")]
    label: ClaimLabel
    status: ClaimState
    check_rate: Annotated[float, StoredAs("CheckRate", "Float32")]
    local_label: Annotated[
        Label | None, StoredAs("LocalLabel", LOCAL_LABELS, _local_label, lambda label: label or "")
    ]
    kind: Annotated[ClaimKind, StoredAs("Kind", LOW_CARDINALITY)]
    confidence: StoredConfidence
    decided_by: Annotated[str, StoredAs("DecidedBy", LOW_CARDINALITY)]
    reason: Annotated[str, StoredAs("Reason", LOW_CARDINALITY)]
    sentence: Annotated[int, StoredAs("SentenceIndex", "UInt16", write=_sentence_index)]
    answer_range: StoredRange
    nearest: Annotated[str, StoredAs("Nearest", "String")]
    evidence: StoredEvidence
    clashes: StoredClashes
    version: Version
    is_deleted: IsDeleted = False

    @property
    def claim(self) -> Claim:
        """The claim with its verdict, without the columns that identify its row."""
        return Claim(**field_values(self, Claim))


CLAIMS = RowTable("rt4chart_claims", ClaimRow)


class EvidenceRange(NamedTuple):
    """The range of a claim's evidence: characters in the passage's text."""

    passage: str
    start: int
    end: int
    relation: Relation


@dataclass(frozen=True, slots=True)
class ClaimOutline:
    """A claim without its texts, which are most of the bytes of its row."""

    index: ClaimIndex
    label: ClaimLabel
    status: ClaimState
    answer_range: StoredRange
    places: Annotated[
        tuple[EvidenceRange, ...],
        nested(
            EvidenceRange,
            passage=StoredAs("Evidence.DocId", "Array(String)"),
            start=StoredAs("Evidence.Start", "Array(UInt32)"),
            end=StoredAs("Evidence.End", "Array(UInt32)"),
            relation=StoredAs("Evidence.Relation", f"Array({LOW_CARDINALITY})"),
        ),
    ]


# PREWHERE reads the other columns of these rows only. It is safe before FINAL, because all versions
# of a row have one trace, and one index.
OF_TRACE = "PREWHERE TraceId = {trace:String}"
OF_TRACE_AND_INDEX = f"{OF_TRACE} AND ClaimIndex IN {{indices:Array(UInt16)}}"
OF_VERDICT = f"""
{OF_TRACE}
WHERE {OF_ANSWER} AND {AT_START} AND VerifierId = {{verifier:String}}
"""
CLAIM_OUTLINES = f"""
SELECT {RowTable("rt4chart_claims", ClaimOutline).select()}
FROM rt4chart_claims FINAL {OF_VERDICT}
ORDER BY ClaimIndex
"""  # noqa: S608 - our own names
CLAIMS_BY_INDEX = f"""
SELECT {CLAIMS.select()}
FROM rt4chart_claims FINAL {OF_VERDICT.replace(OF_TRACE, OF_TRACE_AND_INDEX)}
ORDER BY ClaimIndex
"""  # noqa: S608
FIRST_CLAIMS = f"""
SELECT {CLAIMS.select()}
FROM rt4chart_claims FINAL {OF_VERDICT}
ORDER BY ClaimIndex LIMIT {{limit:UInt32}}
"""  # noqa: S608
# If several verifiers judged an answer, the claims of the latest verdict.
LATEST_CLAIMS = f"""
SELECT {CLAIMS.select()} FROM rt4chart_claims FINAL
WHERE IsDeleted = 0 AND (TraceId, SpanId) IN {{keys:Array(Tuple(String, String))}}
  AND (TraceId, SpanId, VerifierId) IN (
    SELECT TraceId, SpanId, argMax(VerifierId, Version) FROM rt4chart_verifications FINAL
    WHERE IsDeleted = 0 AND Decision = 'verified'
      AND (TraceId, SpanId) IN {{keys:Array(Tuple(String, String))}}
    GROUP BY TraceId, SpanId)
ORDER BY TraceId, SpanId, ClaimIndex
"""  # noqa: S608
CLAIMS_SINCE = f"""
SELECT {CLAIMS.select()} FROM rt4chart_claims FINAL
WHERE IsDeleted = 0 AND Timestamp >= fromUnixTimestamp64Nano({{since:Int64}})
ORDER BY TraceId, SpanId, ClaimIndex
"""  # noqa: S608


def outline_of(row: ClaimRow) -> ClaimOutline:
    """The claim without its texts."""
    return ClaimOutline(
        row.index,
        row.label,
        row.status,
        row.answer_range,
        tuple(
            EvidenceRange(one.passage_id, one.start, one.end, one.relation) for one in row.evidence
        ),
    )


def claim_outlines(client: Client, verification: Verification) -> list[ClaimOutline]:
    """The claims of the verdict in order, without texts."""
    return read(
        client,
        ClaimOutline,
        CLAIM_OUTLINES,
        verification.verdict_parameters,
        settings=FINAL_PER_PARTITION,
    )


def first_claims(client: Client, verification: Verification, limit: int) -> list[ClaimRow]:
    """The first claims of the verdict, in order."""
    parameters = {**verification.verdict_parameters, "limit": limit}
    return read(client, ClaimRow, FIRST_CLAIMS, parameters, settings=FINAL_PER_PARTITION)


def claims_in(client: Client, verification: Verification, indices: Sequence[int]) -> list[ClaimRow]:
    """The claims of the verdict with these numbers, in order; unknown numbers are skipped."""
    if not indices:
        return []
    parameters = {**verification.verdict_parameters, "indices": list(indices)}
    return read(client, ClaimRow, CLAIMS_BY_INDEX, parameters, settings=FINAL_PER_PARTITION)


def claims_of(client: Client, keys: Sequence[AnswerKey]) -> dict[AnswerKey, list[Claim]]:
    """The claims of these answers, by (trace, span), from the latest verdict on each."""
    found: defaultdict[AnswerKey, list[Claim]] = defaultdict(list)
    for row in read(client, ClaimRow, LATEST_CLAIMS, {"keys": list(keys)}):
        found[row.trace_id, row.span_id].append(row.claim)
    return dict(found)


def claims_since(client: Client, since_ns: int) -> list[ClaimRow]:
    """The claims of all verdicts on answers since then, by answer and number."""
    return read(client, ClaimRow, CLAIMS_SINCE, {"since": since_ns})
