"""Verdicts that need no features: copies, single cells, other languages than English."""

from __future__ import annotations

import re
from functools import cached_property

from otel_rt4chart.verify.core.meter import TOO_LARGE
from otel_rt4chart.verify.core.model import DraftClaim, Judgement, Label, Sentence
from otel_rt4chart.verify.language.identify import foreign_language, passage_languages
from otel_rt4chart.verify.language.slots import ContextIndex, Slots, read_context, read_slots
from otel_rt4chart.verify.local.cells import CellIndex
from otel_rt4chart.verify.local.comparison import is_verb
from otel_rt4chart.verify.local.verdict import MAX_CONFIDENCE

# Claims are compared word by word with a sentence. More pairs than this take seconds of a processor
# for one claim, in which no limit of the answer's time is looked at.
MOST_WORD_PAIRS = 300_000
# Each value of a claim is sought in what the others may add up to, so that their number counts
# squared. What is longer is no sentence: a table, a list of figures, a text without full stops.
MOST_WORDS, MOST_VALUES = 600, 100
_CONDITION = re.compile(
    r"\b(?:if|unless|except|but|although|though|while|when|whether|because|until|that|which|who|said"
    r"|says|according)\b",
    re.IGNORECASE,
)
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

        Such are: no claim, nothing or too much to compare, a verbatim copy, a claim or passages
        that are not in English, a claim about one cell.
        """
        if not draft.is_claim:
            return Judgement(Label.NOT_A_CLAIM, confidence=1.0, reason="states nothing to check")
        if not claim.content and not claim.quantities:
            return Judgement(Label.UNDECIDED, reason="nothing to check")
        if claim.key not in self.index.keys and (too_large := self._too_large(claim)):
            return Judgement(Label.UNDECIDED, reason=too_large)
        if (copied := self._copied(claim)) is not None:
            index, reason = (self._sentences[copied].index,), "is in the passage word for word"
            return Judgement(Label.ENTAILED, index, MAX_CONFIDENCE, reason)
        return self._refuse_language(claim.text) or self._cells.judge(claim)

    @cached_property
    def _longest(self) -> int:
        """The words of the longest sentence."""
        return max((len(sentence.tokens) for sentence in self.index.sentences), default=0)

    def _too_large(self, claim: Slots) -> str:
        """Why the claim is not compared; "" for one that is."""
        words, values = len(claim.tokens), len(claim.quantities) + len(claim.moments)
        is_short = words <= MOST_WORDS and values <= MOST_VALUES
        if is_short and words * self._longest <= MOST_WORD_PAIRS:
            return ""
        size = f"a claim of {words:,} words and {values:,} values"
        return f"{TOO_LARGE}: {size} beside a sentence of {self._longest:,} words"

    def _copied(self, claim: Slots) -> int | None:
        """The sentence that is the claim, or begins with it before a clause with the same verb."""
        if claim.key in self.index.keys:
            return self.index.keys[claim.key]
        begun = (at for key, at in self.index.keys.items() if key.startswith(claim.key))
        parallel = (
            at
            for at in begun
            if (first := _parallel_clause(self.index.sentences[at])) and first.key == claim.key
        )
        return min(parallel, default=None)

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


def _parallel_clause(sentence: Slots) -> Slots | None:
    """The first of two clauses with one verb: "A takes 3 days" of "A takes 3 days, B takes 5"."""
    first, comma, rest = sentence.text.partition(", ")
    if not comma or sentence.scope or sentence.denials or _CONDITION.search(sentence.text):
        return None
    one, other = read_slots(first), read_slots(rest.partition(", ")[0])
    # The second clause has a subject of its own, so that the verb is not the first word.
    verbs, others = _verb_stems(one), _verb_stems(other)
    return one if verbs and not verbs.isdisjoint(others) else None


def _verb_stems(slots: Slots) -> frozenset[str]:
    return frozenset(
        token.stem for at, token in enumerate(slots.tokens) if at and is_verb(slots, at)
    )


def _undecided(problem: str) -> Judgement:
    return Judgement(Label.UNDECIDED, reason=f"language: {problem}; {_REMEDY}")
