"""Names, sibling terms and scope words in which a claim departs from the sentences it leans on."""

from __future__ import annotations

from collections.abc import Iterator

from otel_rt4chart.verify.language.context import Context
from otel_rt4chart.verify.language.names import Name, missing_parts
from otel_rt4chart.verify.language.relations import siblings
from otel_rt4chart.verify.language.scope import has
from otel_rt4chart.verify.language.slots import Slots
from otel_rt4chart.verify.language.word_lists import DOUBTS
from otel_rt4chart.verify.local.alignment import Alignment, meeting, path
from otel_rt4chart.verify.local.differences import GAP, Difference


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


def scope_differences(claim: Slots, laid: Alignment, context: Context) -> Iterator[Difference]:
    """`all` for `some`, and `reduces` for `may reduce`."""
    if laid.sentences:
        yield from _universals(claim, laid, context)
        yield from _dropped_doubt(claim, laid, context)


def _dropped_doubt(claim: Slots, laid: Alignment, context: Context) -> Iterator[Difference]:
    sentence = context.sentences[laid.sentences[0]]
    if has(claim.scope, "hedge") or _is_firm_elsewhere(laid, context):
        return
    for doubt, token in enumerate(sentence.tokens):
        if token.norm not in DOUBTS or (token.text == "May" and doubt):
            continue
        place = next((place for place, at in enumerate(sentence.content) if at > doubt), None)
        for word, places in enumerate(laid.meets[0]):
            if place is not None and place in places:
                found = sentence.text[token.start : sentence.tokens[sentence.content[place]].end]
                claimed = claim.tokens[claim.content[word]].text
                yield Difference("quantifier", "clash", claimed, found, laid.sentences[0])


def _is_firm_elsewhere(laid: Alignment, context: Context) -> bool:
    """True where another sentence has all that the best one has of the claim, without a doubt."""
    held = [stems for stems, places in zip(laid.equivalents, laid.meets[0], strict=True) if places]
    return any(
        all(any(stem in other.positions for stem in stems) for stems in held)
        and not any(token.norm in DOUBTS for token in other.tokens)
        for other in context.sentences
    )


def _universals(claim: Slots, laid: Alignment, context: Context) -> Iterator[Difference]:
    """`all` where the best sentence says `some` or `only`."""
    if not has(claim.scope, "universal"):
        return
    sentence = context.sentences[laid.sentences[0]]
    narrower = [word for word in sentence.scope if word.kind in ("partial", "restriction")]
    if not narrower or has(sentence.scope, "universal"):
        return
    if any(word.kind in ("partial", "restriction") for word in claim.scope):
        return
    partial = narrower[0]
    universal = next(word for word in claim.scope if word.kind == "universal")
    yield Difference(
        "quantifier",
        "clash",
        claim.text[universal.start : universal.end],
        sentence.text[partial.start : partial.end],
        laid.sentences[0],
    )
