"""Read WordNet 3.0's database: synonyms, opposites and co-hyponyms of words in their usual senses.

The folder is that of Debian's `wordnet-base`: data.noun, index.sense's counts in cntlist.rev, ...
Formats: WordNet's manual pages wndb(5WN) and cntlist(5WN).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

PARTS = {"noun": "n", "verb": "v", "adj": "a", "adv": "r"}
_NUMBERS = {"1": "n", "2": "v", "3": "a", "4": "r", "5": "a"}  # of cntlist.rev; 5 is a satellite
_OPPOSITE, _PARENT, _LIKE = "!", "@", "&"
# A sense that has at least this share of a word's tagged uses is usual.
USUAL = 0.25
# A parent with more children than this says little: "person" has hundreds.
MOST_SIBLINGS = 40

Word = tuple[str, str]  # lemma in lower case, part of speech: n, v, a or r


@dataclass(frozen=True, slots=True)
class Synset:
    """Words of one meaning; the pointers name other synsets of the same part of speech."""

    words: tuple[str, ...]
    parents: tuple[str, ...]
    like: tuple[str, ...]
    # (place of the word here, other synset, place of the word there); places count from 0.
    opposites: tuple[tuple[int, str, int], ...]


@dataclass(frozen=True)
class WordNet:
    """`counts` are the tagged uses of each word; `senses` its usual synsets, most used first.

    `irregular` lemmas have a form that no rule gives.
    """

    synsets: Mapping[tuple[str, str], Synset]
    counts: Mapping[Word, int]
    senses: Mapping[Word, tuple[str, ...]]
    irregular: frozenset[str]

    def frequent(self, least: int) -> list[Word]:
        """Single words tagged so often, in the order of the alphabet."""
        return sorted(
            word for word, count in self.counts.items()
            if count >= least and word[0].isalpha() and word in self.senses
        )  # fmt: skip

    def synonyms(self, word: Word) -> frozenset[str]:
        """Words that share a usual sense of both."""
        return self._others(word, {(word[1], sense) for sense in self.senses.get(word, ())})

    def opposites(self, word: Word) -> frozenset[str]:
        """Antonyms of a usual sense, and of the adjectives that it is like."""
        lemma, part = word
        found: set[str] = set()
        for sense in self.senses.get(word, ()):
            one = self.synsets[part, sense]
            found |= {
                self.synsets[part, there].words[place]
                for here, there, place in one.opposites
                if one.words[here] == lemma
            }
            for near in one.like:  # satellite: "big" is like "large", whose opposite is "small"
                found |= {
                    self.synsets[part, there].words[place]
                    for _, there, place in self.synsets[part, near].opposites
                }
        return frozenset(found) - {lemma}

    def siblings(self, word: Word) -> frozenset[str]:
        """Co-hyponyms: other kinds of the same thing, in the most usual sense of both."""
        part, found = word[1], set()
        for sense in self.senses.get(word, ())[:1]:
            for parent in self.synsets[part, sense].parents:
                children = self._children[part, parent]
                if len(children) <= MOST_SIBLINGS:
                    found |= {(part, child) for child in children if child != sense}
        return self._others(word, found, most_usual=True) - self.synonyms(word)

    def _others(
        self, word: Word, synsets: set[tuple[str, str]], *, most_usual: bool = False
    ) -> frozenset[str]:
        return frozenset(
            other
            for part, sense in synsets
            for other in self.synsets[part, sense].words
            if other != word[0]
            and sense in self.senses.get((other, part), ())[: 1 if most_usual else None]
        )

    @cached_property
    def _children(self) -> Mapping[tuple[str, str], list[str]]:
        found: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
        for (part, sense), synset in self.synsets.items():
            for parent in synset.parents:
                found[part, parent].append(sense)
        return found


def read_wordnet(folder: Path) -> WordNet:
    """All of it; senses that are hardly ever meant are left out."""
    synsets = {
        (part, sense): synset
        for name, part in PARTS.items()
        for sense, synset in _synsets(folder / f"data.{name}")
    }
    tagged: defaultdict[Word, dict[int, int]] = defaultdict(dict)
    for line in _lines(folder / "cntlist.rev"):
        key, number, count = line.split()
        lemma, _, rest = key.partition("%")
        tagged[lemma, _NUMBERS[rest[0]]][int(number)] = int(count)
    senses: dict[Word, tuple[str, ...]] = {}
    for name, part in PARTS.items():
        for line in _lines(folder / f"index.{name}"):
            lemma, _, _, pointers, *rest = line.split()
            offsets = rest[int(pointers) + 2 :]
            uses = tagged.get((lemma, part), {})
            least = USUAL * sum(uses.values())
            usual = [o for n, o in enumerate(offsets, 1) if n == 1 or uses.get(n, 0) >= least > 0]
            senses[lemma, part] = tuple(usual)
    irregular = {
        lemma
        for name in ("noun", "verb")
        for line in _lines(folder / f"{name}.exc")
        for lemma in line.split()[1:]
    }
    counts = {word: sum(uses.values()) for word, uses in tagged.items()}
    return WordNet(synsets, counts, senses, frozenset(irregular))


def _synsets(path: Path) -> Iterator[tuple[str, Synset]]:
    for line in _lines(path):
        fields = line.partition(" | ")[0].split()
        size = int(fields[3], 16)
        words = tuple(word.partition("(")[0].lower() for word in fields[4 : 4 + 2 * size : 2])
        rest = fields[4 + 2 * size :]
        part = "a" if fields[2] == "s" else fields[2]
        pointers = [rest[at : at + 4] for at in range(1, 1 + 4 * int(rest[0]), 4)]
        own = [one for one in pointers if one[2] == part]
        yield (
            fields[0],
            Synset(
                words,
                tuple(target for symbol, target, *_ in own if symbol.startswith(_PARENT)),
                tuple(target for symbol, target, *_ in own if symbol == _LIKE and fields[2] == "s"),
                tuple(
                    (int(places[:2], 16) - 1, target, int(places[2:], 16) - 1)
                    for symbol, target, _, places in own
                    if symbol == _OPPOSITE
                ),
            ),
        )


def _lines(path: Path) -> Iterator[str]:
    """The lines that are no licence."""
    with path.open(encoding="utf-8") as file:
        yield from (line for line in file if not line.startswith(" "))
