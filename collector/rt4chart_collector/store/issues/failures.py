"""Failures: the unfaithful and the misleading claims, and their descriptions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Annotated

from otel_rt4chart.core.text import quoted_words
from otel_rt4chart.verify.core.model import ClaimStatus, Evidence, Finding, Label
from otel_rt4chart.verify.core.rates import Measure
from otel_rt4chart.verify.findings.failure_kinds import MISLEADING
from rt4chart_collector.store.answers.answers import FAILED_CLAIM
from rt4chart_collector.store.answers.claims import (
    CLAIMS,
    ClaimState,
    StoredClashes,
    StoredEvidence,
)
from rt4chart_collector.store.answers.verifications import findings_from
from rt4chart_collector.store.engine.columns import (
    ClaimKey,
    Partition,
    StartNs,
    StoredKey,
    StoredPartition,
    Version,
)
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.rows import (
    LOW_CARDINALITY,
    RowTable,
    StoredAs,
    batch_token,
    read,
)
from rt4chart_collector.store.engine.scope import in_time

# The fields that a failure shares with the row of its claim.
CLAIM_COLUMNS = (
    "trace_id",
    "span_id",
    "service",
    "route",
    "label",
    "status",
    "nearest",
    "evidence",
    "clashes",
    "version",
)
# Unfaithful and misleading claims, as `Claim.is_failure`; the second of a table with an alias.
IS_FAILURE = FAILED_CLAIM[Measure.EITHER]
IS_FAILURE_OF_C = IS_FAILURE.replace("Label", "c.Label").replace("Status", "c.Status")
# The findings from which the kind of a failure follows; other answers have none of them.
KIND_FINDINGS = ", ".join(f"'\"{name}\"'" for name in MISLEADING)
# The verifier that judged an answer last: its claims are the current ones.
LAST_VERDICT = f"""
    SELECT TraceId, SpanId, argMax(VerifierId, Version) AS VerifierId,
        argMax(Question, Version) AS Question,
        argMax(if(multiSearchAny(v.Findings, [{KIND_FINDINGS}]), v.Findings, ''), Version)
            AS Findings
    FROM rt4chart_verifications AS v FINAL
    WHERE IsDeleted = 0 AND Decision = 'verified' AND {in_time()}
    GROUP BY TraceId, SpanId
"""  # noqa: S608 - our own names
SELECT_FAILURES = f"""
SELECT {CLAIMS.select(*CLAIM_COLUMNS, table="c")}, c.ClaimIndex AS claim_index, c.Claim AS claim,
    toUnixTimestamp64Nano(c.Timestamp) AS time_ns, v.Question AS question,
    v.Findings AS answer_findings
FROM rt4chart_claims AS c FINAL
INNER JOIN ({LAST_VERDICT}) AS v
    ON v.TraceId = c.TraceId AND v.SpanId = c.SpanId AND v.VerifierId = c.VerifierId
WHERE {IS_FAILURE_OF_C} AND c.IsDeleted = 0
  AND {in_time("c.Timestamp")}
"""  # noqa: S608 - our own names
NEWEST_FAILURES = f"""{SELECT_FAILURES}
ORDER BY time_ns DESC, trace_id, span_id, claim_index
LIMIT {{limit:UInt32}}
"""
# The bloom filter index is on TraceId: without the traces, all verdicts would be read.
OF_TRACES = "TraceId IN {traces:Array(String)}"
FAILURES_BY_KEY = f"""{SELECT_FAILURES.replace("GROUP BY", f"AND {OF_TRACES} GROUP BY", 1)}
  AND c.{OF_TRACES}
  AND (c.TraceId, c.SpanId, toInt32(c.ClaimIndex)) IN {{keys:Array(Tuple(String, String, Int32))}}
"""
# A description has the version of its claim plus one, so a new verdict makes it stale.
SELECT_UNDESCRIBED = f"""{SELECT_FAILURES}
  AND (c.TraceId, c.SpanId, toInt32(c.ClaimIndex), c.Version + 1) NOT IN (
    SELECT TraceId, SpanId, ClaimIndex, Version FROM rt4chart_failure_embeddings FINAL
    WHERE EmbeddingModel = {{model:String}} AND Fingerprint != '' AND {in_time()}
  )
