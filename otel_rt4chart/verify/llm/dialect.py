"""What an endpoint understands: OpenAI's protocol is spoken with different words."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any, Literal

from otel_rt4chart.verify.llm.prompt import Prompt

Format = Literal["json_schema", "json_object", "none"]
_LESS: dict[Format, Format] = {"json_schema": "json_object", "json_object": "none"}
_FORMATS = {"response_format", "json_schema", "json_object"}
_NAMES = re.compile(
    r"\b(?:max_tokens|max_completion_tokens|temperature|seed|response_format|json_schema"
    r"|json_object)\b"
)
# Not about a parameter, whatever else is named: the same text is refused again.
_FINAL = re.compile(
    r"context.?(?:length|window)|too (?:long|large)|content.?(?:filter|management|policy)|filtered"
)


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

    def without(self, message: str, param: object = None) -> Dialect | None:
        """The dialect less what a 400 or 422 refuses; None where the next attempt would fail too.

        It must name a parameter that is sent; one that names none may mean the reply's format,
        which is left out once.
        """
        said = message.lower()
        if is_final(said):
            return None
        if isinstance(param, str) and param:
            named = set(_NAMES.findall(param.lower()))
            if not named:
                return None
        else:
            named = set(_NAMES.findall(said))
        if not named:
            return replace(self, format="none") if self.format != "none" else None
        return self._less(named, is_renamed="max_completion_tokens" in said)

    def _less(self, named: set[str], *, is_renamed: bool) -> Dialect | None:
        """Less the first of the named parameters that is still sent."""
        if "max_tokens" in named and self.limit == "max_tokens":
            return replace(self, limit="max_completion_tokens" if is_renamed else "")
        if "max_completion_tokens" in named and self.limit:
            return replace(self, limit="")
        if "temperature" in named and self.has_temperature:
            return replace(self, has_temperature=False)
        if "seed" in named and self.has_seed:
            return replace(self, has_seed=False)
        if named & _FORMATS and self.format != "none":
            return replace(self, format=_LESS[self.format])
        return None


def is_final(message: str) -> bool:
    """True where an endpoint refuses the text itself: too long, or not to its liking."""
    return _FINAL.search(message.lower()) is not None
