"""Estimates the tokens of a text without the model's tokenizer."""

from __future__ import annotations

from collections.abc import Iterable

from otel_rt4chart.verify.core.model import Sentence

# UTF-8 bytes in one token: about four in English, three in Chinese. The lower number is safe.
_BYTES = 3


def estimate_tokens(text: str) -> int:
    """An upper estimate of a text's tokens, for any script."""
    return -(-len(text.encode("utf-8", "replace")) // _BYTES)


def tokens_of(sentences: Iterable[Sentence]) -> int:
    """An upper estimate for numbered sentences, as judges read them."""
    return sum(estimate_tokens(sentence.reading) + 4 for sentence in sentences)
