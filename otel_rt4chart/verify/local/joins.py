"""Words of a claim that the context has, but never together: spliced names, and lists of words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from otel_rt4chart.verify.language.names import Name
from otel_rt4chart.verify.language.slots import Slots
from otel_rt4chart.verify.local.comparison import ComparedClaim, StructuralDoubt, phrase

_MAX_SENTENCES = 400  # that hold both words of a pair; more are read as if one joined them
_MIN_PAIRS, _MIN_PARTS = 2, 3
_LIST_MARK = re.compile(r"[,;:|/•\n\t]|\.(?=\s|$)")


def spliced_name(comparison: ComparedClaim) -> StructuralDoubt | None:
    """`Anna Weber` where the context has Anna Schmidt and Maria Weber, and nobody of that name."""
    claim = comparison.claim
    for name in claim.names:
        # Longer names are written in too many ways: King Henry III, the Ukrainian SSR.
        if len(name.tokens) != 2 or name.tokens[1] != name.tokens[0] + 1:
            continue
        if all(claim.tokens[at].is_capital for at in name.tokens):
            doubt = _splice(comparison, *name.tokens)
            if doubt is not None:
                return doubt
    return None


def listed_words(comparison: ComparedClaim) -> StructuralDoubt | None:
    """A claim whose words stand one by one in a list, such as a glossary or an index.

    A list of single words says nothing of what they are joined to.
    """
    claim = comparison.claim
    pairs = [
        (word, word + 1)
        for word in range(len(claim.content) - 1)
        if comparison.equivalents[word] and comparison.equivalents[word + 1]
    ]
    if len(pairs) < _MIN_PAIRS:
        return None
    found = [_listed_apart(comparison, *pair) for pair in pairs]
    return found[0] if all(found) else None


def _splice(comparison: ComparedClaim, first: int, second: int) -> StructuralDoubt | None:
    """The doubt where both parts of a name stand in other names only, never side by side."""
    claim = comparison.claim
    stems = claim.tokens[first].stem, claim.tokens[second].stem
    shared = set(comparison.context.holders.get(stems[0], ())) & set(
        comparison.context.holders.get(stems[1], ())
    )
    if len(shared) > _MAX_SENTENCES or any(
        stems[1] in {sentence.tokens[at].stem for at in name.tokens}
        for sentence in map(comparison.sentence, shared)
        for name in _names_with(sentence, stems[0])
    ):
        return None
    held = [_other_name(comparison, stem) for stem in stems]
    if held[0] is None or held[1] is None:
        return None
    at, found = held[0]
    return StructuralDoubt("name", phrase(claim, first, second), found, at)


def _other_name(comparison: ComparedClaim, stem: str) -> tuple[int, str] | None:
    """A name of two words or more with this one, and its sentence; None where it stands alone.

    Where it stands alone anywhere, it may be short for a name that the claim writes in full.
    """
    found: tuple[int, str] | None = None
    for at in comparison.context.holders.get(stem, ())[:_MAX_SENTENCES]:
        sentence = comparison.sentence(at)
        for name in _names_with(sentence, stem):
            if len(name.tokens) < 2:
                return None
            found = found or (at, sentence.text[name.start : name.end])
    return found


def _names_with(slots: Slots, stem: str) -> Iterator[Name]:
    return (
        name for name in slots.names if any(slots.tokens[at].stem == stem for at in name.tokens)
    )


def _listed_apart(comparison: ComparedClaim, first: int, second: int) -> StructuralDoubt | None:
    """The doubt where every sentence with both words lists them one by one."""
    holders = comparison.context.holders
    left, right = (
        {at for stem in comparison.equivalents[word] for at in holders[stem]}
        for word in (first, second)
    )
    shared = sorted(left & right)
    if not shared or len(shared) > _MAX_SENTENCES:
        return None
    listed = [_listed_word(comparison, at, first, second) for at in shared]
    if not all(listed):
        return None
    claim = comparison.claim
    claimed = phrase(claim, claim.content[first], claim.content[second])
    return StructuralDoubt("list", claimed, listed[0], shared[0])


def _listed_word(comparison: ComparedClaim, at: int, first: int, second: int) -> str:
    """The first word where the sentence lists both as parts of one word each; else ""."""
    sentence = comparison.sentence(at)
    tokens = [sentence.tokens[one] for one in sentence.content]
    parts: list[list[int]] = [[0]]
    for place, (before, after) in enumerate(pairwise(tokens), 1):
        if _LIST_MARK.search(sentence.text, before.end, after.start):
            parts.append([])
        parts[-1].append(place)
    ones, others = (
        {p for stem in comparison.equivalents[word] for p in sentence.positions.get(stem, ())}
        for word in (first, second)
    )
    parts[0] = parts[0][-1:]  # an index may begin with its title
    held = [part for part in parts if (ones | others).intersection(part)]
    if len(parts) < _MIN_PARTS or any(len(part) > 1 for part in held):
        return ""
    word = sentence.content[min(ones)]
    return phrase(sentence, word, word)
