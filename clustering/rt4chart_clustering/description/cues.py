"""The words by which a source restricts what it says, as data, and the spans that they open."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

CueKind = Literal["exclusion", "condition", "hedge", "partial", "universal"]

_OBTAINED = "obtained|approved|authori[sz]ed|met|required|eligible|verified|completed|confirmed"
_COVER = "cover(?:ed)?|includ(?:e|ed)|appl(?:y|ies|icable)|eligible|available|permitted|allowed"
PATTERNS: dict[CueKind, str] = {
    "exclusion": (
        rf"except(?:ing|\s+for)?|exclud(?:es|ed|ing|e)|exclusions?|excepted|other\s+than"
        rf"|apart\s+from|but\s+not|not\s+including|with\s+the\s+exception\s+of"
        rf"|(?:is|are|was|were|does|do|did)(?:\s+not|n['’]t)\s+(?:{_COVER})|not\s+(?:{_COVER})"
    ),
    "condition": (
        rf"only\s+(?:if|when|for|after|with)|if|unless|provided\s+that|subject\s+to|as\s+long\s+as"
        rf"|on\s+condition\s+that|(?:with|after)(?=\s+prior\b)|in\s+case\s+of|depending\s+on|until"
        rf"|when(?=[^.;]{{0,60}}\b(?:{_OBTAINED})\b)|requires?(?=\s+prior\b)"
    ),
    "hedge": (
        r"may|might|could|possibly|perhaps|probably|likely|potentially|allegedly|reportedly"
        r"|expects?|expected|plans?\s+to|planned\s+to|proposed|appears?|seems?|estimated"
    ),
    "partial": (
        r"some|several|many|most|few|often|usually|sometimes|partly|partially|mainly|mostly"
        r"|generally|typically|up\s+to|at\s+least|limited|half\s+of|part\s+of|certain"
    ),
    "universal": (
        r"all|every|everyone|everybody|everything|always|any(?:one|body)?|each|never|entire(?:ly)?"
        r"|completely|unlimited|without\s+exception|in\s+all\s+cases"
    ),
}
_CUE = {kind: re.compile(rf"\b(?:{words})\b", re.IGNORECASE) for kind, words in PATTERNS.items()}
_CLAUSE_END = re.compile(r"[,;:.!?()\n]")
_WORD = re.compile(r"\S+")
_SPAN_WORDS = 8
_AUXILIARIES = frozenset(("is", "are", "was", "were", "be", "been", "has", "have", "had", "also"))
# These deny what stands before them: `cosmetic procedures are excluded from coverage`.
_PASSIVE = re.compile(r"(?:is|are|was|were|not|excluded|excepted)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Cue:
    """A restricting word and the words that it governs, both as the text has them."""

    word: str
    span: str


def cues(text: str, kind: CueKind) -> Iterator[Cue]:
    """The cues of that kind in order; the month `May` is none."""
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
