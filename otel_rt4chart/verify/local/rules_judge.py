"""The judge without a model: it aligns words, compares slots, and a fitted head decides."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

from otel_rt4chart.verify.core.judge import Hint
from otel_rt4chart.verify.core.model import Chunk, DraftClaim, Judgement, Sentence
from otel_rt4chart.verify.decompose import rules as decomposition
from otel_rt4chart.verify.language.slots import read_slots
from otel_rt4chart.verify.local.early import EarlyVerdicts
from otel_rt4chart.verify.local.features import ClaimReading, read_claim
from otel_rt4chart.verify.local.structure import deny_measures, doubt_entailed
from otel_rt4chart.verify.local.verdict import (
    DecisionThresholds,
    Odds,
    RulesHeads,
    clash_floor,
    doubt_thin_grounds,
    judgement_from_odds,
    rules_heads,
    swap_floor,
    uncovered_floor,
)
from otel_rt4chart.verify.text.citations import blank_citations
from otel_rt4chart.verify.text.fillers import blank_fillers

# Counted up whenever a change of the rules could give the same claim another verdict.
RULES_ID = "rules/15"


class WholeContextJudge(ABC):
    """A judge that indexes all sentences it is given, so that it needs no hint where to look."""

    is_remote = False
    reads_question = False

    def decompose(self, sentences: Sequence[Sentence]) -> Sequence[DraftClaim]:
        """The rule-based decomposition."""
        return decomposition.decompose(sentences)

    def assess(
        self, claims: Sequence[DraftClaim], chunk: Chunk, *, question: str
    ) -> Sequence[Judgement]:
        """Each claim against the sentences of one chunk alone."""
        return self._judge(claims, chunk.sentences)

    def resolve(
        self,
        claims: Sequence[DraftClaim],
        context: Sequence[Sentence],
        *,
        hint: Hint | None,
        question: str,
    ) -> Sequence[Judgement]:
        """Each claim against all sentences."""
        return self._judge(claims, tuple(context))

    @abstractmethod
    def _judge(
        self, claims: Sequence[DraftClaim], sentences: tuple[Sentence, ...]
    ) -> tuple[Judgement, ...]:
        """One judgement a claim, in order."""


class RulesJudge(WholeContextJudge):
    """Needs no key, no network and no model; the same input gives the same verdict everywhere.

    It has no state of its own: all instances share bounded caches of texts. Threads may share it.
    """

    def __init__(self) -> None:
        """Read the fitted weights, once per process."""
        self._heads: RulesHeads = rules_heads()

    @property
    def id(self) -> str:
        """It changes whenever the same claim could get another verdict."""
        return RULES_ID

    def _judge(
        self, claims: Sequence[DraftClaim], sentences: tuple[Sentence, ...]
    ) -> tuple[Judgement, ...]:
        early = EarlyVerdicts(sentences)
        return tuple(self._judge_one(claim, early, sentences) for claim in claims)

    def _judge_one(
        self, draft: DraftClaim, early: EarlyVerdicts, sentences: Sequence[Sentence]
    ) -> Judgement:
        claim = read_slots(blank_fillers(blank_citations(draft.text)))
        known = early.judge(draft, claim)
        if known is not None:
            return known
        reading = read_claim(claim, early.index)
        judgement = judgement_from_odds(reading, self._odds(reading), sentences)
        judgement = deny_measures(judgement, reading, sentences)
        judgement = doubt_entailed(judgement, reading, sentences)
        return early.settle(doubt_thin_grounds(judgement, reading, sentences))

    def _odds(self, reading: ClaimReading) -> Odds:
        unfaithful, contradicted = self._heads.unfaithful, self._heads.contradicted
        values = reading.named
        return Odds(
            max(unfaithful.probability(values), uncovered_floor(reading), clash_floor(reading)),
            max(contradicted.probability(values), swap_floor(reading)),
            DecisionThresholds(
                unfaithful.threshold,
                unfaithful.threshold,
                unfaithful.threshold,
                contradicted.threshold,
            ),
        )
