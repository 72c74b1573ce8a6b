"""List related words: `python training/list_relations.py DIR` writes verify/local/relations.txt.

Synonyms, opposites and siblings, by stem. DIR holds WordNet 3.0's database, as `wordnet.py` says.
"""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path

from wordnet import Word, WordNet, read_wordnet

from otel_rt4chart.verify.language.tokens import STOPWORDS, stem

TARGET = Path(__file__).parents[1] / "otel_rt4chart/verify/language/relations.txt"
HEADER = """\
# WordNet 3.0, Copyright 2006 by Princeton University; see NOTICE
# By stem, each pair once: = a synonym, ! an opposite, ~ a sibling (another kind of the same thing)
"""
SYNONYM, OPPOSITE, SIBLING = "=!~"
LEAST = 1  # tagged uses of a word that is listed
SURE = 0.5  # a word's share of the tagged uses of all words with its stem
LEAST_DEPTH = 5  # of a sibling's parent: "person" and "thing" are nearer to the root
# Siblings by the book that name the same thing often enough.
_ALIKE = """
    picture photo; picture photograph; town city; town village; hamlet village; movie performance
    film performance; movie video; motion video; university college; boat ship; jail prison;
    photo photograph; cloth uniform; clothes uniform; clothes attire; clothes garb; myth legend;
    road lane; road street; boy lad; party union; army navy; script drama; deity god; head face;
    winner player; athlete player; team outfit; crew team; brain cortex; senate congress;
    quality space; information guidance; system device; world body; meal lunch; meal dinner
    """
ALIKE = frozenset(frozenset(map(stem, pair.split())) for pair in _ALIKE.split(";"))


def main(folder: Path) -> None:
    """Write the table, a stem and what is related to it on each line."""
    related = relations(read_wordnet(folder))
    lines: defaultdict[str, list[str]] = defaultdict(list)
    for (left, right), sign in sorted(related.items()):
        lines[left].append(sign + right)
    text = "".join(f"{left} {' '.join(others)}\n" for left, others in sorted(lines.items()))
    TARGET.write_text(HEADER + text, "utf-8")
    print(TARGET, Counter(related.values()))


def relations(words: WordNet) -> Mapping[tuple[str, str], str]:
    """For each pair of stems, in the order of the alphabet, its only relation.

    What is a synonym is no sibling; what is both a synonym and an opposite is left out.
    """
    found: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
    for left, right, sign in _related(words, _sure(words)):
        found[min(left, right), max(left, right)].add(sign)
    chosen: dict[tuple[str, str], str] = {}
    for pair, signs in found.items():
        if {SYNONYM, OPPOSITE} <= signs or (signs == {SIBLING} and frozenset(pair) in ALIKE):
            continue
        chosen[pair] = next(sign for sign in (OPPOSITE, SYNONYM, SIBLING) if sign in signs)
    return chosen


def _related(words: WordNet, known: frozenset[Word]) -> Iterator[tuple[str, str, str]]:
    for word in sorted(known):
        kinds = [(SYNONYM, words.synonyms(word)), (OPPOSITE, words.opposites(word))]
        if word[1] == "n":  # a verb's siblings are ways to say it
            kinds.append((SIBLING, _siblings(words, word)))
        for sign, others in kinds:
            for other in others:
                if (other, word[1]) in known and stem(other) != stem(word[0]):
                    yield stem(word[0]), stem(other), sign


def _siblings(words: WordNet, word: Word) -> frozenset[str]:
    """None where the parent is as general as "person"."""
    parents = words.synsets[word[1], words.senses[word][0]].parents
    depth = max((_depth(words, word[1], parent) for parent in parents), default=0)
    return words.siblings(word) if depth >= LEAST_DEPTH else frozenset()


def _depth(words: WordNet, part: str, sense: str) -> int:
    parents = words.synsets[part, sense].parents
    return 1 + min((_depth(words, part, parent) for parent in parents), default=-1)


def _sure(words: WordNet) -> frozenset[Word]:
    """The words that their stem mostly stands for: a stem does not tell noun from verb."""
    uses: Counter[str] = Counter()
    for (lemma, _), count in words.counts.items():
        uses[stem(lemma)] += count
    return frozenset(
        word
        for word in words.frequent(LEAST)
        if _is_fit(word[0]) and words.counts[word] >= SURE * uses[stem(word[0])]
    )


def _is_fit(lemma: str) -> bool:
    is_plain = lemma.isalpha() and lemma.isascii() and len(lemma) > 2
    return is_plain and lemma not in STOPWORDS and not stem(lemma)[:1].isdigit()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
