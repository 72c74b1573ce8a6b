"""Verifications: the decision of each verifier on each answer."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from functools import lru_cache
from operator import attrgetter
from typing import Annotated, Any, NamedTuple

from otel_rt4chart.spans.model.verdict import Decision, Stage
from otel_rt4chart.verify.core.model import Action, Advice, Edit, Evidence, Finding
from rt4chart_collector.store.engine.columns import (
    AnswerKey,
    Environment,
    IsDeleted,
    Model,
    VerdictRow,
    Version,
)
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.rows import (
    LOW_CARDINALITY,
    RowTable,
    StoredAs,
    group,
    nested,
    read,
)

ANSWER_LABELS = (
    "Enum8('entailed' = 1, 'contradicted' = 2, 'baseless' = 3, 'undecided' = 4, "
    "'no_claims' = 5, 'none' = 6)"
)
# FINAL takes three to five times as long as a plain read (measured with ten million claims). The
# sorting key holds the time, so all versions of a row are in one partition (one day). FINAL
# then need not merge across partitions.
# By conditions on the sorting key, which all versions of a row meet alike, most rows are left out
# before their texts are read.
FINAL_PER_PARTITION = {
    "do_not_merge_across_partitions_select_final": 1,
    "optimize_move_to_prewhere_if_final": 1,
}


@dataclass(frozen=True, slots=True)
class ClaimCounts:
    """Numbers of claims by label; `claims` is their sum, without sentences that are no claim."""

    claims: int
    entailed: int
    contradicted: int
    baseless: int
    undecided: int

    @property
    def decided(self) -> int:
        """The claims in a rate's denominator."""
        return self.entailed + self.contradicted + self.baseless

    @property
    def unfaithful(self) -> int:
        """The claims that count against the answer."""
        return self.contradicted + self.baseless


class Checked(StrEnum):
    """Whether an answer was checked for misleading claims.

    `NO`: it was not verified, or by a version that did not check; `PARTLY`: some checks were left
    out by chance.
    """

    NO = "no"
    PARTLY = "partly"
    FULLY = "fully"


@dataclass(frozen=True, slots=True)
class MisleadingClaims:
    """The misleading claims of an answer; in `weight`, each counts as 1 / its check's rate."""

    count: int = 0
    weight: float = 0.0
    checked: Checked = Checked.NO


@dataclass(frozen=True, slots=True)
class CitationCounts:
    """The citations in an answer, and how many findings say that one is wrong."""

    citations: int = 0
    errors: int = 0


@dataclass(frozen=True, slots=True)
class Cost:
    """The time and the judge's work that the verification took."""

    duration_ns: int
    calls: int
    input_tokens: int
    output_tokens: int
    cache_hits: int


class SeenPassage(NamedTuple):
    """A passage with its stages; `is_context` if it was in the context of the answer."""

    id: str
    stages: frozenset[Stage]
    is_context: bool


def findings_from(written: str) -> tuple[Finding, ...]:
    """Parse findings from JSON; unreadable findings of a later version are skipped."""
    try:
        listed = json.loads(written or "[]")
    except ValueError:
        return ()
    return tuple(_finding(item) for item in listed if isinstance(item, dict) and "name" in item)


def _finding(item: Mapping[str, Any]) -> Finding:
    return Finding(
        name=str(item["name"]),
        detail=str(item.get("detail", "")),
        kind=str(item.get("kind", "")),
        claim=item.get("claim"),
        passage_ids=tuple(item.get("passage_ids", ())),
        evidence=tuple(
            Evidence(
                str(evidence.get("passage_id", "")),
                int(evidence.get("start", 0)),
                int(evidence.get("end", 0)),
                str(evidence.get("text", "")),
                evidence.get("relation", "supports"),
            )
            for evidence in item.get("evidence", ())
        ),
        value=item.get("value"),
    )


def _findings_json(findings: Sequence[Finding]) -> str:
    """The findings as JSON, without the fields that are empty."""
    listed = [
        {name: value for name, value in asdict(finding).items() if value not in (None, "", ())}
        for finding in findings
    ]
    return json.dumps(listed, ensure_ascii=False, separators=(",", ":"))


def _edits_from(written: str) -> tuple[Edit, ...]:
    """Parse edits from JSON; unreadable ones of a later version are skipped."""
    try:
        return tuple(Edit(**item) for item in json.loads(written or "[]"))
    except (ValueError, TypeError):
        return ()


def _edits_json(edits: Sequence[Edit]) -> str:
    listed = [asdict(edit) for edit in edits]
    return json.dumps(listed, ensure_ascii=False, separators=(",", ":")) if listed else ""


