"""Lists of answers: by the page, the worst of a route, and whole with their claims."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from otel_rt4chart.core.text import clip
from otel_rt4chart.verify.core.model import AnswerLabel, Claim
from otel_rt4chart.verify.core.rates import Measure
from rt4chart_collector.store.answers.claims import claims_since
from rt4chart_collector.store.answers.verifications import FINAL_PER_PARTITION
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.rows import read, read_by
from rt4chart_collector.store.engine.scope import QueryScope, in_scope, in_time

LONGEST_CLAIM = 4_000  # characters that are read of a claim, of which an excerpt is shown

# The claims of an answer that each measure counts.
FAILED_COUNT = {
    Measure.UNFAITHFUL: "toInt64(ContradictedCount + BaselessCount)",
    Measure.MISLEADING: "toInt64(MisleadingCount)",
    Measure.EITHER: "toInt64(ContradictedCount + BaselessCount + MisleadingCount)",
}
# The condition on a claim that each measure counts.
UNFAITHFUL_CLAIM = "Label IN ('contradicted', 'baseless')"
MISLEADING_CLAIM = "Label = 'entailed' AND Status NOT IN ('supported', 'undecided')"
FAILED_CLAIM = {
    Measure.UNFAITHFUL: UNFAITHFUL_CLAIM,
    Measure.MISLEADING: MISLEADING_CLAIM,
    Measure.EITHER: f"({UNFAITHFUL_CLAIM} OR {MISLEADING_CLAIM})",
}
ANSWER_KEYS = """
SELECT toUnixTimestamp64Nano(Timestamp) AS start_ns, TraceId AS trace_id, SpanId AS span_id,
    VerifierId AS verifier, ServiceName AS service, Route AS route, {failures} AS failures,
    toInt64(ContradictedCount + BaselessCount) AS unfaithful,
    toInt64(MisleadingCount) AS misleading,
    toInt64(EntailedCount + ContradictedCount + BaselessCount) AS decided
FROM rt4chart_verifications FINAL
WHERE IsDeleted = 0 AND {where}
ORDER BY {order} LIMIT {{limit:UInt32}}
"""
# The primary key (service, route, five minutes) finds the rows. PREWHERE on the trace, which is
# equal in all versions of a row and thus safe before FINAL, reads the long texts of these traces
# only.
OF_ANSWER_KEYS = f"""
PREWHERE TraceId IN {{traces:Array(String)}}
WHERE {in_time()} AND IsDeleted = 0
  AND ServiceName IN {{services:Array(String)}} AND Route IN {{routes:Array(String)}}
  AND toStartOfFiveMinutes(Timestamp) IN {{ticks:Array(DateTime('UTC'))}}
"""
# The first failed claim of each verdict in an order: contradicted, baseless, then misleading ones.
WORST_CLAIMS = f"""
SELECT TraceId AS trace_id, SpanId AS span_id, VerifierId AS verifier, toString(Label) AS label,
    Status AS status, toInt32(ClaimIndex) AS index,
    substringUTF8(Claim, 1, {LONGEST_CLAIM}) AS text, Clashes.Claimed[1] AS difference
