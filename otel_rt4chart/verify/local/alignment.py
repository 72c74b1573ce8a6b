"""Which sentences a claim leans on, and which of its words meet which of theirs."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

from otel_rt4chart.verify.language.context import Context
from otel_rt4chart.verify.language.slots import Slots

_SENTENCES = 3
_GAIN = 0.1  # a further sentence must bring this share of the claim's weight
_HOLDERS = 400  # a word in more sentences than this one does not choose among them
_PLACES = 12


@dataclass(frozen=True, slots=True)
class Alignment:
    """A claim laid beside up to three sentences, the best first.

    `equivalents` holds for each content word of the claim the context's stems it may meet;
    `meets` for each chosen sentence and content word the places in that sentence's content;
    `shares` the share of the claim's weight that each chosen sentence holds.
    """

    sentences: tuple[int, ...]
    equivalents: tuple[tuple[str, ...], ...]
    meets: tuple[tuple[tuple[int, ...], ...], ...]
    weights: tuple[float, ...]
    shares: tuple[float, ...]
    coverage: float

    @property
    def best_coverage(self) -> float:
        """The share of the claim's weight that the best sentence holds."""
        return self.shares[0] if self.shares else 0.0

    def share(self, sentence: int) -> float:
        """The share that this sentence of the context holds; 0.0 where it was not chosen."""
        if sentence not in self.sentences:
            return 0.0
        return self.shares[self.sentences.index(sentence)]


def align(claim: Slots, context: Context) -> Alignment:
    """The one to three sentences that together hold most of the claim's weight."""
    words = claim.words
    equivalents = tuple(
        context.equivalents(word.stem, *claim.measures.get(at, ()))
        for at, word in zip(claim.content, words, strict=True)
    )
    weights = tuple(word.rarity for word in words)
    held = _held(equivalents, weights, context)
    chosen, covered = _choose(held, weights)
    total = sum(weights) or 1.0
    return Alignment(
        tuple(chosen),
        equivalents,
        tuple(meeting(equivalents, context.sentences[at]) for at in chosen),
        weights,
        tuple(sum(weights[word] for word in held[at]) / total for at in chosen),
        sum(weights[word] for word in covered) / total,
    )


def _held(
    equivalents: Sequence[tuple[str, ...]], weights: Sequence[float], context: Context
) -> dict[int, set[int]]:
    """For each sentence that holds any word of the claim, which of its words it holds."""
    held: dict[int, set[int]] = {}
    order = sorted(range(len(weights)), key=lambda word: -weights[word])
    for word in order:
        for stem in equivalents[word]:
            holders = context.holders[stem]
            if len(holders) > _HOLDERS and held:
                holders = tuple(at for at in holders if at in held)
            for at in holders:
                held.setdefault(at, set()).add(word)
    return held


def _choose(held: dict[int, set[int]], weights: Sequence[float]) -> tuple[list[int], set[int]]:
    chosen: list[int] = []
    covered: set[int] = set()
    needed = _GAIN * sum(weights)
    while held and len(chosen) < _SENTENCES:
        gains = {
            at: sum(weights[word] for word in words if word not in covered)
            for at, words in held.items()
            if at not in chosen
        }
        if not gains:
            break
        best = min(gains, key=lambda at: (-gains[at], at))
        if chosen and gains[best] < needed:
            break
        chosen.append(best)
        covered |= held[best]
    return chosen, covered


def meeting(equivalents: Sequence[tuple[str, ...]], sentence: Slots) -> tuple[tuple[int, ...], ...]:
    """For each word of a claim the places in a sentence's content where it may be met."""
    return tuple(
        tuple(
            sorted(
                {place for stem in stems for place in sentence.positions.get(stem, ())[:_PLACES]}
            )
        )
        for stems in equivalents
    )


def common_order(meets: Sequence[Sequence[int]]) -> int:
    """The length of the longest common subsequence of content words."""
    tails: list[int] = []
    for places in meets:
        for place in reversed(places):
            at = bisect_left(tails, place)
            if at == len(tails):
                tails.append(place)
            else:
                tails[at] = place
    return len(tails)


def longest_run(meets: Sequence[Sequence[int]]) -> int:
    """The most content words of the claim that follow each other without a gap in the sentence."""
    longest = 0
    before: dict[int, int] = {}
    for places in meets:
        now = {place: before.get(place - 1, 0) + 1 for place in places}
        longest = max(longest, *now.values()) if now else longest
        before = now
    return longest


def path(meets: Sequence[Sequence[int]]) -> tuple[int | None, ...]:
    """One place for each word, the one nearest to where the word before it was met."""
    chosen: list[int | None] = []
    last: int | None = None
    for places in meets:
        if not places:
            chosen.append(None)
            continue
        wanted = -1 if last is None else last
        last = min(places, key=lambda place: (abs(place - wanted - 1), place))
        chosen.append(last)
    return tuple(chosen)