@lru_cache(maxsize=256)
def _stages_from(written: str) -> frozenset[Stage]:
    """Parse stages joined by commas; unknown stages of a later version are skipped.

    Cached, because an answer may have thousands of passages, and they have few stages.
    """
    known = {stage.value: stage for stage in Stage}
    return frozenset(known[name] for name in written.split(",") if name in known)


def _stages_text(stages: frozenset[Stage]) -> str:
    return ",".join(stage.value for stage in Stage if stage in stages)


@dataclass(frozen=True, slots=True)
class AnswerDecision(VerdictRow):
    """A verifier's decision on an answer; `label` is "none" if the answer was not verified."""

    environment: Environment
    model: Model
    prompt_version: Annotated[str, StoredAs("PromptVersion", LOW_CARDINALITY)]
    release: Annotated[str, StoredAs("Release", LOW_CARDINALITY)]
    decision: Annotated[Decision, StoredAs("Decision", LOW_CARDINALITY)]
    label: Annotated[str, StoredAs("Label", ANSWER_LABELS)]
    sample_rate: Annotated[float, StoredAs("SampleRate", "Float64")]
    counts: Annotated[
        ClaimCounts,
        group(
            ClaimCounts,
            claims=StoredAs("ClaimCount", "UInt16"),
            entailed=StoredAs("EntailedCount", "UInt16"),
            contradicted=StoredAs("ContradictedCount", "UInt16"),
            baseless=StoredAs("BaselessCount", "UInt16"),
            undecided=StoredAs("UndecidedCount", "UInt16"),
        ),
    ]
    misleading: Annotated[
        MisleadingClaims,
        group(
            MisleadingClaims,
            count=StoredAs("MisleadingCount", "UInt16"),
            weight=StoredAs("MisleadingWeight", "Float64"),
            checked=StoredAs("Checked", "Enum8('no' = 0, 'partly' = 1, 'fully' = 2)", read=Checked),
        ),
    ]


@dataclass(frozen=True, slots=True)
class Verification(AnswerDecision):
    """A decision with what it is based on.

    Of several rows the highest `version` counts: the time of the decision in nanoseconds or later.
    """

    session: Annotated[str, StoredAs("SessionId", "String")]
    cost: Annotated[
        Cost,
        group(
            Cost,
            duration_ns=StoredAs("VerifyDurationNs", "UInt64"),
            calls=StoredAs("JudgeCalls", "UInt32"),
            input_tokens=StoredAs("InputTokens", "UInt32"),
            output_tokens=StoredAs("OutputTokens", "UInt32"),
            cache_hits=StoredAs("CacheHits", "UInt32"),
        ),
    ]
    checks: Annotated[Mapping[str, float], StoredAs("Checks", "Map(String, Float32)")]
    statuses: Annotated[Mapping[str, float], StoredAs("Statuses", "Map(String, Float64)")]
    citations: Annotated[
        CitationCounts,
        group(
            CitationCounts,
            citations=StoredAs("Citations", "UInt16"),
            errors=StoredAs("CitationErrors", "UInt16"),
        ),
    ]
    advice: Annotated[
        Advice,
        group(
            Advice,
            action=StoredAs("Action", LOW_CARDINALITY, read=Action),
            reason=StoredAs("ActionReason", "String"),
            edits=StoredAs("Edits", "String", read=_edits_from, write=_edits_json),
        ),
    ]
    question: Annotated[str, StoredAs("Question", "String")]
    question_kind: Annotated[str, StoredAs("QuestionKind", LOW_CARDINALITY)]
    answer: Annotated[str, StoredAs("Answer", "String")]
    findings: Annotated[
        tuple[Finding, ...],
        StoredAs("Findings", "String", read=findings_from, write=_findings_json),
    ]
    error: Annotated[str, StoredAs("Error", "String")]
    passages: Annotated[
        tuple[SeenPassage, ...],
        nested(
            SeenPassage,
            id=StoredAs("Passages.Id", "Array(String)"),
            stages=StoredAs(
                "Passages.Stages",
                f"Array({LOW_CARDINALITY})",
                read=_stages_from,
                write=_stages_text,
            ),
            is_context=StoredAs("Passages.IsContext", "Array(UInt8)", read=bool, write=int),
        ),
    ]
    version: Version
    is_deleted: IsDeleted = False


