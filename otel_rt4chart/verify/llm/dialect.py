"""What an endpoint understands: OpenAI's protocol is spoken with different words."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

from otel_rt4chart.verify.llm.prompt import Prompt

Format = Literal["json_schema", "json_object", "none"]
_LESS: dict[Format, Format] = {"json_schema": "json_object", "json_object": "none"}


@dataclass(frozen=True, slots=True)
class Dialect:
    """The parameters that an endpoint has not refused yet; it starts with all of them."""

    format: Format = "json_schema"
    limit: Literal["max_tokens", "max_completion_tokens", ""] = "max_tokens"
    has_temperature: bool = True
    has_seed: bool = True

    def parameters(self, prompt: Prompt) -> dict[str, Any]:
        """The call's parameters beside the model."""
        told: dict[str, Any] = {
            "messages": [{"role": m.role, "content": m.text} for m in prompt.messages]
        }
        if self.has_temperature:
            told["temperature"] = 0
        if self.has_seed:
            told["seed"] = prompt.seed
        if self.limit:
            told[self.limit] = prompt.max_output_tokens
        if self.format == "json_object":
            told["response_format"] = {"type": "json_object"}
        elif self.format == "json_schema":
            schema = {"name": prompt.schema_name, "schema": prompt.schema, "strict": True}
            told["response_format"] = {"type": "json_schema", "json_schema": schema}
        return told

    def without(self, refused: str) -> Dialect | None:
        """The dialect less what an error message names; None where it names nothing of ours.

        The message of a 400 or 422 that names no parameter is taken to mean the reply's format.
        """
        said = refused.lower()
        if "max_tokens" in said and self.limit == "max_tokens":
            newer = "max_completion_tokens" in said
            return replace(self, limit="max_completion_tokens" if newer else "")
        if "max_completion_tokens" in said and self.limit:
            return replace(self, limit="")
        if "temperature" in said and self.has_temperature:
            return replace(self, has_temperature=False)
        if "seed" in said and self.has_seed:
            return replace(self, has_seed=False)
        if _is_too_long(said) or self.format == "none":
            return None
        return replace(self, format=_LESS[self.format])


def _is_too_long(said: str) -> bool:
    return "context length" in said or "context_length" in said or "too long" in said
