"""The quantifiers, hedges, conditions and causes of a text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from otel_rt4chart.verify.language.word_lists import JUDGE_WORDS, ScopeKind

_SCOPE = re.compile(
    "|".join(rf"\b(?P<{kind}>(?:{pattern}))\b" for kind, pattern in JUDGE_WORDS.items()),
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class ScopeWord:
    """A quantifier or qualifier at `text[start:end]`."""

    kind: ScopeKind
    norm: str
    start: int
    end: int


def scope_words(text: str) -> tuple[ScopeWord, ...]:
    """The quantifiers and qualifiers of a text, in order; `May` the month is none."""
    return tuple(
        ScopeWord(kind, match.group().lower(), match.start(), match.end())
        for match in _SCOPE.finditer(text)
        for kind in (_kind(match.lastgroup),)
        if not (match.group() == "May" and match.start() > 0)
    )


def has(words: Sequence[ScopeWord], kind: ScopeKind) -> bool:
    """True where one of the words is of that kind."""
    return any(word.kind == kind for word in words)


def _kind(name: str | None) -> ScopeKind:
    return next(kind for kind in JUDGE_WORDS if kind == name)
