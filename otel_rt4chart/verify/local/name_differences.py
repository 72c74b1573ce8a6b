"""Names of a claim that its sentences do not have, and the name that stands in their place."""

from __future__ import annotations

from collections.abc import Iterator

from otel_rt4chart.verify.local.align import Alignment, path
from otel_rt4chart.verify.local.context import Context
from otel_rt4chart.verify.local.differences import Difference
from otel_rt4chart.verify.local.names import Name, missing_parts
from otel_rt4chart.verify.local.slots import Slots


def name_differences(claim: Slots, laid: Alignment, context: Context) -> Iterator[Difference]:
    """Names that the context does not know, in whole or in part, or has elsewhere only."""
    for name in claim.names:
        lost = missing_parts(name, claim.tokens, context.holders, context.initials)
        lost = tuple(at for at in lost if not _is_met(claim, laid, at))
        if not lost:
            continue
        share = len(lost) / len(name.tokens)
        first, last = claim.tokens[lost[0]], claim.tokens[lost[-1]]
        written = claim.text[first.start : last.end]
        yield Difference("name", "missing", written, weight=share)
        yield from _rival(claim, name, lost, written, laid, context)


def _is_met(claim: Slots, laid: Alignment, at: int) -> bool:
    return at in claim.content and bool(laid.equivalents[claim.content.index(at)])


def _rival(
    claim: Slots,
    name: Name,
    lost: tuple[int, ...],
    written: str,
    laid: Alignment,
    context: Context,
) -> Iterator[Difference]:
    """The other name: of the most alike run (`Space Shuttle …`), else beside the same neighbour."""
    known = {claim.tokens[at].stem for at in name.tokens if at not in lost}
    best: tuple[int, int, str] | None = None
    for which, at in enumerate(laid.sentences):
        sentence = context.sentences[at]
        for other in sentence.names:
            strange = [
                part for part in other.tokens if sentence.tokens[part].stem not in claim.positions
            ]
            shared = len(known & {sentence.tokens[part].stem for part in other.tokens})
            if strange and (shared or _same_neighbour(claim, lost, laid, which, sentence, other)):
                start = sentence.tokens[strange[0]].start
                found = sentence.text[start : sentence.tokens[strange[-1]].end]
                if best is None or shared > best[0]:
                    best = (shared, at, found)
    if best is not None:
        yield Difference("name", "clash", written, best[2], best[1])


def _same_neighbour(
    claim: Slots, lost: tuple[int, ...], laid: Alignment, which: int, sentence: Slots, other: Name
) -> bool:
    places = path(laid.meets[which])
    before = [word for word, at in enumerate(claim.content) if at < lost[0]]
    after = [word for word, at in enumerate(claim.content) if at > lost[-1]]
    inside = [place for place, at in enumerate(sentence.content) if at in other.tokens]
    if not inside:
        return False
    left = places[before[-1]] if before else None
    right = places[after[0]] if after else None
    return (left is not None and left == inside[0] - 1) or (
        right is not None and right == inside[-1] + 1
    )
