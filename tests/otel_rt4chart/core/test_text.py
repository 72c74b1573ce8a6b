"""Excerpts of untrusted text, and names that come from spans."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_rt4chart.core.text import (
    MAX_NAME_CHARS,
    bounded_name,
    clip,
    find_phrase,
    find_words,
    one_line,
    quoted_words,
)

LONG = "The clinic opens at nine and, as the leaflet of May says, it closes at 17:30 on Fridays."


@pytest.mark.parametrize(
    ("limit", "around", "shown"),
    [
        (200, ["17:30"], LONG),
        (20, [], "The clinic opens at…"),
        (20, ["Clinic"], "The clinic opens at…"),
        (20, ["17:30"], "…es at 17:30 on Fri…"),
        (20, ["noon", "", "17:30"], "…es at 17:30 on Fri…"),
        (20, ["Fridays"], "…t 17:30 on Fridays."),
        (20, ["7:3"], "The clinic opens at…"),
        (12, ["as the leaflet of May"], "…as the lea…"),
    ],
)
def test_an_excerpt_has_the_difference_that_the_reason_names(
    limit: int, around: list[str], shown: str
) -> None:
    """The start, unless a named word would be cut off: then that word is in the middle."""
    assert clip(LONG, limit, around) == shown


@given(st.text(max_size=80), st.integers(4, 90), st.text(max_size=8))
def test_an_excerpt_is_never_too_long_and_consists_of_the_text(
    text: str, limit: int, word: str
) -> None:
    """Whatever the text and the word are."""
    shown = clip(text, limit, [word])

    assert len(shown) <= limit
    assert shown == text or shown.strip("…") in text


def test_one_line_is_clipped_around_words_without_invisible_characters() -> None:
    """Line feeds and control characters become single spaces, in text and words."""
    text = "The fee\x07 is due\non 1 May,\nand never later than 3\nJune of the year."

    assert one_line(text, 20, ["3\nJune"]) == "… than 3 June of th…"


def test_the_words_that_a_reason_quotes() -> None:
    """In order; quotation marks that are not closed quote nothing."""
    assert quoted_words("“30 days” in the answer, “14 days” in “the") == ["30 days", "14 days"]


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("POST /ask", "POST /ask"),
        ("Straße 東京", "Straße 東京"),
        ("a\x1b[31mb\x07\u202ec", "a [31mb  c"),
        ("lone \ud800", "lone ?"),
        ("r" * MAX_NAME_CHARS, "r" * MAX_NAME_CHARS),
    ],
)
def test_short_name_is_kept_without_control_characters(name: str, shown: str) -> None:
    """A name in a log or a terminal must not rewrite it."""
    assert bounded_name(name) == shown


def test_long_names_with_one_beginning_stay_different() -> None:
    """Otherwise the rates of two routes would be mixed."""
    names = [bounded_name("r" * 10**6 + end) for end in ("a", "b", "\ud800", "\x07")]

    assert len(set(names)) == 4
    assert {len(name) for name in names} == {MAX_NAME_CHARS}
    assert all(name.isprintable() and bounded_name(name) == name for name in names)


@pytest.mark.parametrize(
    ("text", "phrase", "at"),
    [
        ("a party of art", "art", 11),
        ("14 or 145 days", "145", 6),
        ("145 days", "14", -1),
        ("it costs US$5 a day", "$5", 11),
        ("aa a", "a", 3),
        ("\u6c34\u6c60\u6709\u6696\u6c14", "\u6709\u6696", 2),
        ("words", "", -1),
    ],
)
def test_a_phrase_is_found_as_whole_words(text: str, phrase: str, at: int) -> None:
    """Where the script has words; a sign such as $ ends one."""
    assert find_phrase(text, phrase) == at
    assert find_words(text, [phrase.upper()]) == ((at, at + len(phrase)) if at >= 0 else (0, 0))


def test_a_phrase_is_sought_in_linear_time_in_a_long_word() -> None:
    """Each place of the word holds it, and none is a word."""
    assert find_phrase("a" * 1_000_000, "a" * 2_000) == -1
