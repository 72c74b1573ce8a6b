"""Which claim a row is about, and what its judge said of it when it was drawn or labelled."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Annotated

from otel_rt4chart.verify.core.model import Label
from otel_rt4chart.verify.rates.population import FLAGGED, score_of
from rt4chart_collector.store.answers.claims import ClaimIndex
from rt4chart_collector.store.engine.columns import ClaimKey, StoredConfidence, VerdictRow
from rt4chart_collector.store.engine.rows import LOW_CARDINALITY, StoredAs

HASH_CHARS = 16


def claim_hash(text: str) -> str:
    """The hash by which a claim is recognized when its text has expired."""
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:HASH_CHARS]


def claim_id(key: ClaimKey) -> str:
    """The name of a claim in files and in draws: TRACE/SPAN/NUMBER."""
    trace, span, claim = key
    return f"{trace}/{span}/{claim}"


@dataclass(frozen=True, slots=True)
class ClaimVerdictRow(VerdictRow):
    """A claim with the verdict of its judge, and how it was drawn.

    `weight` is 1 / the answer's sampling rate. `draw` and `stratum` are "", and `probability` is 0,
    for a claim that was not drawn by chance. `rate` is the one by which it was wanted.
    """

    claim: ClaimIndex
    text_hash: Annotated[str, StoredAs("ClaimHash", "String")]
    judge_label: Annotated[Label, StoredAs("JudgeLabel", LOW_CARDINALITY)]
    confidence: StoredConfidence
    weight: Annotated[float, StoredAs("Weight", "Float64")]
    draw: Annotated[str, StoredAs("DrawId", "String")]
    stratum: Annotated[str, StoredAs("Stratum", LOW_CARDINALITY)]
    rank: Annotated[float, StoredAs("Rank", "Float64")]
    rate: Annotated[float, StoredAs("Rate", "Float64")]
    probability: Annotated[float, StoredAs("Probability", "Float64")]

    @property
    def claim_key(self) -> ClaimKey:
        """Trace, span and number of the claim."""
        return (self.trace_id, self.span_id, self.claim)

    @property
    def id(self) -> str:
        """The name of the claim in files and in draws."""
        return claim_id(self.claim_key)

    @property
    def score(self) -> float:
        """The judge's probability that the claim is wrong."""
        return min(max(score_of(self.judge_label, self.confidence), 0.0), 1.0)

    @property
    def is_flagged(self) -> bool:
        """True where the judge called the claim contradicted or baseless."""
        return self.stratum == FLAGGED if self.stratum else self.judge_label.is_unfaithful
