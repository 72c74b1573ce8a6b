"""A model's verdict as a judgement: what it names must exist, what it quotes must stand there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from otel_rt4chart.core.errors import JudgeError
from otel_rt4chart.verify.core.model import Clash, DraftClaim, Judgement, Label, Sentence, Slot
from otel_rt4chart.verify.language.slots import read_slots


def judgement_from(value: object, claim: DraftClaim, sentences: Sequence[Sentence]) -> Judgement:
    """The verdict on one claim; a failure, or what is no verdict, is undecided."""
    if not claim.is_claim:
        return Judgement(Label.NOT_A_CLAIM, confidence=1.0, reason="states nothing to check")
    if not isinstance(value, dict) or "label" not in value:
        reason = str(value) if isinstance(value, JudgeError) else "no verdict"
        return Judgement(Label.UNDECIDED, reason=reason)
    named = [sentences[number - 1] for number in value["sentences"]]
    clashes = _clashes(value, claim, named)
    return Judgement(
        Label(value["label"]),
        tuple(sentence.index for sentence in named),
        confidence=1.0,
        reason=_reason(clashes),
        clashes=clashes,
    )


def agree(ballots: Sequence[Judgement]) -> bool:
    """True where one label has every vote that was cast."""
    return len({ballot.label for ballot in ballots}) < 2


def elected(ballots: Sequence[Judgement]) -> Judgement:
    """The first judgement with the majority's label; its confidence is the majority's share.

    Votes that could not be cast do not count; without a majority the claim is undecided.
    """
    cast = [ballot for ballot in ballots if ballot.label is not Label.UNDECIDED]
    if not cast:
        return ballots[0]
    (label, count), *_ = Counter(ballot.label for ballot in cast).most_common()
    if 2 * count <= len(cast):
        told = ", ".join(ballot.label for ballot in cast)
        return Judgement(Label.UNDECIDED, reason=f"votes without a majority: {told}")
    winner = next(ballot for ballot in cast if ballot.label is label)
    return replace(winner, confidence=count / len(cast)) if len(cast) > 1 else winner


def _clashes(
    value: dict[str, object], claim: DraftClaim, named: Sequence[Sentence]
) -> tuple[Clash, ...]:
    """The clashing words, where the claim and the evidence really have them."""
    claimed, found = str(value.get("claimed") or ""), str(value.get("found") or "")
    if value["label"] == Label.ENTAILED or not _stands(claimed, claim.text):
        return ()
    is_found = any(_stands(found, sentence.reading) for sentence in named)
    return (Clash(_slot(claimed), claimed.strip(), found.strip() if is_found else ""),)


def _stands(words: str, text: str) -> bool:
    return bool(words.strip()) and _plain(words) in _plain(text)


def _plain(text: str) -> str:
    return " ".join(text.casefold().split()).strip(" .,;:!?\"'“”")


def _slot(words: str) -> Slot:
    """What kind of value the words are."""
    slots = read_slots(words)
    if slots.moments:
        return "date"
    if slots.quantities:
        return "number"
    if slots.denials or words.strip().lower() in ("not", "no", "never"):
        return "negation"
    if any(one.kind in ("universal", "partial") for one in slots.scope):
        return "quantifier"
    if slots.scope:
        return "qualifier"
    return "name" if words[:1].isupper() else "term"


def _reason(clashes: Sequence[Clash]) -> str:
    return "; ".join(
        f"“{one.claimed}” in the answer, “{one.found}” in the passage"
        if one.found
        else f"not in the passages: “{one.claimed}”"
        for one in clashes
    )
