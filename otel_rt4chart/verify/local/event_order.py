"""Two events in their order: `first A, then B`, `A before B`, `B after A`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from otel_rt4chart.verify.language.slots import Slots
from otel_rt4chart.verify.local.comparison import ComparedClaim, StructuralDoubt, in_all_near

# What orders two events, and whether the first of them stands behind the word.
_BEFORE, _AFTER, _THEN = ("before",), ("after", "once"), ("then", "afterwards", "subsequently")
_ORDER_WORDS = frozenset((*_BEFORE, *_AFTER, *_THEN, "first", "afterwards"))


class _Events(NamedTuple):
    """The content words, by position, of two events in the order in which they happen."""

    first: frozenset[int]
    second: frozenset[int]


def _events(slots: Slots) -> _Events | None:
    """The two events that a word of order joins; None without one, or where it joins no events."""
    if slots.denials or any(token.norm in ("if", "unless") for token in slots.tokens):
        return None
    for at, token in enumerate(slots.tokens):
        if token.norm not in (*_BEFORE, *_AFTER, *_THEN) or (token.norm in _THEN and not at):
            continue
        end = next(
            (one for one in range(at + 2, len(slots.tokens)) if slots.tokens[one].starts_clause),
            len(slots.tokens),
        )
        behind = _places(slots, range(at + 1, end if at == 0 else len(slots.tokens)))
        other = _places(slots, range(end, len(slots.tokens)) if at == 0 else range(at))
        if not behind or not other:
            return None
        return _Events(behind, other) if token.norm in _AFTER else _Events(other, behind)
    return None


def _places(slots: Slots, tokens: range) -> frozenset[int]:
    places = slots.content_places
    return frozenset(places[at] for at in tokens if at in places and at not in slots.measures)


class _Votes(NamedTuple):
    """The weight of the words of each event that stand in the same one, and in the other one."""

    same: tuple[float, float]
    other: tuple[float, float]

    @property
    def is_same(self) -> bool:
        """True where no word stands in the other event."""
        return any(self.same) and not any(self.other)

    @property
    def is_reversed(self) -> bool:
        """True where words of both events stand in the other one, or all of them do.

        Of "first remove the lid, then the tray", the verb belongs to both events.
        """
        is_crossed = all(self.other) and not all(self.same)
        return is_crossed or (any(self.other) and not any(self.same))


def _order_votes(comparison: ComparedClaim, at: int) -> _Votes | None:
    own, theirs = _events(comparison.claim), _events(comparison.sentence(at))
    if own is None or theirs is None:
        return None
    votes: list[tuple[float, float]] = []
    for mine, others, theirs_other in ((own.first, theirs.first, theirs.second),
                                       (own.second, theirs.second, theirs.first)):  # fmt: skip
        same = other = 0.0
        for word in mine:
            places = set(comparison.matches[at][word])
            same += comparison.weights[word] * (bool(places) and places <= others)
            other += comparison.weights[word] * (bool(places) and places <= theirs_other)
        votes.append((same, other))
    first, second = votes
    return _Votes((first[0], second[0]), (first[1], second[1]))


def same_order(comparison: ComparedClaim, at: int) -> Iterator[str]:
    """The claim's words of order, where the sentence has the same events in the same order."""
    votes = _order_votes(comparison, at)
    if votes and votes.is_same:
        for token in comparison.claim.tokens:
            if token.norm in _ORDER_WORDS:
                yield token.text


def reversed_order(comparison: ComparedClaim) -> StructuralDoubt | None:
    """`Print it, then weigh it` where the sentence has `Weigh it before you print it`."""
    return in_all_near(comparison, _reversed_in)


def _reversed_in(comparison: ComparedClaim, at: int) -> StructuralDoubt | None:
    votes = _order_votes(comparison, at)
    if votes and votes.is_reversed:
        return StructuralDoubt(
            comparison.claim.text.strip(" ."), comparison.sentence(at).text.strip(" ."), at
        )
    return None
