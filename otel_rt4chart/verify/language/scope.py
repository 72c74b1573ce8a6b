"""Quantifiers and qualifiers: how much, how surely, and under which condition a text says it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

ScopeKind = Literal[
    "universal", "restriction", "partial", "superlative", "hedge", "condition", "cause"
]

_PATTERNS: dict[ScopeKind, str] = {
    "universal": (
        r"all|every|everyone|everybody|everything|always|entire(?:ly)?|whole|both|any(?:one|body)?"
        r"|each|complete(?:ly)?|never|guarantee[sd]?|must"
    ),
    "restriction": r"only|solely|exclusively|just\s+for|limited\s+to|restricted\s+to|except",
    "partial": (
        r"some|several|many|most|few|often|usually|sometimes|partly|partially|mainly|mostly"
        r"|generally|typically|occasionally|a\s+(?:number|majority|minority|portion|handful)\s+of"
        r"|up\s+to|at\s+least|limited|part\s+of|one\s+of|half\s+of"
    ),
    "superlative": (
        r"(?!(?:interest|invest|request|suggest|protest|contest|digest|forest|honest|arrest"
        r"|modest|harvest|manifest|guest|west|test|rest|nest|quest|best-known)\b)[a-z]{3,}est"
        r"|best|worst|most\s+[a-z]+|least\s+[a-z]+|ever|first|unique|unprecedented"
    ),
    "hedge": (
        r"may|might|could|can|possibl[ey]|perhaps|maybe|probabl[ey]|likely|potential(?:ly)?"
        r"|propos(?:e[sd]?|ed|al|als)|plan(?:s|ned|ning)?|expect(?:s|ed)?|intend(?:s|ed)?|hop(?:e|es|ed|ing)"
        r"|consider(?:s|ed|ing)?|suggest(?:s|ed)?|alleged(?:ly)?|reported(?:ly)?|appear(?:s|ed)?"
        r"|seem(?:s|ed)?|believe[sd]?|claim(?:s|ed)?|aim(?:s|ed)?|would|should|try|tr(?:ies|ied)"
        r"|tend(?:s|ed)?|estimate[sd]?|think(?:s)?|thought|want(?:s|ed)?|going\s+to|will"
    ),
    "condition": (
        r"if|unless|excluding|provided\s+that|subject\s+to|depending"
        r"|with\s+prior|until|as\s+long\s+as|eligible|in\s+case|otherwise|apart\s+from|other\s+than"
    ),
    "cause": (
        r"because|due\s+to|led\s+to|leads\s+to|caus(?:e|es|ed|ing)|result(?:s|ed|ing)\s+in"
        r"|as\s+a\s+result|owing\s+to|thanks\s+to|therefore|so\s+that|in\s+order\s+to|after"
    ),
}
_SCOPE = re.compile(
    "|".join(rf"\b(?P<{kind}>(?:{pattern}))\b" for kind, pattern in _PATTERNS.items()),
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
    return next(kind for kind in _PATTERNS if kind == name)
