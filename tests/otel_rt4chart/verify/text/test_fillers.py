"""Words that join sentences and claim nothing."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_rt4chart.verify.text.fillers import blank_fillers


@pytest.mark.parametrize(
    ("text", "blanked"),
    [
        ("The link then works for 7 days.", "The link works for 7 days."),
        ("Outages can still be reported.", "Outages can be reported."),
        ("It also covers tyres.", "It covers tyres."),
        ("Tyres are covered, too.", "Tyres are covered."),
    ],
)
def test_what_joins_sentences_is_left_out(text: str, blanked: str) -> None:
    """The passage need not have it; the other words stay where they were."""
    found = blank_fillers(text)

    words = " ".join(found.split()).replace(" .", ".")
    assert (words, len(found)) == (blanked, len(text))


@pytest.mark.parametrize(
    "text",
    [
        "First remove the lid, and then the tray.",
        "If it rains, it then closes.",
        "They distil it in a still behind the house.",
        "It came too late.",
        "Until then it is closed.",
        "Then it closes.",
    ],
)
def test_what_says_something_stays(text: str) -> None:
    """An order, a condition, a thing, a degree, a time."""
    assert blank_fillers(text) == text


@given(st.text(max_size=80))
def test_all_offsets_stay(text: str) -> None:
    """Only letters become spaces."""
    found = blank_fillers(text)

    assert len(found) == len(text)
    assert all(new in (old, " ") for new, old in zip(found, text, strict=True))