VERIFICATIONS = RowTable("rt4chart_verifications", Verification)
# What the sorting key has of the time.
FIVE_MINUTES_NS = 300 * 10**9
# The bloom filter index on TraceId finds the few rows. It is wrong of some parts, and opening all
# columns of a part takes longer than finding the time of an answer, which rules those parts out.
OF_TRACE_AND_SPAN = "WHERE TraceId = {trace:String} AND SpanId = {span:String}"
STARTS_OF_ANSWER = f"""
SELECT count(), toUnixTimestamp64Nano(min(Timestamp)), toUnixTimestamp64Nano(max(Timestamp))
FROM rt4chart_verifications {OF_TRACE_AND_SPAN}
"""  # noqa: S608 - our own names alone, values are parameters
# Without FINAL, which reads no fewer rows and takes longer to plan: `_in_force` chooses of them.
VERIFICATIONS_OF_ANSWER = f"""
SELECT {VERIFICATIONS.select()} FROM rt4chart_verifications {OF_TRACE_AND_SPAN}
  AND Timestamp >= fromUnixTimestamp64Nano({{first:Int64}})
  AND Timestamp <= fromUnixTimestamp64Nano({{last:Int64}})
"""  # noqa: S608
# If several verifiers judged an answer, the latest verification.
LATEST_VERIFICATIONS = f"""
SELECT {VERIFICATIONS.select()} FROM rt4chart_verifications FINAL
WHERE IsDeleted = 0 AND Decision = 'verified'
  AND (TraceId, SpanId) IN {{keys:Array(Tuple(String, String))}}
ORDER BY TraceId, SpanId, Version DESC, VerifierId LIMIT 1 BY TraceId, SpanId
"""  # noqa: S608
FAITHFUL_ANSWERS = f"""
SELECT {VERIFICATIONS.select()} FROM rt4chart_verifications FINAL
WHERE IsDeleted = 0 AND Decision = 'verified' AND Label = 'entailed'
  AND ServiceName = {{service:String}} AND Route = {{route:String}}
ORDER BY Timestamp DESC, TraceId, SpanId
LIMIT 1 BY TraceId, SpanId LIMIT {{limit:UInt32}}
"""  # noqa: S608
VERIFICATIONS_OF_TRACE = f"""
SELECT {VERIFICATIONS.select()} FROM rt4chart_verifications FINAL
WHERE TraceId = {{trace:String}} AND IsDeleted = 0
ORDER BY Timestamp, SpanId, VerifierId LIMIT {{limit:UInt32}}
"""  # noqa: S608


def verifications_of(
    client: Client, trace_id: str, span_id: str, *, start_ns: int | None = None
) -> list[Verification]:
    """Every verifier's decision on the answer: verified ones first, then the newest first.

    Empty for an unknown answer. If its start is known, it need not be found.
    """
    parameters: dict[str, object] = {"trace": trace_id, "span": span_id}
    first = last = start_ns
    if start_ns is None:
        ((count, first, last),) = client.query(STARTS_OF_ANSWER, parameters).result_rows
        if not count:
            return []
    parameters |= {"first": first, "last": last}
    return _in_force(read(client, Verification, VERIFICATIONS_OF_ANSWER, parameters))


def _in_force(rows: Iterable[Verification]) -> list[Verification]:
    """Of all rows of an answer those that FINAL reads, one for each verifier."""
    by_age = sorted(rows, key=attrgetter("version"))
    # By the sorting key of the table.
    last = {
        (row.service, row.route, row.start_ns // FIVE_MINUTES_NS, row.verifier): row
        for row in by_age
    }
    kept = [row for row in last.values() if not row.is_deleted]
    kept.sort(key=lambda row: (row.decision is not Decision.VERIFIED, -row.version, row.verifier))
    found: dict[str, Verification] = {}
    for row in kept:
        found.setdefault(row.verifier, row)
    return list(found.values())


def verifications_of_trace(
    client: Client, trace_id: str, *, limit: int = 200
) -> list[Verification]:
    """Every decision on the trace's answers, by the answer's start."""
    return read(client, Verification, VERIFICATIONS_OF_TRACE, {"trace": trace_id, "limit": limit})


def last_verifications(client: Client, keys: Sequence[AnswerKey]) -> dict[AnswerKey, Verification]:
    """The latest verification of each of these answers that has one, by any verifier."""
    if not keys:
        return {}
    return {
        row.key: row
        for row in read(client, Verification, LATEST_VERIFICATIONS, {"keys": list(keys)})
    }


def faithful_answers(client: Client, *, service: str, route: str, limit: int) -> list[Verification]:
    """The newest answers of a route with only entailed claims."""
    parameters = {"service": service, "route": route, "limit": limit}
    return read(client, Verification, FAITHFUL_ANSWERS, parameters)
