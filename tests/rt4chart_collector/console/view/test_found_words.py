"""The words of a search in a text."""

from __future__ import annotations

from html import unescape

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markupsafe import escape

from rt4chart_collector.console.view.found_words import with_found_words


@pytest.mark.parametrize(
    ("text", "words", "shown"),
    [
        ("A refund is paid", ["REFUND"], "A <mark>refund</mark> is paid"),
        ("paid, unpaid", ["paid"], "<mark>paid</mark>, un<mark>paid</mark>"),
        ("one two", ["two", "one two"], "<mark>one two</mark>"),
        ("<b>bold</b>", ["<b>"], "<mark>&lt;b&gt;</mark>bold&lt;/b&gt;"),
        ("nothing here", ["x"], "nothing here"),
        ("nothing here", [], "nothing here"),
        ("a" * 30 + " word " + "b" * 30, ["word"], "…aaaaa <mark>word</mark> bbbbbbbbb…"),
        ("a" * 30 + " word", ["word"], "…" + "a" * 15 + " <mark>word</mark>"),
    ],
)
def test_words_are_marked_where_they_stand(text: str, words: list[str], shown: str) -> None:
    """All of them, in a clip of the text around the first."""
    assert with_found_words(text, 20, words) == shown


def test_a_clip_of_a_longer_text_says_so() -> None:
    """It begins with an ellipsis."""
    assert with_found_words("the middle", 20, [], is_cut=True) == "…the middle"


@given(st.text(), st.lists(st.text(max_size=5), max_size=4))
def test_markup_is_text_and_marks_alone(text: str, words: list[str]) -> None:
    """Whatever the text and the words are; it is not longer than asked for."""
    found = with_found_words(text, 40, words)

    plain = unescape(str(found).replace("<mark>", "").replace("</mark>", ""))
    assert str(escape(plain)) == str(found).replace("<mark>", "").replace("</mark>", "")
    assert len(plain) <= 42
