"""A judge in process that takes the same way with a chunk's sentences and with all of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

from otel_rt4chart.verify import decompose as decomposition
from otel_rt4chart.verify.judge import Hint
from otel_rt4chart.verify.model import Chunk, DraftClaim, Judgement, Sentence


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
