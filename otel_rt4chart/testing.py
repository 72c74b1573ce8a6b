"""For tests of what uses verification: a judge that says what it was told to say."""

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
    """What to say of one claim.

    `local` holds a label a chunk (one for all where it has a single entry). `evidence` are pieces
    of text: a context sentence that contains one is named as evidence, in chunks and globally.
    """

    final: Label
    local: tuple[Label, ...] = (Label.BASELESS,)
    evidence: tuple[str, ...] = ()
    clashes: tuple[Clash, ...] = ()
    confidence: float = 1.0


@dataclass(slots=True)
class ScriptedJudge:
    """A `Judge` with a script for each claim text; every claim is a slice of the answer.

    `calls` records what was asked, in order: ("assess", chunk index, claims) and
    ("resolve", hint's chunk index or -1, claims).
    """

    scripts: Mapping[str, Script]
    id: str = "scripted/1"
    calls: list[tuple[str, int, tuple[str, ...]]] = field(default_factory=list)
    is_remote: ClassVar[bool] = False

    def decompose(self, sentences: Sequence[Sentence]) -> Sequence[DraftClaim]:
        """Each scripted text, where it stands in the answer's sentences."""
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
        """The scripted local labels of that chunk."""
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
            raise InputError(f"no script for the claim {claim.text!r}; there is one for {known}")
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