"""  # noqa: S608 - our own names
UNDESCRIBED_FAILURES = f"""{SELECT_UNDESCRIBED}
ORDER BY time_ns, trace_id, span_id, claim_index
"""
FAILURE_DAYS = f"""
SELECT DISTINCT toUnixTimestamp(toStartOfDay(Timestamp)) AS day_s
FROM rt4chart_claims WHERE {IS_FAILURE} AND {in_time()}
ORDER BY day_s
"""  # noqa: S608 - our own names
# Reads all descriptions of a day, so it runs once for each day of failures.
UNDESCRIBED_BY_MINUTE = f"""
SELECT intDiv(time_ns, 60000000000) * 60 AS minute_s, count() AS failures
FROM ({SELECT_UNDESCRIBED})
GROUP BY minute_s ORDER BY minute_s
"""  # noqa: S608 - our own names
AnswerFindings = Annotated[
    tuple[Finding, ...], StoredAs("answer_findings", "String", read=findings_from)
]
MAX_TIME_NS = 2**63 - 1
SECOND_NS = 1_000_000_000
MINUTE_NS = 60 * SECOND_NS
DAY_NS = 1440 * MINUTE_NS


@dataclass(frozen=True, slots=True)
class Failure:
    """One unfaithful or misleading claim.

    `nearest` is the most similar context sentence, "" for none. `answer_findings` are those of the
    whole answer, if one of them may say how the claim misleads. `version` is the version of the
    claim's row.
    """

    trace_id: str
    span_id: str
    claim_index: int
    time_ns: int
    service: str
    route: str
    question: str
    claim: str
    label: Label
    nearest: str
    evidence: StoredEvidence = ()
    clashes: StoredClashes = ()
    status: ClaimState = ClaimStatus.UNDECIDED
    answer_findings: AnswerFindings = ()
    version: int = field(default=0, compare=False)

    @property
    def key(self) -> ClaimKey:
        """The claim's identity: trace, span and index in the answer."""
        return (self.trace_id, self.span_id, self.claim_index)

    @property
    def is_misleading(self) -> bool:
        """True for an entailed claim, which fails by its status."""
        return self.label is Label.ENTAILED

    @property
    def verdict(self) -> str:
        """The label, and the status by which an entailed claim fails: "entailed, stale"."""
        return f"{self.label}, {self.status}" if self.is_misleading else str(self.label)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The findings on this claim."""
        return tuple(one for one in self.answer_findings if one.claim == self.claim_index)

    @property
    def claimed_words(self) -> tuple[str, ...]:
        """The words of the claim that differ from the passages, as its reasons name them."""
        return self._differing(clash.claimed for clash in self.clashes)

    @property
    def found_words(self) -> tuple[str, ...]:
        """The words of the passages that differ from the claim, as its reasons name them."""
        return self._differing(clash.found for clash in self.clashes)

    def _differing(self, words: Iterable[str]) -> tuple[str, ...]:
        quoted = (one for finding in self.findings for one in quoted_words(finding.detail))
        return tuple(filter(None, (*words, *quoted)))

    @property
    def used(self) -> tuple[Evidence, ...]:
        """The sentences that support the claim."""
        return tuple(one for one in self.evidence if one.relation == "supports")

    @property
    def against(self) -> tuple[Evidence, ...]:
        """The sentences that contradict or limit the claim, as evidence or by a finding."""
        known = (*(finding.evidence for finding in self.findings), self.evidence)
        found = {
            (one.passage_id, one.start): one
            for some in known
            for one in some
            if one.relation != "supports"
        }
        return tuple(found.values())


def failure_versions(chosen: str) -> str:
    """The SELECT of the keys and versions of current failures, as their descriptions have them.

    `chosen` is a condition on a trace id, which it calls {trace}.
    """
    return f"""
SELECT c.TraceId, c.SpanId, toInt32(c.ClaimIndex), c.Version + 1
FROM rt4chart_claims AS c FINAL
INNER JOIN ({LAST_VERDICT} HAVING {chosen.replace("{trace}", "TraceId")}) AS v
    ON v.TraceId = c.TraceId AND v.SpanId = c.SpanId AND v.VerifierId = c.VerifierId
WHERE {IS_FAILURE_OF_C} AND c.IsDeleted = 0
  AND {in_time("c.Timestamp")}
  AND {chosen.replace("{trace}", "c.TraceId")}
