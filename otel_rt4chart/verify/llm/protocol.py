"""The OpenAI protocol and its dialects: accepted parameters, and the contents of replies."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

from otel_rt4chart.verify.link.chunks import estimate_tokens
from otel_rt4chart.verify.llm.conversation import Completion, TokenOdds
from otel_rt4chart.verify.llm.prompt import Prompt


class Embeddings(NamedTuple):
    """One vector for each text, and their tokens; `is_estimated` if the endpoint reports none."""

    vectors: list[list[float]]
    tokens: int
    is_estimated: bool


def completion_from(response: Any, prompt: Prompt) -> Completion:  # noqa: ANN401 - it may send anything
    """The first choice, with the tokens that the endpoint reports, else an estimate."""
    try:
        choice = response.choices[0]
        content, refusal = choice.message.content, getattr(choice.message, "refusal", None)
        reason = choice.finish_reason
    except (AttributeError, IndexError, KeyError, TypeError) as error:
        raise ValueError(f"expected choices[0].message, got {str(response)[:80]!r}") from error
    if not isinstance(content, str | None) or (content is None and not refusal):
        raise ValueError(f"expected a message of text, got {type(content).__name__}")
    usage = getattr(response, "usage", None)
    input_tokens = _count(usage, "prompt_tokens")
    output_tokens = _count(usage, "completion_tokens")
    is_estimated = input_tokens == 0
    if is_estimated:
        input_tokens = prompt.input_tokens
        output_tokens = output_tokens or estimate_tokens(content or "")
    return Completion(
        content or "",
        input_tokens,
        _count(getattr(usage, "prompt_tokens_details", None), "cached_tokens"),
        output_tokens,
        is_cut=reason == "length",
        refusal=str(refusal) if refusal else "",
        is_estimated=is_estimated,
        tokens=_tokens(choice),
    )


def _tokens(choice: object) -> tuple[TokenOdds, ...]:
    """The tokens with their log-probabilities; none where one of them lacks it."""
    told = getattr(getattr(choice, "logprobs", None), "content", None)
    found = [
        TokenOdds(token, float(logprob))
        for one in (told if isinstance(told, list) else [])
        if (token := _token_bytes(one)) is not None
        and isinstance(logprob := getattr(one, "logprob", None), int | float)
        and math.isfinite(logprob)
    ]
    return tuple(found) if isinstance(told, list) and len(found) == len(told) else ()


def _token_bytes(told: object) -> bytes | None:
    """A token's bytes, where the endpoint lists them: it may be a part of a character."""
    token, listed = getattr(told, "token", None), getattr(told, "bytes", None)
    if isinstance(listed, list):
        with suppress(ValueError, TypeError):
            return bytes(listed)
    return token.encode(errors="surrogatepass") if isinstance(token, str) else None


def embeddings_from(response: Any, texts: Sequence[str]) -> Embeddings:  # noqa: ANN401
    """One vector for each text, in the order of the texts."""
    try:
        vectors = [[float(value) for value in one.embedding] for one in response.data]
    except (AttributeError, TypeError) as error:
        raise ValueError("expected data[].embedding") from error
    if len(vectors) != len(texts):
        raise ValueError(f"expected {len(texts)} vectors, got {len(vectors)}")
    used = _count(getattr(response, "usage", None), "prompt_tokens")
    return Embeddings(vectors, used or tokens_in(texts), used == 0)


def tokens_in(texts: Sequence[str]) -> int:
    """An upper estimate of the tokens of these texts."""
    return sum(map(estimate_tokens, texts))


_MAX_COUNT = 10**9  # no reply has more tokens, and the database's columns hold four times as many


def _count(usage: object, name: str) -> int:
    """The number of tokens that the endpoint reports; 0, as if it did not, for what is none."""
    value = getattr(usage, name, None)
    return value if isinstance(value, int) and 0 <= value <= _MAX_COUNT else 0


