"""What kind of failure an unfaithful claim is, and which claims go beyond their passages."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from otel_rt4chart.verify.citation import citations
from otel_rt4chart.verify.findings.qualifiers import restrictions
from otel_rt4chart.verify.findings.sycophancy import premise_of, restates
from otel_rt4chart.verify.local.scope import scope_words
from otel_rt4chart.verify.local.slots import read_slots
from otel_rt4chart.verify.model import Claim, Finding, Label, Slot

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
    slots = [clash.slot for clash in claim.clashes]
    if excluded and not restrictions(claim.text) and "number" not in slots:
        return "cherry_picked_exclusion"
    for slot in slots:
        if slot in _BY_SLOT:
            return _BY_SLOT[slot]
    if _hedged(against) and not _hedged(claim.text):
        return "inference_as_fact"
    if "quantifier" in slots:
        return "unsupported_generalisation"
    if bool(_TENSE.search(claim.text)) != bool(_TENSE.search(against)):
        return "temporal_shift"
    return "other"


def _baseless(claim: Claim, nearest: str, score: float) -> str:
    if claim.reason == "unlinked":
        return "prior_knowledge"
    for clash in claim.clashes:
        if clash.slot in ("number", "date") and read_slots(nearest).quantities:
            return _BY_SLOT[clash.slot]
    if score < OFF_TOPIC:
        return "prior_knowledge"
    if _hedged(nearest) and not _hedged(claim.text):
        return "inference_as_fact"
    if _generalises(claim.text) and not _generalises(nearest):
        return "unsupported_generalisation"
    for clash in claim.clashes:
        if clash.slot in _BY_SLOT and clash.slot != "qualifier":
            return _BY_SLOT[clash.slot]
    if restrictions(nearest) and not restrictions(claim.text):
        return "dropped_qualifier"
    return "overreach" if score >= ON_TOPIC else "other"


def _hedged(text: str) -> bool:
    return any(one.kind == "hedge" and one.norm != "will" for one in scope_words(text))


def _generalises(text: str) -> bool:
    universal = any(one.kind == "universal" and one.norm != "must" for one in scope_words(text))
    return universal or _GENERAL.search(text) is not None
