"""The question that is most like another one, by its words. Pure.

Words alone do not tell "How long does a card refund take?" from "How long does a refund request
take?": whoever asks for the nearest question says among which, such as those that were answered
from the same passage.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Mapping

# The share of two questions' words that like ones have in common (Dice's coefficient), each word
# weighted by how rare it is.
LEAST_ALIKE = 0.35
_WORD = re.compile(r"\w+")


class LikeQuestions:
    """Questions among which like ones are looked for, given by their names."""

    def __init__(self, words: Mapping[str, str]) -> None:
        """Weigh each word by the number of questions that have it."""
        self._words = {name: words_of(text) for name, text in words.items()}
        known = Counter(word for found in self._words.values() for word in found)
        # A word that no question has counts like one that a single question has.
        weights = {number: _weight(len(words), number) for number in {1, *known.values()}}
        self._weights = {word: weights[number] for word, number in known.items()}
        self._rarest = weights[1]
        self._totals = {name: self._weight(found) for name, found in self._words.items()}

    def nearest(self, text: str, among: Collection[str]) -> str:
        """The name, among these, of the question most like this one; "" if none is like it."""
        asked = words_of(text)
        whole = self._weight(asked)
        alike = [(self._alike(asked, whole, one), one) for one in among]
        most, name = max(alike, default=(0.0, ""))
        return name if most >= LEAST_ALIKE else ""

    def _alike(self, asked: frozenset[str], whole: float, name: str) -> float:
        both = whole + self._totals[name]
        return 2 * self._weight(asked & self._words[name]) / both if both else 0.0

    def _weight(self, words: frozenset[str]) -> float:
        """The sum of inverse document frequencies; a word that all questions have counts little."""
        return math.fsum([self._weights.get(word, self._rarest) for word in words])


def _weight(questions: int, known: int) -> float:
    return math.log((questions + 1.5) / (known + 0.5))


def words_of(text: str) -> frozenset[str]:
    """The words of a question, without case, punctuation and forms of one character."""
    return frozenset(_WORD.findall(unicodedata.normalize("NFKC", text).casefold()))
