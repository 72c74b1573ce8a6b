"""A claim beside the sentences that hold the most of it, and a doubt that rests on two phrases."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from otel_rt4chart.verify.decompose.coordination import base_forms, verbs
from otel_rt4chart.verify.language.slots import ContextIndex, Slots
from otel_rt4chart.verify.local.alignment import Alignment, matching_positions

_NEARLY, _PARTLY = 0.9, 0.3  # of what the best sentence holds of the claim
_MAX_NEAR, _MAX_OTHERS = 8, 6
BE = frozenset(("is", "are", "was", "were", "be", "been", "being", "gets", "got"))
Matches = tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class StructuralDoubt:
    """A structure that no judge in this process reads surely, and the two phrases that show it.

    `found` is in the sentence at that position in the context, `claimed` is in the claim.
    """

    claimed: str
    found: str
    sentence: int


@dataclass(frozen=True, slots=True)
class ComparedClaim:
    """A claim and its sentences: `near` hold nearly the most of it, `others` a part; best first.

    `matches` has, for each of these and each content word of the claim, the positions of its
    matches in the sentence's content words. Nothing here depends on the order of the passages.
    """

    claim: Slots
    context: ContextIndex
    equivalents: tuple[tuple[str, ...], ...]
    weights: tuple[float, ...]
    near: tuple[int, ...]
    others: tuple[int, ...]
    matches: dict[int, Matches]

    def sentence(self, at: int) -> Slots:
        """The sentence at that position in the context."""
        return self.context.sentences[at]

    def share(self, at: int, words: Iterable[int]) -> float:
        """The weight of those of the words that this sentence has."""
        return sum(self.weights[word] for word in words if self.matches[at][word])


def compare(claim: Slots, alignment: Alignment, context: ContextIndex) -> ComparedClaim:
    """The claim beside its nearest sentences."""
    held: dict[int, float] = {}
    for stems, weight in zip(alignment.equivalents, alignment.weights, strict=True):
        for at in {at for stem in stems for at in context.holders[stem]}:
            held[at] = held.get(at, 0.0) + weight
    best = max(held.values(), default=0.0)
    parts = [at for at, weight in held.items() if weight >= _PARTLY * best]
    # By text where two hold the same, so that the passages' order does not matter.
    ranked = sorted(parts, key=lambda at: (-round(held[at], 9), context.sentences[at].text))
    near = tuple(at for at in ranked if held[at] >= _NEARLY * best)[:_MAX_NEAR]
    others = tuple(at for at in ranked if at not in near)[:_MAX_OTHERS]
    matches = {
        at: matching_positions(alignment.equivalents, context.sentences[at])
        for at in (*near, *others)
    }
    return ComparedClaim(
        claim, context, alignment.equivalents, alignment.weights, near, others, matches
    )


def in_all_near(
    comparison: ComparedClaim, find: Callable[[ComparedClaim, int], StructuralDoubt | None]
) -> StructuralDoubt | None:
    """The doubt of the best sentence, where no near one is without a doubt of that kind."""
    found = [find(comparison, at) for at in comparison.near]
    return found[0] if found and all(found) else None


def phrase(slots: Slots, first: int, last: int) -> str:
    """The text from one token to another one, in either order."""
    first, last = min(first, last), max(first, last)
    return slots.text[slots.tokens[first].start : slots.tokens[last].end]


def stems_at(slots: Slots, positions: Iterable[int]) -> frozenset[str]:
    """The stems at these positions in the content words."""
    return frozenset(slots.tokens[slots.content[one]].stem for one in positions)


def is_verb(slots: Slots, at: int) -> bool:
    """True for a token in lower case that may be a form of a verb."""
    token = slots.tokens[at]
    return not token.is_capital and (token.norm in verbs() or token.norm in base_forms())


_PREPOSITIONS = frozenset(("for", "of", "during", "in", "on", "by", "with", "without", "per"))


def is_behind_preposition(slots: Slots, word: int) -> bool:
    """True for a content word that is a noun for sure: the stays of `for stays of 90 days`."""
    at = slots.content[word]
    return at > 0 and slots.tokens[at - 1].norm in _PREPOSITIONS
