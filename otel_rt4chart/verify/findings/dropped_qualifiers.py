"""Dropped qualifiers: restrictions of a supporting passage that the answer leaves out."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from otel_rt4chart.verify.core.model import Claim, Finding, Label
from otel_rt4chart.verify.findings.failure_kinds import FindingName
from otel_rt4chart.verify.findings.restrictions import Restriction, restrictions
from otel_rt4chart.verify.language.tokens import content
from otel_rt4chart.verify.language.word_lists import BOUND_SAID, PARTIAL_SAID, SOLE_SAID

# A restriction is said if the answer has this share of its words.
_SAID = 0.5
# A restriction concerns a claim if its clause has this share of the claim's content.
_CONCERNED = 0.5
_SHORTEST = 4  # letters of an abbreviation: "auth"
_PARTIAL, _SOLE, _BOUNDED = (
    re.compile(rf"\b(?:{words})\b", re.IGNORECASE)
    for words in (PARTIAL_SAID, SOLE_SAID, BOUND_SAID)
)


def dropped_qualifiers(answer: str, claims: Sequence[Claim]) -> Iterator[Finding]:
    """Entailed claims all of whose supporting sentences have a restriction that is missing."""
    said = content(answer)
    for number, claim in enumerate(claims):
        if claim.label is not Label.ENTAILED:
            continue
        supporting = [one for one in claim.evidence if one.relation == "supports"]
        missing = [found for one in supporting if (found := unsaid(one.text, claim.text, said))]
        if not missing or len(missing) < len(supporting):
            continue
        first = missing[0][0]
        yield Finding(
            FindingName.DROPPED_QUALIFIER,
            f"the passage says “{first.text}”, the answer does not",
            kind=first.kind,
            claim=number,
            passage_ids=tuple(dict.fromkeys(one.passage_id for one in supporting)),
            evidence=tuple(supporting),
        )


def unsaid(sentence: str, claim: str, said: Mapping[str, float]) -> tuple[Restriction, ...]:
    """The restrictions of a sentence that concern the claim and that the answer does not mention.

    Args:
        sentence: A sentence of a passage.
        claim: What the answer states.
        said: The content of the whole answer: stems with their rarity.
    """
    found = restrictions(sentence)
    stated = content(claim) if found else {}  # most sentences restrict nothing
    return tuple(one for one in found if _concerns(one, stated) and not _is_said(one, claim, said))


def _concerns(restriction: Restriction, claim: Mapping[str, float]) -> bool:
    if (
        restriction.kind in ("bound", "quantifier")
        and not content(restriction.text).keys() & claim.keys()
    ):
        return False
    held = content(restriction.clause)
    shared = sum(weight for stem, weight in claim.items() if stem in held)
    return shared >= _CONCERNED * sum(claim.values())


def _is_said(restriction: Restriction, claim: str, said: Mapping[str, float]) -> bool:
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
        return all(_is_among(stem, said) for stem in content(restriction.text))
    weights = content(restriction.text)
    met = sum(weight for stem, weight in weights.items() if _is_among(stem, said))
    return met > _SAID * sum(weights.values()) or not weights


def _is_among(stem: str, said: Mapping[str, float]) -> bool:
    """True for a stem that is said in full or abbreviated: "auth" says "authorization"."""
    if stem in said or any(stem[:at] in said for at in range(_SHORTEST, len(stem))):
        return True
    return len(stem) >= _SHORTEST and any(other.startswith(stem) for other in said)
