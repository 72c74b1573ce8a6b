"""Words: offsets, stems, rarity."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_rt4chart.verify.language.tokens import stem, tokenize


@given(st.text(max_size=200))
def test_every_word_is_a_slice_of_its_text(text: str) -> None:
    """Offsets are exact and in order for any text at all."""
    tokens = tokenize(text)

    assert all(token.text == text[token.start : token.end] for token in tokens)
    assert all(left.end <= right.start for left, right in pairwise(tokens))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("policies", "policy"),
        ("applied", "apply"),
        ("won", "win"),
        ("announcement", "announce"),
        ("three", "3"),
        ("third", "3"),
        ("q3", "third"),
        ("stopped", "stop"),
        ("1,500", "1500"),
    ],
)
def test_forms_of_a_word_share_a_stem(one: str, other: str) -> None:
    """Inflections, number words and quarters meet."""
    assert stem(one) == stem(other)


@pytest.mark.parametrize(("one", "other"), [("weekday", "weekend"), ("rise", "raisin")])
def test_other_words_keep_their_stems_apart(one: str, other: str) -> None:
    """The stemmer does not join words that merely begin alike."""
    assert stem(one) != stem(other)


def test_function_words_carry_no_content_and_rare_words_more_than_common_ones() -> None:
    """Rarity is 0 for `the`, and grows with how seldom texts use the word."""
    the, people, zyzzyva = tokenize("the people zyzzyva")

    assert not the.is_content
    assert 0.0 < people.rarity < zyzzyva.rarity == 1.0


def test_countries_written_with_dots_are_the_same_word_and_us_is_a_pronoun() -> None:
    """`U.S.` and `US` meet; `us` does not."""
    dotted, plain, pronoun = tokenize("U.S. US us")

    assert dotted.stem == plain.stem == "usa"
    assert not pronoun.is_content


def test_ideographs_are_words_of_their_own() -> None:
    """A script without spaces still yields words to compare."""
    assert [token.text for token in tokenize("东京塔 Tower")] == ["东", "京", "塔", "Tower"]
