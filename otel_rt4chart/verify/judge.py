"""The seam between the pipeline and whatever decides: a model, rules, or a script."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from otel_rt4chart.verify.model import Chunk, DraftClaim, Judgement, Sentence


class Judge(Protocol):
    """Decomposes an answer, then judges its claims chunk by chunk and as a whole.

    Each method answers for all its claims in one call, in their order. A judge that cannot
    decide a claim returns `Label.UNDECIDED` with a reason; it raises `JudgeError` only where the
    whole call failed, and the pipeline then reports the claims of that call as undecided.
    """

    @property
    def id(self) -> str:
        """Name and version, such as `local/lexical-1`: it identifies the verdicts it gives."""

    def decompose(self, sentences: Sequence[Sentence]) -> Sequence[DraftClaim]:
        """The claims of an answer's sentences, in the answer's order; it never sees the context."""

    def assess(
        self, claims: Sequence[DraftClaim], chunk: Chunk, *, question: str
    ) -> Sequence[Judgement]:
        """Local verification: each claim against one chunk."""

    def resolve(
        self,
        claims: Sequence[DraftClaim],
        context: Sequence[Sentence],
        *,
        hint: Chunk | None,
        question: str,
    ) -> Sequence[Judgement]:
        """Global verification: each claim against the whole context, `hint` says where to look."""
