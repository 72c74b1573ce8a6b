"""Which sentences a claim is read beside."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from otel_rt4chart.verify.core.model import Passage
from otel_rt4chart.verify.neural.premise import (
    NEAREST,
    cached_linker,
    join_fitting,
    nearest_sentences,
)
from otel_rt4chart.verify.text.segment import segment_passages

SENTENCES = st.lists(
    st.sampled_from(["The trial lasts 14 days.", "Dogs are welcome.", "A trial is free."]),
    min_size=1,
    max_size=12,
)


def test_the_sentence_with_most_of_the_claims_words_comes_first() -> None:
    """And one that has none of them is left out."""
    sentences = segment_passages(
        [Passage(id="p1", text="Dogs are welcome. A trial is free. The free trial lasts 14 days.")]
    )

    near = nearest_sentences(
        "The free trial lasts a month.", sentences, cached_linker(tuple(sentences))
    )

    assert [one.reading for one in near] == ["The free trial lasts 14 days.", "A trial is free."]
    assert join_fitting(near) == "A trial is free. The free trial lasts 14 days."


def test_a_claim_that_shares_no_word_is_read_beside_the_first_sentences() -> None:
    """It may say the same in other words."""
    text = " ".join(f"Sentence number {number} is here." for number in range(9))
    sentences = segment_passages([Passage(id="p1", text=text)])

    near = nearest_sentences("Dogs bark.", sentences, cached_linker(tuple(sentences)))

    assert near == list(sentences[:NEAREST])


@given(texts=SENTENCES, most=st.integers(4, 90))
def test_what_is_read_fits_and_is_never_empty(texts: list[str], most: int) -> None:
    """Whole sentences in the order of the document; of one that is too long its beginning."""
    sentences = segment_passages([Passage(id="p1", text=" ".join(texts))])
    near = nearest_sentences("The trial lasts 14 days.", sentences, cached_linker(tuple(sentences)))

    evidence = join_fitting(near, lambda part: len(part) <= most)

    assert 0 < len(evidence) <= most
    ordered = iter(sorted(near, key=lambda one: one.index))
    if any(len(one.reading) <= most for one in near):
        assert all(any(part == one.reading for one in ordered) for part in whole(evidence))
    else:
        assert near[0].reading.startswith(evidence)


def whole(evidence: str) -> list[str]:
    """Its sentences."""
    return [part.strip() + "." for part in evidence.split(".") if part.strip()]