"""  # noqa: S608 - our own names


@dataclass(frozen=True, slots=True)
class _Minute:
    minute_s: int
    failures: int


def failures(client: Client, *, since_ns: int, limit: int = 100_000) -> list[Failure]:
    """The failures since then, newest first, at most `limit` of them.

    If several verifiers judged an answer, the claims of the latest verdict.
    """
    parameters = {"since": since_ns, "until": MAX_TIME_NS, "limit": limit}
    return read(client, Failure, NEWEST_FAILURES, parameters)


def failures_by_key(client: Client, keys: list[ClaimKey]) -> list[Failure]:
    """The failures of these keys, in order; expired or replaced ones are skipped."""
    traces = sorted({trace for trace, _, _ in keys})
    parameters = {"since": 0, "until": MAX_TIME_NS, "keys": keys, "traces": traces}
    found = {failure.key: failure for failure in read(client, Failure, FAILURES_BY_KEY, parameters)}
    return [found[key] for key in keys if key in found]


def undescribed_slices(
    client: Client, *, model: str, since_ns: int, until_ns: int, page: int
) -> Iterator[tuple[int, int]]:
    """Slices of time with failures that lack a description of this model, each of about `page`.

    A slice is [from, to) in nanoseconds, at least a minute, and within one day, which is one
    partition of the tables. A day is read after the slices before it were consumed.
    """
    times = {"since": since_ns, "until": until_ns}
    for (day_s,) in client.query(FAILURE_DAYS, times).result_rows:
        first = max(day_s * SECOND_NS, since_ns)
        last = min(day_s * SECOND_NS + DAY_NS, until_ns)
        parameters = {"model": model, "since": first, "until": last}
        yield from _merge_minutes(
            read(client, _Minute, UNDESCRIBED_BY_MINUTE, parameters), first, last, page
        )


def _merge_minutes(
    minutes: Sequence[_Minute], since_ns: int, until_ns: int, page: int
) -> Iterator[tuple[int, int]]:
    start, size, end = since_ns, 0, since_ns
    for minute in minutes:
        at = minute.minute_s * SECOND_NS
        if size and size + minute.failures > page:
            yield start, end
            size = 0
        if not size:
            start = max(at, since_ns)
        size, end = size + minute.failures, min(at + MINUTE_NS, until_ns)
    if size:
        yield start, end


def undescribed_failures(
    client: Client, *, model: str, since_ns: int, until_ns: int
) -> list[Failure]:
    """The failures of that time without a description of this model, the oldest first.

    A description of an earlier verdict does not count.
    """
    parameters = {"since": since_ns, "until": until_ns, "model": model}
    return read(client, Failure, UNDESCRIBED_FAILURES, parameters)


@dataclass(frozen=True, slots=True)
class DescriptionRow:
    """A stored description; `version` is the version of its claim plus one."""

    start_ns: StartNs
    key: StoredKey
    partition: StoredPartition
    model: Annotated[str, StoredAs("EmbeddingModel", LOW_CARDINALITY)]
    text: Annotated[str, StoredAs("Text", "String")]
    vector: Annotated[tuple[float, ...], StoredAs("Embedding", "Array(Float32)")]
    joint_version: Annotated[str, StoredAs("JointVersion", LOW_CARDINALITY)]
    joint: Annotated[tuple[float, ...], StoredAs("Joint", "Array(Float32)")]
    version: Version


DESCRIPTIONS = RowTable("rt4chart_failure_embeddings", DescriptionRow)


@dataclass(frozen=True, slots=True)
class Description:
    """The text by which a failure is grouped, its embedding, and the failure's joint vector."""

    failure: Failure
    fingerprint: str
    text: str
    vector: tuple[float, ...]
    joint: tuple[float, ...]

    @property
    def partition(self) -> Partition:
        """The partition in which it is grouped: service, route and fingerprint."""
        return (self.failure.service, self.failure.route, self.fingerprint)


def insert_descriptions(
    client: Client, found: Sequence[Description], *, model: str, joint_version: str
) -> None:
    """Write descriptions of this embedding model; each replaces that of an earlier verdict."""
    rows = [
        DescriptionRow(
            start_ns=description.failure.time_ns,
            key=description.failure.key,
            partition=description.partition,
            model=model,
            text=description.text,
            vector=description.vector,
            joint_version=joint_version,
            joint=description.joint,
            version=description.failure.version + 1,
        )
        for description in found
    ]
    written = [
        (*description.failure.key, model, description.failure.version, description.fingerprint)
        for description in found
    ]
    DESCRIPTIONS.insert(client, rows, token=batch_token("descriptions", written))
