"""The restrictions of a sentence: exclusions, conditions, time limits and their clauses."""

from __future__ import annotations

import re
from typing import NamedTuple

from otel_rt4chart.verify.language.tokens import content
from otel_rt4chart.verify.language.word_lists import (
    RESTRICTION_DENIED,
    RESTRICTION_WORDS,
    RestrictionKind,
)

# Characters beside a restriction in which its clause is searched.
_REACH = 400
# How far a restriction goes on after its words; a quantifier's pattern holds its words itself.
_REST = {"bound": r"[^,;:()\n]{0,40}", "quantifier": ""}
_TO_THE_COMMA = r"[^,;:.()\n]*"
_RESTRICTION = re.compile(
    "|".join(
        rf"(?P<{kind}>{words}{_REST.get(kind, _TO_THE_COMMA)})"
        for kind, words in RESTRICTION_WORDS.items()
    ),
    re.IGNORECASE | re.VERBOSE,
)
_DENIED = re.compile(RESTRICTION_DENIED, re.IGNORECASE)
_BOUNDARY = re.compile(
    r"[;:()\n“”\"]|[.!?]\s|,\s+(?=(?:and|but|while|whereas|although|though|which|who|where|as|so"
    r"|because|or)\b)",
    re.IGNORECASE,
)
# A restriction holds in general; a clause in the past tense tells a story.
_PAST = re.compile(r"\b(?:was|were|had|did|said|told|went|came|took|became|began)\b", re.I)
_ENDED = re.compile(r"(?<!been\s)\b(?!need|proceed|exceed|aged\b)[a-z]{2,}ed\b", re.IGNORECASE)
_PRESENT = re.compile(
    r"\b(?:is|are|be|been|am|do|does|has|have|can|cannot|may|must|shall|will|should|requires?"
    r"|appl(?:y|ies)|covers?|offers?|gets?|receives?|lasts?|includes?|expires?|extends?)\b",
    re.IGNORECASE,
)
_SPOKEN = re.compile(r"\b(?:I|I['’]\w+|my|he|she)\b(?!\s+or\b)")


class Restriction(NamedTuple):
    """Words of a sentence that limit its `clause`; `kind` says how."""

    kind: RestrictionKind
    text: str
    clause: str


def restrictions(sentence: str) -> tuple[Restriction, ...]:
    """The exclusions, conditions, eligibility rules, time limits, bounds and quantifiers."""
    denied = [found.span() for found in _DENIED.finditer(sentence)]
    return tuple(
        Restriction(_kind(match.lastgroup), match.group().strip(), clause)
        for match in _RESTRICTION.finditer(sentence)
        for clause in (_clause(sentence, match),)
        if not is_narrative(clause)
        and not any(start < match.start() < end for start, end in denied)
    )


def is_narrative(clause: str) -> bool:
    """True for a clause of a story or a dialogue, which restricts nothing."""
    if _PAST.search(clause) or _SPOKEN.search(clause):
        return True
    return _ENDED.search(clause) is not None and _PRESENT.search(clause) is None


def _kind(name: str | None) -> RestrictionKind:
    return next(kind for kind in RESTRICTION_WORDS if kind == name)


def _clause(sentence: str, match: re.Match[str]) -> str:
    """The clause that holds the restriction; if the restriction opens it, also the next clause."""
    before = sentence[max(0, match.start() - _REACH) : match.start()]
    start = max((one.end() for one in _BOUNDARY.finditer(before)), default=0)
    before, own = before[start:], match.group()[:_REACH]
    if content(before) and not before.rstrip().endswith(","):
        return before + own
    after = sentence[match.end() : match.end() + _REACH]
    following = _BOUNDARY.search(after, 1)
    return before + own + after[: following.start() if following else None]