FROM rt4chart_claims FINAL {OF_ANSWER_KEYS} AND {{failed}}
ORDER BY Label = 'entailed', Label, {{order}} LIMIT 1 BY TraceId, SpanId, VerifierId
"""  # noqa: S608 - our own names
FIRST, SUREST = "ClaimIndex", "Confidence DESC, ClaimIndex"


@dataclass(frozen=True, slots=True)
class WorstClaim:
    """The worst claim of an answer: its label, its index, an excerpt of its text, its status.

    `difference` are the words of the claim that its reason names first; the excerpt has them.
    `label` is "" and `index` -1 if the answer has no failed claim, or its claims have expired.
    """

    label: str = ""
    index: int = -1
    text: str = ""
    status: str = ""
    difference: str = ""


NO_CLAIM = WorstClaim()


class AnswerPlace(Protocol):
    """Where the rows of an answer are: its route, its start and its trace."""

    @property
    def start_ns(self) -> int:
        """The start of the answer in epoch nanoseconds."""

    @property
    def service(self) -> str:
        """The service of the answer."""

    @property
    def route(self) -> str:
        """The route of the answer."""

    @property
    def trace_id(self) -> str:
        """The trace of the answer."""


@dataclass(frozen=True, slots=True)
class _AnswerKey:
    start_ns: int
    trace_id: str
    span_id: str
    verifier: str
    service: str
    route: str
    failures: int
    unfaithful: int
    misleading: int
    decided: int


def worst_claims(
    client: Client, keys: Sequence[AnswerPlace], measure: Measure, *, order: str, chars: int
) -> dict[tuple[str, str, str], WorstClaim]:
    """The worst claim of each verdict that has one, by trace, span and verifier."""
    found = read_by(
        client,
        ("trace_id", "span_id", "verifier"),
        WorstClaim,
        WORST_CLAIMS.replace("{order}", order).replace("{failed}", FAILED_CLAIM[measure]),
        key_parameters(keys),
        settings=FINAL_PER_PARTITION,
    )
    return {
        key: replace(claim, text=clip(claim.text, chars, [claim.difference]))
        for key, (claim,) in found.items()
    }


def key_parameters(keys: Sequence[AnswerPlace]) -> dict[str, object]:
    """The parameters of `OF_ANSWER_KEYS`."""
    return {
        "since": min(key.start_ns for key in keys),
        "until": max(key.start_ns for key in keys) + 1,
        "services": sorted({key.service for key in keys}),
        "routes": sorted({key.route for key in keys}),
        "ticks": sorted({key.start_ns // 10**9 // 300 * 300 for key in keys}),
        "traces": sorted({key.trace_id for key in keys}),
    }


HAS_FAILED = f"Decision = 'verified' AND failures > 0 AND {in_scope()}"
MOST_FAILURES = """
failures DESC, ContradictedCount DESC, failures / decided DESC, Timestamp DESC, TraceId, SpanId
"""


@dataclass(frozen=True, slots=True)
class WorstAnswer:
    """An answer, how many of its decided claims are unfaithful and misleading, and the worst claim.

    A contradicted claim is worse than a baseless one, and that than a misleading one; then
    confidence decides. `claim` is an excerpt of its text, with `difference`, the words that its
    reason names first. `label` is "" and `index` -1 where the claim has expired.
    """

    trace_id: str
    span_id: str
    time_ns: int
    unfaithful: int
    decided: int
    label: str = ""
    index: int = -1
    claim: str = ""
    misleading: int = 0
    status: str = ""
    difference: str = ""

    def failures(self, measure: Measure) -> int:
        """The number of claims that the measure counts."""
        unfaithful = 0 if measure is Measure.MISLEADING else self.unfaithful
        return unfaithful + (0 if measure is Measure.UNFAITHFUL else self.misleading)


def worst_answers(
    client: Client,
    scope: QueryScope,
    *,
    limit: int = 10,
    chars: int = 300,
    measure: Measure = Measure.UNFAITHFUL,
) -> list[WorstAnswer]:
    """The answers of the scope with the most claims of the measure, the worst first."""
    query = ANSWER_KEYS.format(
        failures=FAILED_COUNT[measure], where=HAS_FAILED, order=MOST_FAILURES
    )
    parameters = {**scope.parameters, "limit": limit}
    keys = read(client, _AnswerKey, query, parameters, settings=FINAL_PER_PARTITION)
    if not keys:
        return []
    worst = worst_claims(client, keys, measure, order=SUREST, chars=chars)
    found = [
        _worst_answer(key, worst.get((key.trace_id, key.span_id, key.verifier), NO_CLAIM))
        for key in keys
    ]
    return sorted(found, key=lambda answer: _sort_order(answer, answer.failures(measure)))


def _worst_answer(key: _AnswerKey, claim: WorstClaim) -> WorstAnswer:
    return WorstAnswer(
        *(key.trace_id, key.span_id, key.start_ns, key.unfaithful, key.decided),
        *(claim.label, claim.index, claim.text),
        misleading=key.misleading,
        status=claim.status,
        difference=claim.difference,
    )


def _sort_order(answer: WorstAnswer, failures: int) -> tuple[int, bool, float, int, str, str]:
    """Of equally many failures: contradicted first, then larger share, then newer."""
    share = failures / answer.decided
    is_mild = answer.label != "contradicted"
    return -failures, is_mild, -share, -answer.time_ns, answer.trace_id, answer.span_id


VERIFIED_ANSWERS = """
SELECT TraceId AS trace_id, SpanId AS span_id, VerifierId AS verifier, ServiceName AS service,
    Route AS route, Question AS question, Answer AS answer, toString(Label) AS label,
    Metadata AS metadata
FROM rt4chart_verifications AS v FINAL
LEFT ANY JOIN (
    SELECT TraceId, SpanId, any(SpanAttributes['metadata']) AS Metadata
    FROM otel_traces GROUP BY TraceId, SpanId
) AS t USING (TraceId, SpanId)
WHERE v.Decision = 'verified' AND v.IsDeleted = 0
  AND v.Timestamp >= fromUnixTimestamp64Nano({since:Int64})
ORDER BY ServiceName, Route, Timestamp, TraceId, SpanId, VerifierId
LIMIT {limit:UInt32}
"""


@dataclass(frozen=True, slots=True)
class StoredAnswer:
    """One verdict on an answer; `metadata` is the attribute of that name of its span."""

    trace_id: str
    span_id: str
    verifier: str
    service: str
    route: str
    question: str
    answer: str
    label: AnswerLabel
    metadata: str
    claims: tuple[Claim, ...] = ()


def verified_answers(
    client: Client, *, since_ns: int = 0, limit: int = 10_000
) -> list[StoredAnswer]:
    """The verified answers since then, by service, route and time, at most `limit` of them."""
    claims: defaultdict[tuple[str, str, str], list[Claim]] = defaultdict(list)
    for row in claims_since(client, since_ns):
        claims[row.trace_id, row.span_id, row.verifier].append(row.claim)
    found = read(client, StoredAnswer, VERIFIED_ANSWERS, {"since": since_ns, "limit": limit})
    return [
        replace(answer, claims=tuple(claims[answer.trace_id, answer.span_id, answer.verifier]))
        for answer in found
    ]
