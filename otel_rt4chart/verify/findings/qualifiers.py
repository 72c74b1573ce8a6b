"""Restrictions in a passage's words, and those that a claim leaves out."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from otel_rt4chart.verify.link import content
from otel_rt4chart.verify.model import Claim, Finding, Label

# What a restriction says counts as said where this share of its words stands in the answer.
_SAID = 0.5
_END = r"[^,;.()]*"
_PATTERNS = {
    "exclusion": rf"\b(?:except(?:\s+for)?|excluding|exclud(?:es?|ed)|other\s+than|apart\s+from"
    rf"|(?:is|are)\s+not\s+(?:covered|eligible|included|available)|does\s+not\s+(?:apply|cover|include)"
    rf"|do\s+not\s+(?:apply|cover|include))\b{_END}",
    "condition": rf"\b(?:if|unless|provided(?:\s+that)?|as\s+long\s+as|subject\s+to|contingent\s+on"
    rf"|(?:only\s+)?(?:when|where|once|after|upon)|with\s+(?:prior|advance)|requires?|must)\b{_END}",
    "eligibility": rf"\b(?:eligib\w+|aged\s+\d+"
    rf"|\d+\s+(?:years\s+)?(?:and|or)\s+(?:above|over|older|under|younger)"
    rf"|only\s+(?:for|to|available)|(?:new|existing|verified|registered)\s+\w+\s+only)\b{_END}",
    "time_limit": rf"\b(?:within\s+\d+|no\s+later\s+than|until|expires?|valid\s+(?:for|until)"
    rf"|for\s+the\s+first\s+\w+|up\s+to\s+\d+)\b{_END}",
    "quantifier": rf"\b(?:only|some|most|up\s+to|at\s+most|limited\s+to|all\s+but)\b{_END}",
}
_RESTRICTION = re.compile(
    "|".join(f"(?P<{kind}>{pattern})" for kind, pattern in _PATTERNS.items()), re.IGNORECASE
)
# A restriction holds in general; a clause in the past tense tells a story.
_TOLD = re.compile(r"\b(?:was|were|had|did|(?!need|proceed|exceed)[a-z]{2,}(?<!been\s)ed)\b", re.I)
_GENERAL = re.compile(r"\b(?:has|have|is|are|be|been)\s+(?:\w+\s+)?\w+(?:ed|en|n)\b", re.I)


class Restriction(NamedTuple):
    """Words of a sentence that limit what it says; `kind` says how."""

    kind: str
    text: str


def restrictions(sentence: str) -> tuple[Restriction, ...]:
    """The exclusions, conditions, eligibility rules, time limits and quantifiers of a sentence."""
    return tuple(
        Restriction(str(match.lastgroup), match.group().strip())
        for match in _RESTRICTION.finditer(sentence)
        if not _is_told(match.group())
    )


def unsaid(sentence: str, answer: str) -> tuple[Restriction, ...]:
    """The restrictions of a sentence that the answer does not mention."""
    said = content(answer).keys()
    return tuple(one for one in restrictions(sentence) if not _is_said(one.text, said))


def dropped_qualifiers(answer: str, claims: Sequence[Claim]) -> Iterator[Finding]:
    """Entailed claims whose only supporting sentences restrict what they state without a limit."""
    for number, claim in enumerate(claims):
        supporting = [one for one in claim.evidence if one.relation == "supports"]
        left = [(one, unsaid(one.text, answer)) for one in supporting]
        if claim.label is not Label.ENTAILED or not left or not all(unsaids for _, unsaids in left):
            continue
        first = left[0][1][0]
        yield Finding(
            "dropped_qualifier",
            f"the passage says “{first.text}”, the answer does not",
            kind=first.kind,
            claim=number,
            passage_ids=tuple(dict.fromkeys(one.passage_id for one in supporting)),
            evidence=tuple(one for one, _ in left),
        )


def _is_said(restriction: str, said: object) -> bool:
    """True where most of its content, by rarity, is in the answer; a bare "only" never is."""
    weights = content(restriction)
    total = sum(weights.values())
    if not total or not isinstance(said, type({}.keys())):
        return True
    return sum(weight for stem, weight in weights.items() if stem in said) > _SAID * total


def _is_told(clause: str) -> bool:
    _, _, after = clause.partition(" ")  # the word that restricts may itself end in -ed
    return _TOLD.search(_GENERAL.sub("", after)) is not None
