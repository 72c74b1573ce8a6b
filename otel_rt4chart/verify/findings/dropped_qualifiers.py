"""Restrictions of passages, such as exclusions and conditions, and those that an answer drops."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from otel_rt4chart.verify.core.model import Claim, Finding, Label
from otel_rt4chart.verify.findings.failure_kinds import FindingName
from otel_rt4chart.verify.language.tokens import content
from otel_rt4chart.verify.language.word_lists import (
    BOUND_SAID,
    PARTIAL_SAID,
    RESTRICTION_DENIED,
    RESTRICTION_WORDS,
    SOLE_SAID,
    RestrictionKind,
)

# A restriction is said if the answer has this share of its words.
_MENTIONED = 0.5
# A restriction concerns a claim if its clause has this share of the claim's content.
_CONCERNED = 0.5
_SHORTEST = 4  # letters of an abbreviation: "auth"
_PARTIAL, _SOLE, _BOUNDED = (
    re.compile(rf"\b(?:{words})\b", re.IGNORECASE)
    for words in (PARTIAL_SAID, SOLE_SAID, BOUND_SAID)
)


def dropped_qualifiers(answer: str, claims: Sequence[Claim]) -> Iterator[Finding]:
    """Entailed claims all of whose supporting sentences have a restriction that is missing."""
    mentioned = content(answer)
    for number, claim in enumerate(claims):
        if claim.label is not Label.ENTAILED:
            continue
        supporting = [one for one in claim.evidence if one.relation == "supports"]
        found = [dropped_restrictions(one.text, claim.text, mentioned) for one in supporting]
        missing = list(filter(None, found))
        if not missing or len(missing) < len(supporting):
            continue
        first = missing[0][0]
        yield Finding(
            FindingName.DROPPED_QUALIFIER,
            f"the passage says “{first.text}”, the answer does not",
            kind=first.kind,
            claim=number,
            passage_ids=tuple(dict.fromkeys(evidence.passage_id for evidence in supporting)),
            evidence=tuple(supporting),
        )


def dropped_restrictions(
    sentence: str, claim: str, mentioned: Mapping[str, float]
) -> tuple[Restriction, ...]:
    """The restrictions of a sentence that concern the claim and that the answer does not mention.

    Args:
        sentence: A sentence of a passage.
        claim: What the answer states.
        mentioned: The content of the whole answer: stems with their rarity.
    """
    found = restrictions(sentence)
    stated = content(claim) if found else {}  # most sentences restrict nothing
    return tuple(
        restriction
        for restriction in found
        if _concerns(restriction, stated) and not _is_mentioned(restriction, claim, mentioned)
    )


def _concerns(restriction: Restriction, claim: Mapping[str, float]) -> bool:
    if (
        restriction.kind in ("bound", "quantifier")
        and not content(restriction.text).keys() & claim.keys()
    ):
        return False
    clause_content = content(restriction.clause)
    shared = sum(weight for stem, weight in claim.items() if stem in clause_content)
    return shared >= _CONCERNED * sum(claim.values())


def _is_mentioned(restriction: Restriction, claim: str, mentioned: Mapping[str, float]) -> bool:
    """True if the answer has most of the restriction's content, weighted by rarity.

    The word of a bound or a quantifier must be in the claim: "plans" does not say "some plans".
    """
    if restriction.kind == "bound":
        return _BOUNDED.search(claim) is not None
    if restriction.kind == "quantifier":
        if _PARTIAL.search(restriction.text):
            return _PARTIAL.search(claim) is not None
        if _SOLE.search(claim):
            return True
        return all(_is_among(stem, mentioned) for stem in content(restriction.text))
    weights = content(restriction.text)
    met = sum(weight for stem, weight in weights.items() if _is_among(stem, mentioned))
    return met > _MENTIONED * sum(weights.values()) or not weights


def _is_among(stem: str, mentioned: Mapping[str, float]) -> bool:
    """True for a stem that is said in full or abbreviated: "auth" says "authorization"."""
    if stem in mentioned or any(stem[:at] in mentioned for at in range(_SHORTEST, len(stem))):
        return True
    return len(stem) >= _SHORTEST and any(other.startswith(stem) for other in mentioned)


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
