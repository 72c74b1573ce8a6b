from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_rt4chart.verify.core.model import Sentence
from otel_rt4chart.verify.link.chunks import split_into_chunks, tokens_of


def sentences(sizes: list[int]) -> list[Sentence]:
    """Sentences of these lengths."""
    return [Sentence(n, 0, size, "x" * size) for n, size in enumerate(sizes)]


@given(
    st.lists(st.integers(1, 50), max_size=80),
    st.integers(1, 20),
    st.integers(0, 19),
    st.integers(1, 200),
)
def test_every_sentence_is_in_a_chunk_and_no_chunk_is_too_large(
    sizes: list[int], window: int, overlap: int, max_tokens: int
) -> None:
    """Windows cover the context in order, within both bounds."""
    context = sentences(sizes)
    parts = split_into_chunks(
        context, window=window, overlap=min(overlap, window - 1), max_tokens=max_tokens
    )

    assert {s.index for part in parts for s in part.sentences} == set(range(len(sizes)))
    assert [part.index for part in parts] == list(range(len(parts)))
    for part in parts:
        assert len(part.sentences) <= window
        if tokens_of(part.sentences) > max_tokens:
            assert len(part.sentences) == 1


def test_neighbouring_chunks_share_the_overlap() -> None:
    """Two sentences at a border are seen together at least once."""
    parts = split_into_chunks(sentences([1] * 10), window=4, overlap=2)

    assert [[s.index for s in part.sentences] for part in parts] == [
        [0, 1, 2, 3],
        [2, 3, 4, 5],
        [4, 5, 6, 7],
        [6, 7, 8, 9],
    ]


def test_a_window_that_cannot_move_is_refused() -> None:
    """An overlap as large as the window would never end."""
    with pytest.raises(ValueError, match="overlap < window"):
        split_into_chunks(sentences([1]), window=3, overlap=3)
