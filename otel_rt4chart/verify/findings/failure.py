"""What kind of failure an unfaithful claim is, and which claims go beyond their passages."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from otel_rt4chart.verify.core.model import Claim, Clash, Finding, Label, Slot
from otel_rt4chart.verify.findings.premise import premise_of
from otel_rt4chart.verify.findings.qualifiers import unsaid
from otel_rt4chart.verify.findings.restrictions import restrictions
from otel_rt4chart.verify.findings.sycophancy import restates
from otel_rt4chart.verify.language.context import read_context
from otel_rt4chart.verify.language.negation import are_opposite
from otel_rt4chart.verify.language.scope import scope_words
from otel_rt4chart.verify.language.slots import read_slots
from otel_rt4chart.verify.language.tokens import content, tokenize
from otel_rt4chart.verify.local.features import read_claim
from otel_rt4chart.verify.text.citations import citations

# A baseless claim is on topic where a sentence holds this share of its content.
ON_TOPIC, OFF_TOPIC = 0.5, 0.2
_BY_SLOT: Mapping[Slot, str] = {
    "negation": "negation_flip",
    "date": "temporal_shift",
    "number": "numeric_slip",
    "name": "entity_swap",
    "qualifier": "dropped_qualifier",
}
_GENERAL = re.compile(
    r"\b(?:common(?:ly)?|typical(?:ly)?|usual(?:ly)?|general(?:ly)?|wide(?:ly|spread)|popular"
    r"|well[- ]known|famous)\b",
    re.IGNORECASE,
)
_CLAUSES = re.compile(r"[;:\n]|[.!?,]\s")
# A hedged clause speaks of the claim where it holds this share of the claim's content.
_SPOKEN_OF = 0.3
_NO_HEDGE = frozenset({"will", "can", "want", "wants", "wanted"})
_TENSE = re.compile(r"\b(?:will|would|going\s+to|plans?|expected|since|until)\b", re.IGNORECASE)


def overreaching(claims: Sequence[Claim], scores: Mapping[int, float]) -> Iterator[Finding]:
    """Baseless claims that are on topic: linked to the passages, and not entailed by them."""
    for number, claim in enumerate(claims):
        if claim.label is Label.BASELESS and scores.get(number, 0.0) >= ON_TOPIC:
            yield Finding(
                "overreach",
                "the passages are on its topic and do not say it",
                claim=number,
                value=scores[number],
            )


def failure_kinds(
    claims: Sequence[Claim], scores: Mapping[int, float], question: str
) -> Iterator[Finding]:
    """One kind for each unfaithful claim; `question` is given where the answer is sycophantic."""
    for number, claim in enumerate(claims):
        if claim.label.is_unfaithful:
            kind = failure_kind(claim, scores.get(number, 0.0), premise_of(question) or "")
            yield Finding("failure_kind", kind.replace("_", " "), kind=kind, claim=number)


def failure_kind(claim: Claim, score: float, premise: str) -> str:
    """The most telling reason first: what was restated, then what clashes, then what is lacking."""
    if premise and restates(claim.text, premise):
        return "sycophantic_restatement"
    against = " ".join(one.text for one in claim.evidence) or claim.nearest
    if claim.label is Label.CONTRADICTED:
        return _contradicted(claim, against)
    if citations(claim.text) and score < OFF_TOPIC:
        return "bad_citation"
    return _baseless(claim, against, score)


def _contradicted(claim: Claim, against: str) -> str:
    excluded = any(one.kind == "exclusion" for one in restrictions(against))
    clashes = claim.clashes or _clashes_with(claim.text, against)
    slots = [clash.slot for clash in clashes]
    if excluded and not restrictions(claim.text) and "number" not in slots:
        return "cherry_picked_exclusion"
    for clash in clashes:
        if clash.slot in _BY_SLOT:
            return _BY_SLOT[clash.slot]
    if any(_is_opposite(clash) for clash in clashes):
        return "negation_flip"
    if _is_hedged(claim.text, against):
        return "inference_as_fact"
    if "quantifier" in slots:
        return "unsupported_generalisation"
    if _drops(claim.text, against):
        return "dropped_qualifier"
    if bool(_TENSE.search(claim.text)) != bool(_TENSE.search(against)):
        return "temporal_shift"
    return "other"


def _clashes_with(claim: str, against: str) -> tuple[Clash, ...]:
    """What the rules find where a judge named no clashing values."""
    reading = read_claim(read_slots(claim), read_context([against]))
    return tuple(
        Clash(one.slot, one.claimed, one.found)
        for one in reading.differences
        if one.manner in ("clash", "opposite")
    )


def _is_opposite(clash: Clash) -> bool:
    """True for words such as "mandatory" and "voluntary"."""
    claimed, found = ([token.stem for token in tokenize(t)] for t in (clash.claimed, clash.found))
    return clash.slot == "term" and any(
        are_opposite(mine, theirs) for mine in claimed for theirs in found
    )


def _baseless(claim: Claim, nearest: str, score: float) -> str:
    if claim.reason == "unlinked":
        return "prior_knowledge"
    if slip := _slip(claim, nearest):
        return slip
    if score < OFF_TOPIC:
        return "prior_knowledge"
    if _is_hedged(claim.text, nearest):
        return "inference_as_fact"
    if _generalises(claim.text) and not _generalises(nearest):
        return "unsupported_generalisation"
    for clash in claim.clashes:
        if clash.slot in _BY_SLOT and clash.slot != "qualifier":
            return _BY_SLOT[clash.slot]
    if _drops(claim.text, nearest):
        return "dropped_qualifier"
    return "overreach" if score >= ON_TOPIC else "other"


def _slip(claim: Claim, nearest: str) -> str:
    """What a missing value is where the nearest sentence has another one of its kind."""
    valued = [clash.slot for clash in claim.clashes if clash.slot in ("number", "date")]
    if not valued:
        return ""
    held = read_slots(nearest)
    found = {"number": held.quantities, "date": held.moments}
    return next((_BY_SLOT[slot] for slot in valued if found[slot]), "")


def _drops(claim: str, against: str) -> bool:
    return bool(unsaid(against, claim, content(claim)))


def _is_hedged(claim: str, against: str) -> bool:
    """True where a clause that speaks of the claim is tentative and the claim is not."""
    if _hedged(claim):
        return False
    stated = content(claim)
    return any(
        sum(stated[stem] for stem in content(clause) if stem in stated)
        >= _SPOKEN_OF * sum(stated.values())
        for clause in _CLAUSES.split(against)
        if _hedged(clause)
    )


def _hedged(text: str) -> bool:
    return any(one.kind == "hedge" and one.norm not in _NO_HEDGE for one in scope_words(text))


def _generalises(text: str) -> bool:
    universal = any(one.kind == "universal" and one.norm != "must" for one in scope_words(text))
    return universal or _GENERAL.search(text) is not None
