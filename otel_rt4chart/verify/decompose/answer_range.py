"""Where in the answer a claim stands: the range of its words, and of the part that is wrong."""

from __future__ import annotations

import re

from otel_rt4chart.verify.core.model import AnswerRange, DraftClaim, Judgement, Sentence
from otel_rt4chart.verify.language.slots import Slots, read_slots
from otel_rt4chart.verify.language.tokens import Token, tokenize
from otel_rt4chart.verify.text.graphemes import whole_graphemes

_JOINING = frozenset(["and", "but", "or", "while", "whereas", "which", "who", "that", "because"])


def locate_claim(claim: str, sentence: Sentence) -> AnswerRange:
    """The narrowest range of the sentence that holds all words it shares with the claim."""
    source = read_slots(sentence.text)
    wanted = {word.stem for word in read_slots(claim).words}
    found: list[Token] = [word for word in source.words if word.stem in wanted]
    if not found:
        return AnswerRange(sentence.start, sentence.end)
    left, right = found[0].start, found[-1].end
    opening = _opening(source, left)
    return AnswerRange(sentence.start + opening, sentence.start + right)


def _opening(source: Slots, left: int) -> int:
    """The start with the function words right before it: "the", "not", "at least"."""
    start = left
    for token in reversed([one for one in source.tokens if one.end <= left]):
        if token.is_content or token.norm in _JOINING or source.text[token.end : start].strip():
            break
        start = token.start
    return start


# A part of the claim is worth marking only where it is clearly shorter than the claim.
MAX_NARROW_SHARE = 0.6


def narrow_range(answer: str, draft: DraftClaim, judgement: Judgement, nearest: str) -> AnswerRange:
    """The range of the clashing value, else of the words `nearest` lacks, else of the claim.

    It is never empty and never splits a grapheme.
    """
    found = _clash_range(answer, draft, judgement)
    if found is None and nearest:
        found = _unsupported_words(answer, draft.range, nearest)
    return whole_graphemes(answer, found or draft.range)


def _clash_range(answer: str, draft: DraftClaim, judgement: Judgement) -> AnswerRange | None:
    """From the first to the last clashing value that stands in the claim's range."""
    low, high = draft.range
    places = [
        found
        for clash in judgement.clashes
        if (found := _find_value(clash.claimed, answer, low, high)) is not None
    ]
    if not places:
        return None
    widest = AnswerRange(min(at for at, _ in places), max(end for _, end in places))
    return (
        widest
        if widest.end - widest.start <= MAX_NARROW_SHARE * (high - low)
        else AnswerRange(*places[0])
    )


def _find_value(value: str, answer: str, low: int, high: int) -> tuple[int, int] | None:
    """Where the value first stands, as a word of its own if it does: "1" is not found in "14"."""
    if not value:
        return None
    whole = re.compile(rf"(?<!\w){re.escape(value)}(?!\w)").search(answer, low, high)
    at = whole.start() if whole else answer.find(value, low, high)
    return (at, at + len(value)) if at >= 0 else None


def _unsupported_words(answer: str, own: AnswerRange, nearest: str) -> AnswerRange | None:
    """From the first to the last content word in the claim's range that `nearest` lacks.

    The answer's words count, not the claim's: a judge may put a claim in its own words.
    """
    text = answer[own.start : own.end]
    known = {token.stem for token in tokenize(nearest)}
    content = [token for token in tokenize(text) if token.is_content]
    strange: list[Token] = [token for token in content if token.stem not in known]
    if not strange or len(strange) == len(content):
        return None
    left, right = strange[0].start, strange[-1].end
    if right - left > MAX_NARROW_SHARE * len(text):
        return None
    return AnswerRange(own.start + left, own.start + right)
