"""Untrusted texts in links and with marked words: never displayed as something else."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markupsafe import Markup

from rt4chart_collector.console.view.filters import PICTURES, link, with_marked_words

OVERRIDE = "\u202e"


def test_the_differing_words_are_marked() -> None:
    """The first of them that the text has, as whole words."""
    found = with_marked_words("Returns take 30 days, not 3.", 100, ["3", "30 days"])

    assert found == Markup('Returns take 30 days, not <mark class="differs">3</mark>.')


@pytest.mark.parametrize("text", ["<b>30 days</b>", "30 days & more"])
def test_markup_in_the_text_is_text(text: str) -> None:
    """Before and after the marked words too."""
    found = with_marked_words(text, 100, ["30 days"])

    assert '<mark class="differs">30 days</mark>' in found
    assert found.count("<mark") == 1
    assert "<b>" not in found


@given(st.text(alphabet=st.sampled_from(f"ab <&\x1b\x00{OVERRIDE}\u2066"), max_size=30))
def test_no_character_hides_or_reorders_others(text: str) -> None:
    """With or without words to mark, and in a link."""
    for found in (with_marked_words(text, 20, ["a", "b"]), link("/x", text)):
        assert not {ord(char) for char in found} & set(PICTURES)
