"""The table of related words, and what it becomes together with the hand-made ones."""

from __future__ import annotations

from importlib.resources import files

from hypothesis import given
from hypothesis import strategies as st

from otel_rt4chart.verify import language
from otel_rt4chart.verify.language.thesaurus import (
    all_synonyms,
    opposites,
    read_relations,
    relations,
    siblings,
    synonyms,
)
from otel_rt4chart.verify.language.tokens import stem

STEMS = st.sampled_from(sorted(relations().words))


@given(STEMS)
def test_a_relation_holds_both_ways(word: str) -> None:
    """Of every kind."""
    table = relations()
    for related in (table.synonyms, table.opposites, table.siblings):
        assert all(word in related[other] for other in related.get(word, ()))


@given(STEMS)
def test_a_word_is_never_the_same_and_the_opposite(word: str) -> None:
    """What people listed as a synonym is no opposite; nothing is related to itself."""
    assert all_synonyms(word).isdisjoint(opposites(word))
    assert relations().synonyms.get(word, frozenset()).isdisjoint(siblings(word))
    assert word not in all_synonyms(word) | opposites(word) | siblings(word)
    assert synonyms(word) <= all_synonyms(word)


def test_a_line_is_a_stem_with_its_relations() -> None:
    """Each pair stands once; a comment is none."""
    table = read_relations("# a licence\nbig =larg !smal\ncat ~dog\n")

    assert table.synonyms == {"big": {"larg"}, "larg": {"big"}}
    assert table.opposites == {"big": {"smal"}, "smal": {"big"}}
    assert table.siblings == {"cat": {"dog"}, "dog": {"cat"}}
    assert table.words == {"big", "larg", "smal", "cat", "dog"}


def test_usual_words_are_related() -> None:
    """By stem, as the claim's words are."""
    assert stem("physician") in all_synonyms(stem("doctors"))
    assert stem("sold") in opposites(stem("buying"))
    assert stem("pianos") in siblings(stem("guitar"))
    assert stem("professional") in opposites(stem("unprofessional"))


def test_the_table_is_small_and_carries_its_licence() -> None:
    """It ships with the package."""
    written = files(language).joinpath("relations.txt").read_text("utf-8")

    assert written.startswith("# WordNet 3.0, Copyright 2006 by Princeton University")
    assert len(written) < 400_000
