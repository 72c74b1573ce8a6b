"""Judges of the benchmark: an oracle that knows people's labels, and a count of what is read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random

from otel_rt4chart.verify.core.judge import Hint, Judge
from otel_rt4chart.verify.core.model import Chunk, DraftClaim, Judgement, Label, Sentence
from otel_rt4chart.verify.decompose.rules import decompose
from otel_rt4chart.verify.language.tokens import content
from otel_rt4chart.verify.link.chunks import tokens_of

EVIDENCE = 2  # sentences of a source that are named as evidence


@dataclass(frozen=True, slots=True)
class OracleJudge:
    """Knows people's labels by claim and source; says of the sentences shown what is true of them.

    A generated sentence entails a claim of its own words and no other one. So large a share of its
    judgements as `error` is wrong, always the same ones.
    """

    labels: Mapping[str, Mapping[str, Label]]
    error: float = 0.0
    id: str = "oracle/1"
    is_remote: bool = False

    def decompose(self, sentences: Sequence[Sentence]) -> Sequence[DraftClaim]:
        """The claims as rules cut them."""
        return decompose(sentences)

    def assess(
        self, claims: Sequence[DraftClaim], chunk: Chunk, *, question: str
    ) -> Sequence[Judgement]:
        """What is true of the sentences of one chunk."""
        return [self._judgement(claim.text, chunk.sentences) for claim in claims]

    def resolve(
        self,
        claims: Sequence[DraftClaim],
        context: Sequence[Sentence],
        *,
        hint: Hint | None,
        question: str,
    ) -> Sequence[Judgement]:
        """What is true of these sentences."""
        return [self._judgement(claim.text, context) for claim in claims]

    def _judgement(self, claim: str, sentences: Sequence[Sentence]) -> Judgement:
        true = self._true_judgement(claim, sentences)
        shown = "".join(one.text for one in sentences)
        if not sentences or Random(f"{claim}|{shown}").random() >= self.error:  # noqa: S311
            return true
        if true.label is Label.ENTAILED:
            return Judgement(Label.BASELESS, confidence=1.0)
        return Judgement(Label.ENTAILED, (sentences[0].index,), 1.0)

    def _true_judgement(self, claim: str, sentences: Sequence[Sentence]) -> Judgement:
        known = self.labels[claim]
        said = [one.index for one in sentences if one.text.strip() == claim]
        told = [one for one in sentences if one.passage_id in known]
        if any(known[one.passage_id] is Label.ENTAILED for one in told):
            said += _nearest(
                claim, [one for one in told if known[one.passage_id] is Label.ENTAILED]
            )
        if said:
            return Judgement(Label.ENTAILED, tuple(dict.fromkeys(said)), 1.0)
        against = [one for one in told if known[one.passage_id] is Label.CONTRADICTED]
        if against:
            return Judgement(Label.CONTRADICTED, tuple(_nearest(claim, against)), 1.0)
        return Judgement(Label.BASELESS, confidence=1.0)


def _nearest(claim: str, sentences: Sequence[Sentence]) -> list[int]:
    """The sentences that share the most words with the claim."""
    words = set(content(claim))
    ranked = sorted(sentences, key=lambda one: (-len(words & set(content(one.text))), one.index))
    return [one.index for one in ranked[:EVIDENCE]]


@dataclass(slots=True)
class CountingJudge:
    """A judge that counts the tokens of the sentences and claims that it was shown."""

    judge: Judge
    tokens: int = 0

    @property
    def id(self) -> str:
        """The id of the judge."""
        return self.judge.id

    def decompose(self, sentences: Sequence[Sentence]) -> Sequence[DraftClaim]:
        """As the judge does."""
        return self.judge.decompose(sentences)

    def assess(
        self, claims: Sequence[DraftClaim], chunk: Chunk, *, question: str
    ) -> Sequence[Judgement]:
        """As the judge does."""
        self._count(claims, chunk.sentences)
        return self.judge.assess(claims, chunk, question=question)

    def resolve(
        self,
        claims: Sequence[DraftClaim],
        context: Sequence[Sentence],
        *,
        hint: Hint | None,
        question: str,
    ) -> Sequence[Judgement]:
        """As the judge does."""
        self._count(claims, context)
        return self.judge.resolve(claims, context, hint=hint, question=question)

    def _count(self, claims: Sequence[DraftClaim], sentences: Sequence[Sentence]) -> None:
        self.tokens += tokens_of(sentences) + sum(len(claim.text) // 4 for claim in claims)
