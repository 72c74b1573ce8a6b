"""What of a claim may follow from the passages, though other words or numbers stand there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from otel_rt4chart.verify.core.model import Slot
from otel_rt4chart.verify.language.slots import ContextIndex, Slots
from otel_rt4chart.verify.local.alignment import Alignment
from otel_rt4chart.verify.local.arithmetic import Source, source_of_moment, source_of_quantity
from otel_rt4chart.verify.local.bindings import rightly_bound
from otel_rt4chart.verify.local.comparison import ComparedClaim, compare
from otel_rt4chart.verify.local.differences import SlotDifference, is_part, quantity_text
from otel_rt4chart.verify.local.function_words import same_order
from otel_rt4chart.verify.local.roles import is_converse
from otel_rt4chart.verify.local.scope import same_price

_DIFFERS = ("clash", "missing", "elsewhere", "swapped", "opposite", "sibling")


def settle_implied(
    claim: Slots,
    alignment: Alignment,
    context: ContextIndex,
    differences: Sequence[SlotDifference],
) -> tuple[SlotDifference, ...]:
    """The differences, without those in values and words that may follow from the passages.

    For each of these there is one of the manner `implied` instead.
    """
    if not alignment.sentences:
        return tuple(differences)
    comparison = compare(claim, alignment, context)
    found = [
        *_implied_values(comparison, alignment, differences),
        *_implied_terms(comparison, differences),
    ]
    return (*(one for one in differences if not _is_settled(one, found)), *found)


def _is_settled(one: SlotDifference, found: Sequence[SlotDifference]) -> bool:
    return any(
        one.manner in _DIFFERS
        and one.slot in (other.slot, "term")
        and is_part(one.claimed, other.claimed)
        for other in found
    )


def _implied_values(
    comparison: ComparedClaim, alignment: Alignment, differences: Sequence[SlotDifference]
) -> Iterator[SlotDifference]:
    claim, sentences = comparison.claim, comparison.context.sentences
    told = [(at, sentences[at]) for at in alignment.sentences]
    best = alignment.sentences[0]
    before = sentences[best - 1] if best else None
    open_ones = {one.claimed for one in differences if one.slot in ("number", "date")}
    for quantity in claim.quantities:
        if quantity_text(claim, quantity) in open_ones:
            source = source_of_quantity(claim, quantity, told, before)
            if source is not None:
                end = max(quantity.unit_end, quantity.period_end)
                yield _implied("number", claim.text[quantity.start : end], source)
    for moment in claim.moments:
        if claim.text[moment.start : moment.end] in open_ones:
            source = source_of_moment(claim, moment, told, before)
            if source is not None:
                yield _implied("date", claim.text[moment.start : moment.end], source)
    for value, words, at in rightly_bound(comparison):
        yield _implied("number", value, Source(at, words))


def _implied_terms(
    comparison: ComparedClaim, differences: Sequence[SlotDifference]
) -> Iterator[SlotDifference]:
    for one in differences:
        if one.manner == "opposite" and is_converse(
            comparison, one.claimed, one.found, one.sentence
        ):
            yield _implied("term", one.claimed, Source(one.sentence, one.found))
    for at in comparison.near:
        claimed, found = same_price(comparison, at)
        if claimed:
            yield _implied("term", claimed, Source(at, found))
        for word in same_order(comparison, at):
            yield _implied("term", word, Source(at, comparison.sentence(at).text))


def _implied(slot: Slot, claimed: str, source: Source) -> SlotDifference:
    words = source.words.strip()
    return SlotDifference(slot, source.manner, claimed.strip(), words, source.sentence)
