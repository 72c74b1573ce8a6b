"""Replies of an endpoint as values; whatever it sends, a ValueError says what was expected."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from otel_rt4chart.verify.llm.ask import Completion
from otel_rt4chart.verify.llm.prompt import Prompt
from otel_rt4chart.verify.size import estimate_tokens


class Embeddings(NamedTuple):
    """One vector a text, and what they took; `is_estimated` where the endpoint did not say."""

    vectors: list[list[float]]
    tokens: int
    is_estimated: bool


def completion_from(told: Any, prompt: Prompt) -> Completion:  # noqa: ANN401 - it may send anything
    """The first choice, with the tokens that the endpoint counted, or an estimate of them."""
    try:
        choice = told.choices[0]
        content, refusal = choice.message.content, getattr(choice.message, "refusal", None)
        reason = choice.finish_reason
    except (AttributeError, IndexError, KeyError, TypeError) as error:
        raise ValueError(f"expected choices[0].message, got {str(told)[:80]!r}") from error
    if not isinstance(content, str | None) or (content is None and not refusal):
        raise ValueError(f"expected a message of text, got {type(content).__name__}")
    usage = getattr(told, "usage", None)
    given, made = _count(usage, "prompt_tokens"), _count(usage, "completion_tokens")
    is_estimated = given == 0
    if is_estimated:
        given, made = prompt.input_tokens, made or estimate_tokens(content or "")
    return Completion(
        content or "",
        given,
        _count(getattr(usage, "prompt_tokens_details", None), "cached_tokens"),
        made,
        is_cut=reason == "length",
        refusal=str(refusal) if refusal else "",
        is_estimated=is_estimated,
    )


def embeddings_from(told: Any, texts: Sequence[str]) -> Embeddings:  # noqa: ANN401
    """One vector a text, in the texts' order."""
    try:
        vectors = [[float(value) for value in one.embedding] for one in told.data]
    except (AttributeError, TypeError) as error:
        raise ValueError("expected data[].embedding") from error
    if len(vectors) != len(texts):
        raise ValueError(f"expected {len(texts)} vectors, got {len(vectors)}")
    used = _count(getattr(told, "usage", None), "prompt_tokens")
    return Embeddings(vectors, used or tokens_in(texts), used == 0)


def tokens_in(texts: Sequence[str]) -> int:
    """An upper estimate of what these texts are for an embedding model."""
    return sum(map(estimate_tokens, texts))


def _count(usage: object, name: str) -> int:
    value = getattr(usage, name, None)
    return value if isinstance(value, int) and value >= 0 else 0
