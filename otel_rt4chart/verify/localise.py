"""An unfaithful claim to the narrowest range of the answer that carries it."""

from __future__ import annotations

import re

from otel_rt4chart.verify.grapheme import whole_graphemes
from otel_rt4chart.verify.local.tokens import Token, tokenize
from otel_rt4chart.verify.model import AnswerRange, DraftClaim, Judgement

# Unaligned words are the range only where they are clearly fewer than the claim's.
NARROW = 0.6


def localise(answer: str, draft: DraftClaim, judgement: Judgement, nearest: str) -> AnswerRange:
    """The clashing value, else the words that `nearest` lacks, else the claim; never empty.

    Whole graphemes: a range never begins or ends before a combining mark or a joiner.
    """
    found = _clash(answer, draft, judgement)
    if found is None and nearest:
        found = _strange_words(answer, draft.range, nearest)
    return whole_graphemes(answer, found or draft.range)


def _clash(answer: str, draft: DraftClaim, judgement: Judgement) -> AnswerRange | None:
    """From the first to the last claimed value that stands in the claim's own words."""
    low, high = draft.range
    places = [
        found
        for clash in judgement.clashes
        if (found := _place(clash.claimed, answer, low, high)) is not None
    ]
    if not places:
        return None
    widest = AnswerRange(min(at for at, _ in places), max(end for _, end in places))
    return widest if widest.end - widest.start <= NARROW * (high - low) else AnswerRange(*places[0])


def _place(value: str, answer: str, low: int, high: int) -> tuple[int, int] | None:
    """Where the value first stands as a word of its own, so that "1" is not found in "14"."""
    if not value:
        return None
    whole = re.compile(rf"(?<!\w){re.escape(value)}(?!\w)").search(answer, low, high)
    at = whole.start() if whole else answer.find(value, low, high)
    return (at, at + len(value)) if at >= 0 else None


def _strange_words(answer: str, own: AnswerRange, nearest: str) -> AnswerRange | None:
    """The hull of the answer's content words, in the claim's range, that the nearest lacks.

    The answer's words, not the claim's: a judge may word a claim in its own way.
    """
    text = answer[own.start : own.end]
    known = {token.stem for token in tokenize(nearest)}
    content = [token for token in tokenize(text) if token.is_content]
    strange: list[Token] = [token for token in content if token.stem not in known]
    if not strange or len(strange) == len(content):
        return None
    left, right = strange[0].start, strange[-1].end
    if right - left > NARROW * len(text):
        return None
    return AnswerRange(own.start + left, own.start + right)
