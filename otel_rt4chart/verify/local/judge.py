"""The judge that needs no model: words aligned, slots compared, a fitted head decides."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

from otel_rt4chart.verify.core.judge import Hint
from otel_rt4chart.verify.core.model import Chunk, DraftClaim, Judgement, Sentence
from otel_rt4chart.verify.decompose import rules as decomposition
from otel_rt4chart.verify.language.context import Context, read_context
from otel_rt4chart.verify.language.slots import read_slots
from otel_rt4chart.verify.local.features import Reading, read_claim
from otel_rt4chart.verify.local.heads import (
    Heads,
    covered_floor,
    denied_floor,
    heads,
    swapped_floor,
)
from otel_rt4chart.verify.local.verdict import Odds, settled, verdict
from otel_rt4chart.verify.text.citations import blanked


class WholeContextJudge(ABC):
    """What it is asked about is indexed whole, so that it needs no hint where to look."""

    is_remote = False

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
    """Needs no key, no network and no model: the same input gives the same verdict everywhere.

    It holds no state; what it remembers between calls is bounded and shared by all its instances.
    """

    def __init__(self) -> None:
        """Read the fitted weights, once per process."""
        self._heads: Heads = heads()

    @property
    def id(self) -> str:
        """Changes whenever the same claim could get another verdict."""
        return "rules/5"

    def _judge(
        self, claims: Sequence[DraftClaim], sentences: tuple[Sentence, ...]
    ) -> tuple[Judgement, ...]:
        context = read_context([sentence.reading for sentence in sentences])
        return tuple(self._judge_one(claim, context, sentences) for claim in claims)

    def _judge_one(
        self, draft: DraftClaim, context: Context, sentences: Sequence[Sentence]
    ) -> Judgement:
        claim = read_slots(blanked(draft.text))
        known = settled(draft, claim, context, sentences)
        if known is not None:
            return known
        reading = read_claim(claim, context)
        return verdict(reading, self._odds(reading), sentences)

    def _odds(self, reading: Reading) -> Odds:
        unfaithful, contradicted = self._heads.unfaithful, self._heads.contradicted
        values = reading.named
        return Odds(
            max(unfaithful.probability(values), covered_floor(reading), denied_floor(reading)),
            max(contradicted.probability(values), swapped_floor(reading)),
            unfaithful.threshold,
            contradicted.threshold,
        )
