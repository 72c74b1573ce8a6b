"""Words of a claim that the context lacks, where it has another of their kind."""

from __future__ import annotations

from collections.abc import Iterator

from otel_rt4chart.verify.local.align import Alignment, meeting
from otel_rt4chart.verify.local.context import Context
from otel_rt4chart.verify.local.differences import GAP, Difference
from otel_rt4chart.verify.local.relations import siblings
from otel_rt4chart.verify.local.slots import Slots

_LOOKED_AT = 20  # sentences that hold the other word


def sibling_differences(claim: Slots, laid: Alignment, context: Context) -> Iterator[Difference]:
    """`guitar` where a sentence, be it one the claim does not lean on, says `piano`.

    Only beside a word that both texts have.
    """
    for word, at in enumerate(claim.content):
        if laid.equivalents[word] or claim.tokens[at].is_capital:
            continue
        found = _sibling(claim, laid, context, word)
        if found is not None:
            yield found


def _sibling(claim: Slots, laid: Alignment, context: Context, word: int) -> Difference | None:
    token = claim.tokens[claim.content[word]]
    for sibling in sorted(siblings(token.stem) - claim.positions.keys()):
        for which in context.holders.get(sibling, ())[:_LOOKED_AT]:
            sentence = context.sentences[which]
            place = _place(claim, laid, sentence, word, sibling)
            if place is not None:
                other = sentence.tokens[sentence.content[place]]
                return Difference("term", "sibling", token.text, other.text, which)
    return None


def _place(claim: Slots, laid: Alignment, sentence: Slots, word: int, stem: str) -> int | None:
    """Where the stem stands beside a word that stands beside the claim's word too."""
    beside = range(max(0, word - 2), min(len(claim.content), word + 3))
    shared = [
        place
        for other, places in zip(
            beside, meeting([laid.equivalents[one] for one in beside], sentence), strict=True
        )
        if other != word
        for place in places
    ]
    return next(
        (
            place
            for place in sentence.positions[stem]
            if any(abs(place - one) <= GAP for one in shared)
        ),
        None,
    )
