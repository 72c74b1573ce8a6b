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
        self._known = Counter(word for found in self._words.values() for word in found)

    def nearest(self, text: str, among: Collection[str]) -> str:
        """The name, among these, of the question most like this one; "" if none is like it."""
        asked = words_of(text)
        name = max(among, key=lambda one: (self._alike(asked, one), one), default="")
        return name if name and self._alike(asked, name) >= LEAST_ALIKE else ""

    def _alike(self, asked: frozenset[str], name: str) -> float:
        known = self._words[name]
        both = self._weight(asked) + self._weight(known)
        return 2 * self._weight(asked & known) / both if both else 0.0

    def _weight(self, words: frozenset[str]) -> float:
        """The sum of inverse document frequencies; a word that all questions have counts little."""
        # A word that no question has counts like one that a single question has.
        return math.fsum(
            math.log((len(self._words) + 1.5) / (max(self._known[word], 1) + 0.5)) for word in words
        )


def words_of(text: str) -> frozenset[str]:
    """The words of a question, without case, punctuation and forms of one character."""
    return frozenset(_WORD.findall(unicodedata.normalize("NFKC", text).casefold()))
