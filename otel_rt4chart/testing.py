"""Test support: a judge with scripted verdicts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from otel_rt4chart.core.errors import InputError
from otel_rt4chart.verify.core.judge import Hint
from otel_rt4chart.verify.core.model import (
    AnswerRange,
    Chunk,
    Clash,
    DraftClaim,
    Judgement,
    Label,
    Sentence,
)


@dataclass(frozen=True, slots=True)
class Script:
    """The verdict on one claim.

    `local` holds one label for each chunk; a single entry applies to all chunks. `evidence` are
    fragments of text: each context sentence that contains one is returned as evidence.
    """

    final: Label
    local: tuple[Label, ...] = (Label.BASELESS,)
    evidence: tuple[str, ...] = ()
    clashes: tuple[Clash, ...] = ()
    confidence: float = 1.0


@dataclass(slots=True)
class ScriptedJudge:
    """A `Judge` with a script for each claim text; every claim is a slice of the answer.

    `calls` records the calls in order: ("assess", chunk index, claims) and
    ("resolve", chunk index of the hint or -1, claims).
    """

    scripts: Mapping[str, Script]
    id: str = "scripted/1"
    calls: list[tuple[str, int, tuple[str, ...]]] = field(default_factory=list)
    is_remote: ClassVar[bool] = False
    reads_question: ClassVar[bool] = False

    def decompose(self, sentences: Sequence[Sentence]) -> Sequence[DraftClaim]:
        """A draft for each scripted text that occurs in a sentence."""
        drafts = [
            DraftClaim(text, s.index, AnswerRange(s.start + at, s.start + at + len(text)))
            for s in sentences
            for text in self.scripts
            if (at := s.text.find(text)) >= 0
        ]
        return sorted(drafts, key=lambda draft: draft.range)

    def assess(
        self, claims: Sequence[DraftClaim], chunk: Chunk, *, question: str
    ) -> Sequence[Judgement]:
        """The scripted labels for that chunk."""
        self.calls.append(("assess", chunk.index, tuple(claim.text for claim in claims)))
        return [self._judge(claim, chunk.sentences, chunk.index) for claim in claims]

    def resolve(
        self,
        claims: Sequence[DraftClaim],
        context: Sequence[Sentence],
        *,
        hint: Hint | None,
        question: str,
    ) -> Sequence[Judgement]:
        """The scripted final labels."""
        where = hint.chunk.index if hint and hint.chunk else -1
        self.calls.append(("resolve", where, tuple(claim.text for claim in claims)))
        return [self._judge(claim, context, None) for claim in claims]

    def _judge(
        self, claim: DraftClaim, sentences: Sequence[Sentence], chunk: int | None
    ) -> Judgement:
        script = self.scripts.get(claim.text)
        if script is None:
            known = ", ".join(map(repr, self.scripts))
            raise InputError(f"expected a claim that has a script ({known}), got {claim.text!r}")
        label = script.final
        if chunk is not None:
            label = script.local[chunk if len(script.local) > 1 else 0]
        found = tuple(
            sentence.index
            for sentence in sentences
            if any(piece in sentence.reading for piece in script.evidence)
        )
        return Judgement(
            label=label,
            sentences=found if label in (Label.ENTAILED, Label.CONTRADICTED) else (),
            confidence=script.confidence,
            clashes=script.clashes,
        )
