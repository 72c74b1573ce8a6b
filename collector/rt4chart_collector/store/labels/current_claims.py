"""Claims as a verifier has them now, so that labels on the same claims of another verifier count.

A label is of a claim: a text in its answer against its passages. It outlives the verdict and the
verifier, and so does the probability with which the claim was drawn.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from typing import Annotated, TypeVar

from otel_rt4chart.verify.rates.population import stratum_of
from rt4chart_collector.store.answers.claims import ClaimLabel
from rt4chart_collector.store.answers.verifications import FINAL_PER_PARTITION
from rt4chart_collector.store.engine.columns import AnswerKey, ClaimKey, stated_confidence
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.rows import StoredAs, read
from rt4chart_collector.store.engine.scope import QueryScope, in_scope
from rt4chart_collector.store.labels.drawn_claims import HASH_CHARS, ClaimVerdictRow
from rt4chart_collector.store.labels.populations import CURRENT_ANSWERS

TRACES_AT_ONCE = 5_000
OF_TRACES = "TraceId IN {traces:Array(String)}"
WEIGHTS_OF_TRACES = f"""
SELECT TraceId AS trace_id, SpanId AS span_id, Weight AS weight
FROM ({CURRENT_ANSWERS} AND {OF_TRACES})
"""  # noqa: S608 - our own names
# The hash is that of `claim_hash`.
CLAIMS_OF_TRACES = f"""
SELECT TraceId AS trace_id, SpanId AS span_id, ClaimIndex AS claim, Label AS label,
    Confidence AS confidence, lower(substring(hex(SHA256(Claim)), 1, {HASH_CHARS})) AS text_hash
FROM rt4chart_claims FINAL
WHERE IsDeleted = 0 AND Label != 'not_a_claim' AND {in_scope()} AND {OF_TRACES}
"""  # noqa: S608
AnyRow = TypeVar("AnyRow", bound=ClaimVerdictRow)


@dataclass(frozen=True, slots=True)
class _WeightRow:
    trace_id: str
    span_id: str
    weight: float


@dataclass(frozen=True, slots=True)
class CurrentClaim:
    """A claim with its current verdict."""

    trace_id: str
    span_id: str
    claim: Annotated[int, StoredAs("claim", "UInt16")]
    text_hash: str
    label: ClaimLabel
    confidence: Annotated[float | None, StoredAs("confidence", "Float32", stated_confidence)]

    @property
    def key(self) -> ClaimKey:
        """Trace, span and number of the claim."""
        return (self.trace_id, self.span_id, self.claim)


class CurrentClaims:
    """The claims of a verifier on some answers, found by their text."""

    def __init__(
        self, verifier: str, claims: Iterable[CurrentClaim], weights: dict[AnswerKey, float]
    ) -> None:
        """`weights` are those of the answers that the verifier has judged."""
        self.verifier = verifier
        self._weights = weights
        self._by_key: dict[ClaimKey, CurrentClaim] = {}
        self._by_text: defaultdict[tuple[str, str, str], list[CurrentClaim]] = defaultdict(list)
        for one in claims:
            self._by_key[one.key] = one
            self._by_text[one.trace_id, one.span_id, one.text_hash].append(one)

    def is_judged(self, row: ClaimVerdictRow) -> bool:
        """True where the verifier has judged the answer of the claim."""
        return row.verifier == self.verifier or row.key in self._weights

    def with_verdict(self, row: AnyRow) -> AnyRow | None:
        """The row with the verdict of this verifier; None where it has no claim with that text.

        An answer is in the samples of two verifiers with the lower of their sampling rates, because
        both are drawn by the hash of the trace.
        """
        if row.verifier == self.verifier:
            return row
        current = self._find(row)
        if current is None:
            return None
        return replace(
            row,
            verifier=self.verifier,
            claim=current.claim,
            judge_label=current.label,
            confidence=current.confidence,
            weight=max(row.weight, self._weights.get(row.key, 0.0)),
            stratum=stratum_of(current.label) if row.stratum else "",
        )

    def _find(self, row: ClaimVerdictRow) -> CurrentClaim | None:
        exact = self._by_key.get(row.claim_key)
        if exact is not None and exact.text_hash == row.text_hash:
            return exact
        same = self._by_text.get((*row.key, row.text_hash), ())
        return same[0] if same else None


def drawn_claims_now(verifier: str, rows: Collection[ClaimVerdictRow]) -> CurrentClaims:
    """The drawn claims of the verifier itself, with the verdicts that they were drawn by."""
    claims = (
        CurrentClaim(
            row.trace_id, row.span_id, row.claim, row.text_hash, row.judge_label, row.confidence
        )
        for row in rows
    )
    return CurrentClaims(verifier, claims, {row.key: row.weight for row in rows})


def read_current_claims(
    client: Client, scope: QueryScope, rows: Iterable[ClaimVerdictRow]
) -> CurrentClaims:
    """The claims that the scope's verifier has on the answers of these rows of other verifiers."""
    verifier = scope.verifier or ""
    traces = sorted({row.trace_id for row in rows if row.verifier != verifier})
    claims: list[CurrentClaim] = []
    weights: dict[AnswerKey, float] = {}
    for at in range(0, len(traces), TRACES_AT_ONCE):
        given = {**scope.parameters, "traces": traces[at : at + TRACES_AT_ONCE]}
        claims += read(client, CurrentClaim, CLAIMS_OF_TRACES, given, settings=FINAL_PER_PARTITION)
        found = read(client, _WeightRow, WEIGHTS_OF_TRACES, given, settings=FINAL_PER_PARTITION)
        weights |= {(one.trace_id, one.span_id): one.weight for one in found}
    return CurrentClaims(verifier, claims, weights)
