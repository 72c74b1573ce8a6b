"""Reads claims against single sentences: which of them says the opposite."""

from __future__ import annotations

import math
from collections.abc import Sequence

from otel_rt4chart.verify.core.model import DraftClaim, Judgement, Label, Sentence
from otel_rt4chart.verify.local.rules_judge import RulesJudge, WholeContextJudge
from otel_rt4chart.verify.neural.cross_encoder import LONGEST, CrossEncoder
from otel_rt4chart.verify.neural.premise import join_fitting
from otel_rt4chart.verify.text.citations import blank_citations

# The network was trained on many contradictions; among the passages that an answer did not use
# they are rare. Its odds are divided by e: "certain to .6" is then its own .8. Of 501 pairs of a
# claim of a faithful answer and a near sentence of its source, it holds .018 for contradicted
# there, and .060 at its own .6 (training split).
_PRIOR = -1.0


class LocalScanner(WholeContextJudge):
    """The embedded network and the rules on each sentence alone, without the whole context.

    A judgement is contradicted, with the sentence and how certain that is, or baseless: whether a
    sentence supports a claim is for the judge to say, who reads it among the others.
    """

    def __init__(self, network: CrossEncoder) -> None:
        """`network` is that of the judge."""
        self._network = network
        self._rules = RulesJudge()

    @property
    def id(self) -> str:
        """Both parts."""
        return f"scanner({self._network.id},{self._rules.id})"

    @property
    def longest_input(self) -> int:
        """The tokens of claim and sentence that the network takes at once."""
        return LONGEST

    def _judge(
        self, claims: Sequence[DraftClaim], sentences: tuple[Sentence, ...]
    ) -> tuple[Judgement, ...]:
        return tuple(self._judge_one(claim, sentences) for claim in claims)

    def _judge_one(self, claim: DraftClaim, sentences: tuple[Sentence, ...]) -> Judgement:
        (ruled,) = self._rules._judge([claim], sentences)
        if ruled.label is Label.CONTRADICTED:
            return ruled
        text = blank_citations(claim.text)
        if self._network.length(text, "") > LONGEST // 2:
            return Judgement(Label.UNDECIDED, reason="the claim is too long for the model")
        pairs = [(text, self._fitting(text, sentence)) for sentence in sentences]
        odds = [
            (one.contradicted - math.log(max(1e-9, 1.0 - math.exp(one.contradicted))), at)
            for at, one in enumerate(self._network.read(pairs))
        ]
        logit, at = max(odds, default=(-math.inf, 0))
        if logit <= 0.0:
            return Judgement(Label.BASELESS, confidence=1.0)
        certain = 1.0 / (1.0 + math.exp(-logit - _PRIOR))
        return Judgement(Label.CONTRADICTED, (sentences[at].index,), certain)

    def _fitting(self, claim: str, sentence: Sentence) -> str:
        return join_fitting([sentence], lambda part: self._network.length(claim, part) <= LONGEST)
