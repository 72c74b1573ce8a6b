"""The sentences that hold most of a claim's words, and which word matches which."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from otel_rt4chart.verify.language.slots import ContextIndex, Slots

_MAX_SENTENCES = 3  # evidence for one claim is rarely spread over more
_MIN_GAIN = 0.1  # a further sentence must bring this share of the claim's weight
_MAX_HOLDERS = 400  # a word in more sentences than this does not tell them apart
_MAX_POSITIONS = 12  # keeps a word that one sentence repeats from making the matching quadratic


@dataclass(frozen=True, slots=True)
class Alignment:
    """A claim aligned with up to three sentences, the best first.

    `equivalents` has, for each content word of the claim, the context's stems that match it.
    `matches` has, for each chosen sentence and content word, the positions of the match in that
    sentence's content words, and `paths` the one of them that is nearest to the match of the word
    before. `shares` is the share of the claim's weight that each chosen
    sentence holds, `coverage` the share that all of them hold together.
    """

    sentences: tuple[int, ...]
    equivalents: tuple[tuple[str, ...], ...]
    matches: tuple[tuple[tuple[int, ...], ...], ...]
    paths: tuple[tuple[int | None, ...], ...]
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


def align(claim: Slots, context: ContextIndex) -> Alignment:
    """Align a claim with the one to three sentences that together hold most of its weight."""
    words = claim.words
    equivalents = tuple(
        context.equivalents(word.stem, *claim.measures.get(at, ()))
        for at, word in zip(claim.content, words, strict=True)
    )
    weights = tuple(word.rarity for word in words)
    held = _words_held(equivalents, weights, context)
    chosen, covered = _choose(held, weights)
    total = sum(weights) or 1.0
    matches = tuple(matching_positions(equivalents, context.sentences[at]) for at in chosen)
    return Alignment(
        tuple(chosen),
        equivalents,
        matches,
        tuple(map(nearest_path, matches)),
        weights,
        tuple(_weight_of(held[at], weights) / total for at in chosen),
        _weight_of(covered, weights) / total,
    )


_WEIGHTY, _MOST = 0.15, 0.5


def stray_word(alignment: Alignment, context: ContextIndex) -> int | None:
    """The claim's content word that stands only apart from the rest; None where there is none.

    It has some weight in the claim, and no sentence with it has most of the rest that the passages
    have at all, alone or with the sentence before or after it: `requests` in "The client requires
    requests", where all that the passages say of requests is about a server.
    """
    weights, total = alignment.weights, sum(alignment.weights)
    held = _words_held(alignment.equivalents, weights, context)
    known = [word for word, stems in enumerate(alignment.equivalents) if stems]
    for word in sorted(known, key=lambda one: -weights[one]):
        bit, own = 1 << word, weights[word]
        rest = sum(weights[other] for other in known if other != word)
        if own < _WEIGHTY * total or not rest:
            continue
        beside = (
            words | held.get(near, 0)
            for at, words in held.items()
            if words & bit
            for near in (at - 1, at + 1)
        )
        most = max((_weight_of(words & ~bit, weights) for words in beside), default=total)
        if most < _MOST * rest:
            return word
    return None


def _words_held(
    equivalents: Sequence[tuple[str, ...]], weights: Sequence[float], context: ContextIndex
) -> dict[int, int]:
    """For each sentence that holds any of the claim's words, the set of these words as bits."""
    held: dict[int, int] = {}
    # Rare words first: a frequent word is then looked up only where a rare one stands already.
    order = sorted(range(len(weights)), key=lambda word: -weights[word])
    for word in order:
        bit = 1 << word
        for stem in equivalents[word]:
            holders: Sequence[int] = context.holders[stem]
            if len(holders) > _MAX_HOLDERS and held:
                holders = _known_holders(held, stem, context)
            for at in holders:
                held[at] = held.get(at, 0) | bit
    return held


def _known_holders(held: Collection[int], stem: str, context: ContextIndex) -> list[int]:
    """The sentences of `held` that have the stem, found over the shorter of the two lists."""
    if len(held) < len(context.holders[stem]):
        return [at for at in held if stem in context.sentences[at].positions]
    return [at for at in context.holders[stem] if at in held]


def _choose(held: dict[int, int], weights: Sequence[float]) -> tuple[list[int], int]:
    """Greedy set cover: each further sentence must add enough weight that is not covered yet."""
    # Of the sentences that hold the same words only the first can be chosen, and there are far
    # fewer such sets than sentences.
    first: dict[int, int] = {}
    for at, words in held.items():
        if at < first.get(words, at + 1):
            first[words] = at
    chosen: list[int] = []
    covered = 0
    needed = _MIN_GAIN * sum(weights)
    while first and len(chosen) < _MAX_SENTENCES:
        loss, best = min(
            (-_weight_of(words & ~covered, weights), at) for words, at in first.items()
        )
        if chosen and -loss < needed:
            break
        chosen.append(best)
        covered |= held[best]
        del first[held[best]]
    return chosen, covered


def _weight_of(words: int, weights: Sequence[float]) -> float:
    """The weight of a set of words, given as bits."""
    return sum(weight for word, weight in enumerate(weights) if words >> word & 1)


def matching_positions(
    equivalents: Sequence[tuple[str, ...]], sentence: Slots
) -> tuple[tuple[int, ...], ...]:
    """For each word of a claim, the positions of its matches in a sentence's content words."""
    return tuple(
        tuple(
            sorted(
                {
                    place
                    for stem in stems
                    for place in sentence.positions.get(stem, ())[:_MAX_POSITIONS]
                }
            )
        )
        for stems in equivalents
    )


def common_subsequence_length(matches: Sequence[Sequence[int]]) -> int:
    """The length of the longest common subsequence of content words (patience sorting)."""
    tails: list[int] = []
    for places in matches:
        for place in reversed(places):
            at = bisect_left(tails, place)
            if at == len(tails):
                tails.append(place)
            else:
                tails[at] = place
    return len(tails)


def longest_run(matches: Sequence[Sequence[int]]) -> int:
    """The longest run of the claim's content words that the sentence has without a gap."""
    longest = 0
    before: dict[int, int] = {}
    for places in matches:
        now = {place: before.get(place - 1, 0) + 1 for place in places}
        longest = max(longest, *now.values()) if now else longest
        before = now
    return longest


def nearest_path(matches: Sequence[Sequence[int]]) -> tuple[int | None, ...]:
    """One position for each word: the one nearest to the match of the word before it."""
    chosen: list[int | None] = []
    last = -1
    for positions in matches:
        if not positions:
            chosen.append(None)
            continue
        expected = last + 1
        last = min(positions, key=lambda position: (abs(position - expected), position))
        chosen.append(last)
    return tuple(chosen)
