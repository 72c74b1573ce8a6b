"""The names of patterns, and text that is safe to show."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rt4chart_clustering.description.pattern_names import (
    MAX_LENGTH,
    clean_line,
    pattern_name,
    pattern_title,
)


@pytest.mark.parametrize(
    ("fingerprint", "name", "title"),
    [
        (
            "fp1:contradicted:number",
            "unfaithful: number not as in the source",
            "Number not as in the source",
        ),
        (
            "fp5:entailed:cherry_picked_exclusion",
            "misleading: cherry-picked exclusion",
            "Cherry-picked exclusion",
        ),
        ("x", "x", "x"),
    ],
)
def test_a_pattern_is_named_with_and_without_its_label(
    fingerprint: str, name: str, title: str
) -> None:
    """One of an unknown shape stands as it is."""
    assert (pattern_name(fingerprint), pattern_title(fingerprint)) == (name, title)


@given(st.text())
def test_shown_text_is_one_short_printable_line(text: str) -> None:
    """Neither control characters nor markup reach a terminal, a page or a chat through a title."""
    shown = clean_line(text)

    assert not set("<>[]{}`|*\\@") & set(shown)
    assert shown.isprintable()
    assert len(shown) <= MAX_LENGTH
