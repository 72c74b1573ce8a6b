"""Sliding windows of context sentences for local verification (RT4CHART section 2)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from otel_rt4chart.verify.model import Chunk, Sentence

# The paper's best of six settings, and a bound that any judge's input limit leaves room for.
WINDOW, OVERLAP, MAX_CHARS = 25, 10, 24_000


def chunk(
    sentences: Sequence[Sentence],
    *,
    window: int = WINDOW,
    overlap: int = OVERLAP,
    max_chars: int = MAX_CHARS,
) -> tuple[Chunk, ...]:
    """Windows of at most `window` sentences and `max_chars` characters, each sharing `overlap`.

    Every sentence is in one at least; a sentence longer than the bound is a chunk of its own.
    """
    check(window, overlap, max_chars)
    return tuple(
        Chunk(n, part) for n, part in enumerate(_windows(sentences, window, overlap, max_chars))
    )


def check(window: int, overlap: int, max_chars: int) -> None:
    """Raise ValueError where the windows could not move on."""
    if window < 1 or not 0 <= overlap < window or max_chars < 1:
        raise ValueError(
            "expected window ≥ 1, 0 ≤ overlap < window and max_chars ≥ 1, "
            f"got window={window}, overlap={overlap}, max_chars={max_chars}"
        )


def _windows(
    sentences: Sequence[Sentence], window: int, overlap: int, max_chars: int
) -> Iterator[tuple[Sentence, ...]]:
    start = 0
    while start < len(sentences):
        end = start + 1
        size = len(sentences[start].text)
        while end < len(sentences) and end - start < window:
            size += len(sentences[end].text)
            if size > max_chars:
                break
            end += 1
        yield tuple(sentences[start:end])
        if end == len(sentences):
            return
        start = max(end - overlap, start + 1)
