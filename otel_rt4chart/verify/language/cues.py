"""Cues: words that exclude, limit, hedge or quantify, and the words that they govern."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from otel_rt4chart.verify.language.word_lists import FINGERPRINT_CUES, CueKind

_CUE = {
    kind: re.compile(rf"\b(?:{words})\b", re.IGNORECASE) for kind, words in FINGERPRINT_CUES.items()
}
_CLAUSE_END = re.compile(r"[,;:.!?()\n]")
_WORD = re.compile(r"\S+")
_SPAN_WORDS = 8  # a longer span is the rest of a sentence without punctuation
_AUXILIARIES = frozenset(("is", "are", "was", "were", "be", "been", "has", "have", "had", "also"))
# These deny what precedes them: `cosmetic procedures are excluded from coverage`.
_PASSIVE = re.compile(r"(?:is|are|was|were|not|excluded|excepted)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Cue:
    """A restricting word and the words that it governs, both as in the text."""

    word: str
    span: str


def cues(text: str, kind: CueKind) -> Iterator[Cue]:
    """The cues of that kind in order, without the month of May."""
    for match in _CUE[kind].finditer(text):
        if match.group() == "May":
            continue
        span = _after(text, match.end())
        if kind == "exclusion" and _PASSIVE.match(match.group()):
            span = _before(text, match.start()) or span
        yield Cue(match.group(), span)


def _after(text: str, start: int) -> str:
    end = _CLAUSE_END.search(text, start)
    words = list(_WORD.finditer(text, start, end.start() if end else len(text)))[:_SPAN_WORDS]
    return text[words[0].start() : words[-1].end()] if words else ""


def _before(text: str, end: int) -> str:
    start = max((m.end() for m in _CLAUSE_END.finditer(text, 0, end)), default=0)
    words = list(_WORD.finditer(text, start, end))[-_SPAN_WORDS:]
    while words and words[-1].group().lower() in _AUXILIARIES:
        words.pop()
    return text[words[0].start() : words[-1].end()] if words else ""
