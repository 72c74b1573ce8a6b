"""Which context sentences a claim may stand on: similarity finds candidates, it decides nothing."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from otel_rt4chart.verify.local.tokens import tokenize
from otel_rt4chart.verify.model import Sentence


class Link(NamedTuple):
    """A candidate sentence; `score` is the share of the claim's content it holds, in (0, 1]."""

    sentence: int
    score: float


def content(text: str) -> dict[str, float]:
    """The stems of a text's content words, with their rarity; empty where it says nothing."""
    return {token.stem: token.rarity for token in tokenize(text) if token.is_content}


class Linker:
    """A lexical index over a context's sentences, each known by its own `index`."""

    def __init__(self, sentences: Sequence[Sentence]) -> None:
        """Index the sentences by the stems of their content words."""
        self._holders: defaultdict[str, list[int]] = defaultdict(list)
        for sentence in sentences:
            for stem in content(sentence.text):
                self._holders[stem].append(sentence.index)

    def candidates(self, text: str, *, limit: int = 8) -> tuple[Link, ...]:
        """The sentences that share content words with the text, best first, at most `limit`.

        A word counts by its rarity; ties go to the earlier sentence.
        """
        rarities = content(text)
        total = sum(rarities.values())
        held: defaultdict[int, float] = defaultdict(float)
        for stem, rarity in rarities.items():
            for index in self._holders.get(stem, ()):
                held[index] += rarity
        ranked = sorted(held.items(), key=lambda item: (-item[1], item[0]))
        return tuple(Link(index, score / total) for index, score in ranked[:limit])
