"""Graphemes, what a reader sees as one character: ranges must not split them (Unicode UAX 29)."""

from __future__ import annotations

import regex

from otel_rt4chart.verify.core.model import AnswerRange

_GRAPHEME = regex.compile(r"\X")


def whole_graphemes(answer: str, found: AnswerRange) -> AnswerRange:
    """The range, widened on both sides so that it splits no grapheme."""
    return AnswerRange(boundary(answer, found.start), boundary(answer, found.end, is_end=True))


def boundary(text: str, at: int, *, is_end: bool = False) -> int:
    """The position, or the grapheme boundary before it (after it for an end)."""
    if at <= 0 or at >= len(text) or _is_apart(text, at):
        return at
    start = at - 1
    while start > 0 and not _is_apart(text, start):
        start -= 1
    for grapheme in _GRAPHEME.finditer(text, start):
        if grapheme.end() > at:
            inside = grapheme.start() < at
            return int(grapheme.end() if is_end else grapheme.start()) if inside else at
    return at


def _is_apart(text: str, at: int) -> bool:
    """True where the two characters around the position alone prove that it is a boundary."""
    return _is_plain(text[at - 1]) and _is_plain(text[at])


def _is_plain(character: str) -> bool:
    """True for printable ASCII and ideographs, which never join with each other."""
    return " " <= character <= "~" or "\u4e00" <= character <= "\u9fff"
