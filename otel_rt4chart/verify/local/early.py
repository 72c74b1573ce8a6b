"""Verdicts that need no features: copies, single cells, other languages than English."""

from __future__ import annotations

from otel_rt4chart.verify.core.model import DraftClaim, Judgement, Label, Sentence
from otel_rt4chart.verify.language.identify import foreign_language, passage_languages
from otel_rt4chart.verify.language.slots import ContextIndex, Slots, read_context
from otel_rt4chart.verify.local.cells import CellIndex
from otel_rt4chart.verify.local.verdict import MAX_CONFIDENCE

_REMEDY = "this judge reads English: set RT4CHART_JUDGE=onnx:PATH to use a multilingual model"


class EarlyVerdicts:
    """A context as every judge for English reads it first; `index` is for the features."""

    def __init__(self, sentences: tuple[Sentence, ...]) -> None:
        """Index the sentences, their cells and their languages."""
        self.index: ContextIndex = read_context([sentence.reading for sentence in sentences])
        self._sentences = sentences
        self._cells = CellIndex(sentences)
        self._languages = passage_languages(sentences)

    def judge(self, draft: DraftClaim, claim: Slots) -> Judgement | None:
        """The judgement of a claim that needs no features; None for any other claim.

        Such are: no claim, nothing to compare, a verbatim copy, a claim or passages that are not in
        English, a claim about one cell.
        """
        if not draft.is_claim:
            return Judgement(Label.NOT_A_CLAIM, confidence=1.0, reason="states nothing to check")
        if not claim.content and not claim.quantities:
            return Judgement(Label.UNDECIDED, reason="nothing to check")
        copied = self.index.keys.get(claim.key)
        if copied is not None:
            index = (self._sentences[copied].index,)
            reason = "is in the passage word for word"
            return Judgement(Label.ENTAILED, index, MAX_CONFIDENCE, reason)
        return self._refuse_language(claim.text) or self._cells.judge(claim)

    def settle(self, judgement: Judgement) -> Judgement:
        """Undecided instead of baseless where a passage that was not read may support the claim."""
        if judgement.label is Label.BASELESS and self._languages.foreign:
            return _undecided(self._foreign_passage())
        return judgement

    def _refuse_language(self, claim: str) -> Judgement | None:
        """Undecided where the claim or all passages are not in English."""
        if language := foreign_language(claim):
            return _undecided(f"the claim is not in English ({language})")
        return _undecided(self._foreign_passage()) if self._languages.is_all else None

    def _foreign_passage(self) -> str:
        name, language = next(iter(self._languages.foreign.items()))
        passage = f"passage {name}" if name else "the passage"
        return f"{passage} is not in English ({language})"


def _undecided(problem: str) -> Judgement:
    return Judgement(Label.UNDECIDED, reason=f"language: {problem}; {_REMEDY}")
