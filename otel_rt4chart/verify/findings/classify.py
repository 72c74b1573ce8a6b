"""Failure kinds of unfaithful claims, and the claims that overreach."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from otel_rt4chart.verify.core.model import Claim, Clash, Finding, Label, Slot
from otel_rt4chart.verify.findings.dropped_qualifiers import unsaid
from otel_rt4chart.verify.findings.failure_kinds import (
    KIND_OF_SLOT,
    FailureKind,
    FindingName,
    kind_of_clash,
    kind_of_opposite,
)
from otel_rt4chart.verify.findings.premise import premise_of
from otel_rt4chart.verify.findings.restrictions import restrictions
from otel_rt4chart.verify.findings.sycophancy import restates
from otel_rt4chart.verify.language.context import read_context
from otel_rt4chart.verify.language.negation import are_opposite
from otel_rt4chart.verify.language.scope import scope_words
from otel_rt4chart.verify.language.slots import read_slots
from otel_rt4chart.verify.language.tokens import content, tokenize
from otel_rt4chart.verify.language.word_lists import FIRM_HEDGES, FUTURE_OR_DURATION, GENERALITIES
from otel_rt4chart.verify.local.features import read_claim
from otel_rt4chart.verify.text.citations import citations

# A baseless claim is on topic if a sentence has this share of its content.
ON_TOPIC, OFF_TOPIC = 0.5, 0.2
# Clashes of these slots name the kind by themselves; those of the others need a look at the text.
_TELLING_SLOTS: frozenset[Slot] = frozenset(("number", "date", "name", "negation"))
_GENERAL = re.compile(rf"\b(?:{GENERALITIES})\b", re.IGNORECASE)
_TENSE = re.compile(rf"\b(?:{FUTURE_OR_DURATION})\b", re.IGNORECASE)
_CLAUSES = re.compile(r"[;:\n]|[.!?,]\s")
# A hedged clause is about the claim if it has this share of the claim's content.
_ABOUT = 0.3


def overreaching(claims: Sequence[Claim], scores: Mapping[int, float]) -> Iterator[Finding]:
    """Baseless claims on the topic of the passages: linked to them but not entailed."""
    for number, claim in enumerate(claims):
        if claim.label is Label.BASELESS and scores.get(number, 0.0) >= ON_TOPIC:
            yield Finding(
                FindingName.OVERREACH,
                FailureKind.OVERREACH.description,
                claim=number,
                value=scores[number],
            )


def failure_kinds(
    claims: Sequence[Claim], scores: Mapping[int, float], question: str
) -> Iterator[Finding]:
    """One kind for each unfaithful claim; pass `question` only for a sycophantic answer."""
    for number, claim in enumerate(claims):
        if claim.label.is_unfaithful:
            kind = failure_kind(claim, scores.get(number, 0.0), premise_of(question) or "")
            yield Finding(
                FindingName.FAILURE_KIND,
                kind.label(claim.label),
                kind=kind.finding_id,
                claim=number,
            )


def failure_kind(claim: Claim, score: float, premise: str) -> FailureKind:
    """The first reason that applies: a restated premise, then a clash, then missing support."""
    if premise and restates(claim.text, premise):
        return FailureKind.ECHO
    against = " ".join(one.text for one in claim.evidence) or claim.nearest
    if claim.label is Label.CONTRADICTED:
        return _contradicted(claim, against)
    if citations(claim.text) and score < OFF_TOPIC:
        return FailureKind.BAD_CITATION
    return _baseless(claim, against, score)


def _contradicted(claim: Claim, against: str) -> FailureKind:
    excluded = any(one.kind == "exclusion" for one in restrictions(against))
    clashes = claim.clashes or _clashes_with(claim.text, against)
    slots = [clash.slot for clash in clashes]
    if excluded and not restrictions(claim.text) and "number" not in slots:
        return FailureKind.EXCLUSION
    for clash in clashes:
        if clash.slot in _TELLING_SLOTS or clash.slot == "qualifier":
            return kind_of_clash(clash)
    opposite = next(filter(None, map(_opposite_kind, clashes)), None)
    if opposite is not None:
        return opposite
    if _is_overconfident(claim.text, against):
        return FailureKind.HEDGE
    if "quantifier" in slots:
        return FailureKind.SCOPE
    if _drops_restriction(claim.text, against):
        return FailureKind.QUALIFIER
    if bool(_TENSE.search(claim.text)) != bool(_TENSE.search(against)):
        return FailureKind.DATE
    return FailureKind.OTHER


def _clashes_with(claim: str, against: str) -> tuple[Clash, ...]:
    """The clashes that the rules find, for a judge that named none."""
    reading = read_claim(read_slots(claim), read_context([against]))
    return tuple(
        Clash(one.slot, one.claimed, one.found)
        for one in reading.differences
        if one.manner in ("clash", "opposite")
    )


def _opposite_kind(clash: Clash) -> FailureKind | None:
    """The kind of a clash between opposites such as "mandatory" and "voluntary"."""
    if clash.slot != "term":
        return None
    claimed, found = ([token.stem for token in tokenize(t)] for t in (clash.claimed, clash.found))
    opposed = (mine for mine in claimed if any(are_opposite(mine, theirs) for theirs in found))
    return next(map(kind_of_opposite, opposed), None)


def _baseless(claim: Claim, nearest: str, score: float) -> FailureKind:
    if claim.reason == "unlinked":
        return FailureKind.PRIOR_KNOWLEDGE
    replaced = _replaced_value(claim, nearest)
    if replaced is not None:
        return replaced
    if score < OFF_TOPIC:
        return FailureKind.PRIOR_KNOWLEDGE
    if _is_overconfident(claim.text, nearest):
        return FailureKind.HEDGE
    if _generalises(claim.text) and not _generalises(nearest):
        return FailureKind.SCOPE
    for clash in claim.clashes:
        if clash.slot in _TELLING_SLOTS:
            return kind_of_clash(clash)
    if _drops_restriction(claim.text, nearest):
        return FailureKind.QUALIFIER
    return FailureKind.OVERREACH if score >= ON_TOPIC else FailureKind.OTHER


def _replaced_value(claim: Claim, nearest: str) -> FailureKind | None:
    """The kind of a missing number or date if the nearest sentence has another one."""
    missing = [clash.slot for clash in claim.clashes if clash.slot in ("number", "date")]
    if not missing:
        return None
    held = read_slots(nearest)
    found = {"number": held.quantities, "date": held.moments}
    return next((KIND_OF_SLOT[slot] for slot in missing if found[slot]), None)


def _drops_restriction(claim: str, against: str) -> bool:
    return bool(unsaid(against, claim, content(claim)))


def _is_overconfident(claim: str, against: str) -> bool:
    """True if a clause about the claim is hedged and the claim is not."""
    if _is_hedged(claim):
        return False
    stated = content(claim)
    return any(
        sum(stated[stem] for stem in content(clause) if stem in stated)
        >= _ABOUT * sum(stated.values())
        for clause in _CLAUSES.split(against)
        if _is_hedged(clause)
    )


def _is_hedged(text: str) -> bool:
    return any(one.kind == "hedge" and one.norm not in FIRM_HEDGES for one in scope_words(text))


def _generalises(text: str) -> bool:
    universal = any(one.kind == "universal" and one.norm != "must" for one in scope_words(text))
    return universal or _GENERAL.search(text) is not None
