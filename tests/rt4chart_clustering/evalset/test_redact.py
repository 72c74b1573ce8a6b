"""Ranges of a text that was rewritten."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from rt4chart_clustering.evalset.promote import RangeMap

VOCABULARY = ("trial", "lasts", "a@b.de", "30", "days", "jo@x.org")
WORDS = st.lists(st.sampled_from(VOCABULARY), min_size=1)


@given(WORDS, st.data())
def test_a_range_holds_what_became_of_its_words(words: list[str], data: st.DataObject) -> None:
    """Words that were kept are in it whole, and so is what stands in place of the others."""
    before = " ".join(words)
    changed = ["[email]" if "@" in word else word for word in words]
    after = " ".join(changed)
    first = data.draw(st.integers(0, len(words) - 1))
    last = data.draw(st.integers(first, len(words) - 1))
    start = len(" ".join(words[:first])) + (first > 0)
    end = len(" ".join(words[: last + 1]))

    found = RangeMap(before, after).of(start, end)

    assert 0 <= found[0] <= found[1] <= len(after)
    kept = [word for word in changed[first : last + 1] if word != "[email]"]
    assert all(word in after[slice(*found)] for word in kept)


def test_a_text_that_did_not_change_keeps_its_ranges() -> None:
    """Nothing is lined up then."""
    assert RangeMap("abc", "abc").of(1, 2) == (1, 2)
    assert RangeMap("abc", "").of(0, 3) == (0, 0)
