"""Which word can stand for which: synonyms keep a claim, opposites and siblings break it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable
from typing import NamedTuple

from wordnet import Word, WordNet

MOSTLY = 2
LEAST = 3  # tagged uses of a word that is worth exchanging
_VOWELS = "aeiou"
# Their senses are too many, or nobody would trip over the exchange.
_LEFT_OUT = frozenset(
    ("have", "make", "get", "come", "take", "give", "say", "thing", "way", "time")
)


class Exchange(NamedTuple):
    """A form that can replace another; `keeps` is True where the claim stays as true as it was."""

    form: str
    keeps: bool


class Exchanges:
    """For a form, in lower case, the forms of the same inflection that can replace it."""

    def __init__(self, words: WordNet) -> None:
        """Works out all forms of the frequent words at once."""
        known = {word for word in words.frequent(LEAST) if _is_fit(word)}
        self._found: defaultdict[str, list[Exchange]] = defaultdict(list)
        readings: defaultdict[str, Counter[str]] = defaultdict(Counter)
        for lemma, part in known:
            for inflect in _FORMS[part]:
                readings[inflect(lemma)][part] = words.counts[lemma, part]
        for word in sorted(known):
            lemma, part = word
            kept = {one for one in words.synonyms(word) if (one, part) in known}
            broken = {
                one
                for one in words.opposites(word) | words.siblings(word)
                if (one, part) in known and one not in kept
            }
            for inflect in _FORMS[part]:
                form = inflect(lemma)
                if not _is_sure(readings[form], part):
                    continue
                for others, keeps in ((kept, True), (broken, False)):
                    self._found[form] += [
                        Exchange(inflect(one), keeps)
                        for one in sorted(others)
                        if inflect is _same or one not in words.irregular
                    ]

    def of(self, form: str, *, keeps: bool) -> list[str]:
        """The forms of that kind."""
        return [one.form for one in self._found.get(form, ()) if one.keeps == keeps]


def _is_sure(readings: Counter[str], part: str) -> bool:
    """True where a form that is noun and verb is nearly always this one."""
    return readings[part] >= MOSTLY * (readings.total() - readings[part])


def _is_fit(word: Word) -> bool:
    lemma, _ = word
    return lemma.isalpha() and lemma.isascii() and len(lemma) > 2 and lemma not in _LEFT_OUT


def _plural(lemma: str) -> str:
    if lemma.endswith(("s", "x", "z", "ch", "sh")):
        return lemma + "es"
    if lemma.endswith("y") and lemma[-2] not in _VOWELS:
        return lemma[:-1] + "ies"
    return lemma + "s"


def _past(lemma: str) -> str:
    if lemma.endswith("e"):
        return lemma + "d"
    if lemma.endswith("y") and lemma[-2] not in _VOWELS:
        return lemma[:-1] + "ied"
    return lemma + "ed"


def _progressive(lemma: str) -> str:
    is_silent = lemma.endswith("e") and not lemma.endswith(("ee", "oe", "ye"))
    return (lemma[:-1] if is_silent else lemma) + "ing"


def _same(lemma: str) -> str:
    return lemma


_FORMS: dict[str, tuple[Callable[[str], str], ...]] = {
    "n": (_same, _plural),
    "v": (_same, _plural, _past, _progressive),
    "a": (_same,),
    "r": (_same,),
}
