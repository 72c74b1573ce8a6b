"""Questions of the rivals to an endpoint: JSON replies of one object, counted and charged."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

from otel_rt4chart.core.errors import JudgeError
from otel_rt4chart.verify.core.meter import Meter
from otel_rt4chart.verify.core.model import Passage
from otel_rt4chart.verify.core.steps import run_steps
from otel_rt4chart.verify.llm.conversation import (
    Dialogue,
    PromptSender,
    UnusableReplyError,
    answer_all,
)
from otel_rt4chart.verify.llm.prices import PRICES, Price
from otel_rt4chart.verify.llm.prompt import Prompt, PromptMessage, quoted, quoted_lines

SEED = 42
_DECODER = json.JSONDecoder()
_MOST_STARTS = 100  # positions at which an object is looked for


class Asker:
    """Sends prompts to one endpoint and reads the object of each reply."""

    def __init__(self, endpoint: PromptSender, prices: Mapping[str, Price] = PRICES) -> None:
        """The endpoint stays its creator's to close."""
        self._endpoint = endpoint
        self._price = prices.get(endpoint.model)

    @property
    def model(self) -> str:
        """The model's name at the endpoint."""
        return self._endpoint.model

    def objects(self, prompts: Sequence[Prompt], meter: Meter) -> list[dict[str, Any] | JudgeError]:
        """The object of each reply in order, or why there is none; blocks until all are there."""
        replies = run_steps(
            answer_all(
                prompts,
                [[_dialogue(prompt)] for prompt in prompts],
                lambda _, values: values,
                meter,
                self._price,
            ),
            self._endpoint.send,
        )
        return [values[0] for values in replies if isinstance(values, list)]

    def object(self, prompt: Prompt, meter: Meter) -> dict[str, Any]:
        """The object of the reply; JudgeError where there is none."""
        (found,) = self.objects([prompt], meter)
        if isinstance(found, JudgeError):
            raise found
        return found


def _dialogue(prompt: Prompt) -> Dialogue[list[Any]]:
    try:
        completion = yield prompt
    except JudgeError as error:
        return [error]
    if completion.refusal:
        return [JudgeError(f"the model refused: {completion.refusal[:200]}")]
    found = _object_in(completion.text)
    cut = "cut at its output limit" if completion.is_cut else "not usable: no JSON object"
    return [UnusableReplyError(f"the model's reply was {cut}") if found is None else found]


def _object_in(text: str) -> dict[str, Any] | None:
    """The first whole JSON object of a reply, whatever stands around it."""
    at = text.find("{")
    for _ in range(_MOST_STARTS):
        if at < 0:
            return None
        try:
            value, _ = _DECODER.raw_decode(text, at)
        except (ValueError, RecursionError):
            at = text.find("{", at + 1)
            continue
        return value if isinstance(value, dict) else None
    return None


def question(
    name: str,
    material: str,
    schema: Mapping[str, object],
    tokens: int,
    *,
    seed: int = SEED,
    temperature: float = 0.0,
) -> Prompt:
    """The instructions of `prompts/NAME.md`, then the material; `tokens` are those of the reply."""
    turns = (PromptMessage("system", _template(name)), PromptMessage("user", material))
    return Prompt(turns, f"rival_{name}", schema, tokens, seed, temperature=temperature)


def version(name: str) -> str:
    """The version in the first line of a prompt file."""
    return _text(name).partition("\n")[0].removeprefix("version:").strip()


def _template(name: str) -> str:
    return _text(name).partition("\n")[2].strip()


@cache
def _text(name: str) -> str:
    return files(__package__).joinpath(f"prompts/{name}.md").read_text("utf-8")


def passages_material(passages: Sequence[Passage], asked: str) -> str:
    """The passages, each as one quoted text, and the question where there is one."""
    texts = "\n".join(quoted_lines(passage.text) for passage in passages)
    line = f"Question: {quoted(asked)}\n\n" if asked else ""
    return f"Passages:\n{texts}\n\n{line}"


def closed_object(**properties: object) -> dict[str, object]:
    """The JSON Schema of an object with exactly these properties."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


YES, NO, NOT_SURE = "yes", "no", "not_sure"
VOTE = closed_object(verdict={"type": "string", "enum": [YES, NO, NOT_SURE]})
VOTE_TOKENS = 40


def doubt_of(vote: object, *, expected: str = YES) -> float | None:
    """0 for the expected vote, 1 for its opposite, one half for unsure; None for no vote."""
    word = str(vote).strip().lower().replace(" ", "_")
    if word not in (YES, NO, NOT_SURE):
        return None
    return 0.5 if word == NOT_SURE else float(word != expected)


def doubts(replies: Sequence[dict[str, Any] | JudgeError], *, expected: str = YES) -> list[float]:
    """The doubt of each vote; JudgeError where one is missing."""
    found = []
    for reply in replies:
        if isinstance(reply, JudgeError):
            raise reply
        doubt = doubt_of(reply.get("verdict"), expected=expected)
        if doubt is None:
            raise UnusableReplyError("the model's reply was not usable: no yes, no or not_sure")
        found.append(doubt)
    return found
