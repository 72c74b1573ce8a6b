"""Sliding windows of context sentences for local verification (RT4CHART section 2)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from otel_rt4chart.verify.core.model import Chunk, Sentence
from otel_rt4chart.verify.text.token_estimate import tokens_of

# The best of the paper's six settings; a chunk of MAX_TOKENS fits the input limit of any judge.
WINDOW, OVERLAP, MAX_TOKENS = 25, 10, 8_000


def split_into_chunks(
    sentences: Sequence[Sentence],
    *,
    window: int = WINDOW,
    overlap: int = OVERLAP,
    max_tokens: int = MAX_TOKENS,
) -> tuple[Chunk, ...]:
    """Windows of at most `window` sentences and `max_tokens` tokens that share `overlap` sentences.

    Every sentence is in at least one; a sentence longer than the bound is a chunk of its own.
    """
    check_window(window, overlap, max_tokens)
    return tuple(
        Chunk(n, part) for n, part in enumerate(_windows(sentences, window, overlap, max_tokens))
    )


def check_window(window: int, overlap: int, max_tokens: int) -> None:
    """Raise ValueError where the windows could not advance."""
    if window < 1 or not 0 <= overlap < window or max_tokens < 1:
        raise ValueError(
            "expected window ≥ 1, 0 ≤ overlap < window and max_tokens ≥ 1, "
            f"got window={window}, overlap={overlap}, max_tokens={max_tokens}"
        )


def _windows(
    sentences: Sequence[Sentence], window: int, overlap: int, max_tokens: int
) -> Iterator[tuple[Sentence, ...]]:
    start = 0
    while start < len(sentences):
        end = start + 1
        size = tokens_of(sentences[start : start + 1])
        while end < len(sentences) and end - start < window:
            size += tokens_of(sentences[end : end + 1])
            if size > max_tokens:
                break
            end += 1
        yield tuple(sentences[start:end])
        if end == len(sentences):
            return
        start = max(
            end - overlap, start + 1
        )  # a window cut by tokens may be shorter than the overlap
