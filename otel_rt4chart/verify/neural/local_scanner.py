"""Reads a claim against a few sentences of one passage: do they say the opposite?"""

from __future__ import annotations

import math
from collections.abc import Sequence

from otel_rt4chart.verify.core.model import DraftClaim, Judgement, Label, Sentence
from otel_rt4chart.verify.language.tokens import content
from otel_rt4chart.verify.local.rules_judge import WholeContextJudge
from otel_rt4chart.verify.neural.cross_encoder import LONGEST, CrossEncoder
from otel_rt4chart.verify.neural.premise import join_fitting
from otel_rt4chart.verify.text.citations import blank_citations

# The network was trained on many contradictions; among the passages that an answer did not use
# they are rare. Its odds are divided by e: "certain to .6" is then its own .8. Of 501 pairs of a
# claim of a faithful answer and a near sentence of its source, it holds .018 contradicted there,
# and .060 at its own .6 (training split).
_PRIOR = -1.0


class LocalScanner(WholeContextJudge):
    """The embedded network alone, without the features and the head of the judge.

    A judgement is contradicted, with the sentence and how certain that is, or baseless: whether a
    sentence supports a claim is for the judge to say, who reads it among the others.
    """

    def __init__(self, network: CrossEncoder) -> None:
        """`network` is that of the judge."""
        self._network = network

    @property
    def id(self) -> str:
        """That of the network."""
        return f"scanner/{self._network.id}"

    @property
    def longest_input(self) -> int:
        """The tokens of claim and sentence that the network takes at once."""
        return LONGEST

    def _judge(
        self, claims: Sequence[DraftClaim], sentences: tuple[Sentence, ...]
    ) -> tuple[Judgement, ...]:
        return tuple(self._judge_one(claim, sentences) for claim in claims)

    def _judge_one(self, claim: DraftClaim, sentences: tuple[Sentence, ...]) -> Judgement:
        text = blank_citations(claim.text)
        if self._network.length(text, "") > LONGEST // 2:
            return Judgement(Label.UNDECIDED, reason="the claim is too long for the model")
        evidence = join_fitting(sentences, lambda part: self._network.length(text, part) <= LONGEST)
        (read,) = self._network.read([(text, evidence)])
        odds = read.contradicted - math.log(max(1e-9, 1.0 - math.exp(read.contradicted)))
        certain = 1.0 / (1.0 + math.exp(-odds - _PRIOR))
        if odds <= 0.0:
            return Judgement(Label.BASELESS, confidence=1.0 - certain)
        return Judgement(Label.CONTRADICTED, (nearest(text, sentences).index,), certain)


def nearest(claim: str, sentences: Sequence[Sentence]) -> Sentence:
    """The sentence with the largest share of the claim's content, of equal ones the last."""
    stated = content(claim)
    return max(
        reversed(sentences),
        key=lambda one: sum(stated.get(stem, 0.0) for stem in content(one.reading)),
    )
