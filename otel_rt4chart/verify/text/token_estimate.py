"""How long a text is for a model, without its tokenizer."""

from __future__ import annotations

from collections.abc import Iterable

from otel_rt4chart.verify.core.model import Sentence

# UTF-8 bytes a token: English has about four, Chinese about three; the lower one is the safe one.
_BYTES = 3


def estimate_tokens(text: str) -> int:
    """An upper estimate of a text's tokens, good for any script."""
    return -(-len(text.encode("utf-8", "replace")) // _BYTES)


def tokens_of(sentences: Iterable[Sentence]) -> int:
    """The estimate over what a judge reads of the sentences, with a few tokens for each number."""
    return sum(estimate_tokens(sentence.reading) + 4 for sentence in sentences)
