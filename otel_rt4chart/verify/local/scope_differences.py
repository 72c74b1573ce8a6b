"""Where a claim says more, or more surely, than the sentence it leans on most."""

from __future__ import annotations

from collections.abc import Iterator

from otel_rt4chart.verify.local.align import Alignment
from otel_rt4chart.verify.local.context import Context
from otel_rt4chart.verify.local.differences import Difference
from otel_rt4chart.verify.local.scope import has
from otel_rt4chart.verify.local.slots import Slots

# Words that leave it open whether the next word holds; "plans" and "wants" are told in other words.
_DOUBTS = frozenset(("may", "might", "could", "possibly", "perhaps", "probably", "likely",
                     "potentially", "allegedly", "reportedly"))  # fmt: skip


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
        if token.norm not in _DOUBTS or (token.text == "May" and doubt):
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
        and not any(token.norm in _DOUBTS for token in other.tokens)
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