Format = Literal["json_schema", "json_object", "none"]
_LESS: dict[Format, Format] = {"json_schema": "json_object", "json_object": "none"}
_FORMATS = {"response_format", "json_schema", "json_object"}
_NAMES = re.compile(
    r"\b(?:max_tokens|max_completion_tokens|temperature|seed|logprobs|top_logprobs|response_format"
    r"|json_schema|json_object)\b"
)
_TOO_LONG = re.compile(r"context.?(?:length|window|size)|too (?:long|large)")
# Refusals of the text itself, even if they name a parameter: the next attempt would fail too.
_FINAL = re.compile(rf"{_TOO_LONG.pattern}|content.?(?:filter|management|policy)|filtered")


@dataclass(frozen=True, slots=True)
class Dialect:
    """The parameters that an endpoint has not refused; at first all of them."""

    format: Format = "json_schema"
    limit: Literal["max_tokens", "max_completion_tokens", ""] = "max_tokens"
    has_temperature: bool = True
    has_seed: bool = True
    has_logprobs: bool = True
    has_top_logprobs: bool = True

    def parameters(self, prompt: Prompt) -> dict[str, Any]:
        """The parameters of a call, except the model."""
        sent: dict[str, Any] = {
            "messages": [{"role": m.role, "content": m.text} for m in prompt.messages]
        }
        if self.has_temperature:
            sent["temperature"] = prompt.temperature
        if self.has_seed:
            sent["seed"] = prompt.seed
        if self.has_logprobs and prompt.asks_odds:
            sent["logprobs"] = True
            if self.has_top_logprobs:
                # Some servers tell twenty alternatives of each token unless fewer are asked for:
                # forty times the reply itself.
                sent["top_logprobs"] = 1
        if self.limit:
            sent[self.limit] = prompt.max_output_tokens
        if self.format == "json_object":
            sent["response_format"] = {"type": "json_object"}
        elif self.format == "json_schema":
            schema = {"name": prompt.schema_name, "schema": prompt.schema, "strict": True}
            sent["response_format"] = {"type": "json_schema", "json_schema": schema}
        return sent

    def without(
        self, message: str, param: object = None, *, sends_logprobs: bool = False
    ) -> Dialect | None:
        """The dialect without what a 400 or 422 refuses; None where that would not help.

        The message must name a parameter that was sent. One that names none may mean the
        log-probabilities, or else the format of the reply: these are then left out.
        """
        text = message.lower()
        if is_final(text):
            return None
        if isinstance(param, str) and param:
            named = set(_NAMES.findall(param.lower()))
            if not named:
                return None
        else:
            named = set(_NAMES.findall(text))
        if not named:
            if self.has_logprobs and sends_logprobs:
                return replace(self, has_logprobs=False)
            return replace(self, format="none") if self.format != "none" else None
        return self._less(named, is_renamed="max_completion_tokens" in text)

    def _less(self, named: set[str], *, is_renamed: bool) -> Dialect | None:
        """Without the first of the named parameters that is still sent."""
        if "max_tokens" in named and self.limit == "max_tokens":
            return replace(self, limit="max_completion_tokens" if is_renamed else "")
        if "max_completion_tokens" in named and self.limit:
            return replace(self, limit="")
        if "temperature" in named and self.has_temperature:
            return replace(self, has_temperature=False)
        if "top_logprobs" in named and self.has_logprobs and self.has_top_logprobs:
            return replace(self, has_top_logprobs=False)
        if "logprobs" in named and self.has_logprobs:
            return replace(self, has_logprobs=False)
        if "seed" in named and self.has_seed:
            return replace(self, has_seed=False)
        if named & _FORMATS and self.format != "none":
            return replace(self, format=_LESS[self.format])
        return None


def is_final(message: str) -> bool:
    """True where an endpoint refuses the text itself, for its length or its content."""
    return _FINAL.search(message.lower()) is not None


def is_too_long(message: str) -> bool:
    """True where an endpoint refuses a text that does not fit its model's context."""
    return _TOO_LONG.search(message.lower()) is not None
