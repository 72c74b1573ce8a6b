"""WordNet's database, read, and the table of relations that is made of it."""

from __future__ import annotations

from pathlib import Path

import pytest
from list_relations import OPPOSITE, SIBLING, SYNONYM, relations
from wordnet import WordNet, read_wordnet


@pytest.fixture
def words(folder: Path) -> WordNet:
    """The small one."""
    return read_wordnet(folder)


def test_words_of_one_meaning_are_synonyms(words: WordNet) -> None:
    """Of the same part of speech."""
    assert words.synonyms(("doctor", "n")) == {"physician"}
    assert words.synonyms(("doctor", "v")) == frozenset()


def test_an_opposite_is_of_one_word_and_of_the_adjectives_like_it(words: WordNet) -> None:
    """`massive` is like `large`; `engage` is in the meaning of `hire` and has no opposite."""
    assert words.opposites(("hire", "v")) == {"fire"}
    assert words.opposites(("engage", "v")) == frozenset()
    assert words.opposites(("massive", "a")) == {"small"}


def test_siblings_are_other_kinds_of_the_same_thing(words: WordNet) -> None:
    """Neither the word's own synonyms nor its parent."""
    assert words.siblings(("doctor", "n")) == {"dentist", "healer"}


def test_frequent_words_are_those_tagged_often_enough(words: WordNet) -> None:
    """The licence's lines are no words."""
    assert ("doctor", "n") in words.frequent(30)
    assert ("dentist", "n") not in words.frequent(30)
    assert all(lemma.isalpha() for lemma, _ in words.frequent(1))


def test_irregular_lemmas_are_told_by_the_lists_of_exceptions(words: WordNet) -> None:
    """`men` is no plural by rule."""
    assert words.irregular == {"man", "woman"}


def test_a_pair_of_stems_has_one_relation(words: WordNet) -> None:
    """In the order of the alphabet; what is never tagged is left out."""
    found = relations(words)

    assert found["doctor", "physician"] == SYNONYM
    assert found["dentist", "doctor"] == SIBLING
    assert found["man", "woman"] == OPPOSITE
    assert all(left < right for left, right in found)
    assert not any("healer" in pair for pair in found)
