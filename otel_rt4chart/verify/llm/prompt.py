"""Prompts: instructions from files, and untrusted texts as quoted data."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from typing import Literal, NamedTuple

from otel_rt4chart.core.text import encodable
from otel_rt4chart.verify.core.model import Sentence
from otel_rt4chart.verify.link.chunks import estimate_tokens

_SPACES = re.compile(r"\s+")
_QUOTED_REPLY = 2_000  # characters of an unusable reply that are shown to the model again


class PromptMessage(NamedTuple):
    """One turn of a chat."""

    role: Literal["system", "user", "assistant"]
    text: str


@dataclass(frozen=True, slots=True)
class Prompt:
    """One call; `schema` is the JSON Schema of the reply, `seed` distinguishes votes.

    `asks_odds` for a reply with labels, whose log-probabilities are their confidence.
    """

    messages: tuple[PromptMessage, ...]
    schema_name: str
    schema: Mapping[str, object]
    max_output_tokens: int
    seed: int
    asks_odds: bool = False
    temperature: float = 0.0

    @property
    def input_tokens(self) -> int:
        """An upper estimate of the input tokens."""
        return sum(estimate_tokens(m.text) + 4 for m in self.messages)

    @property
    def tokens(self) -> int:
        """An upper estimate of all tokens that the call may use."""
        return self.input_tokens + self.max_output_tokens

    def again(self, reply: str, complaint: str) -> Prompt:
        """The same chat, continued by the reply and a complaint about it."""
        refused = PromptMessage("assistant", encodable(reply)[:_QUOTED_REPLY])
        return replace(self, messages=(*self.messages, refused, PromptMessage("user", complaint)))


LabelSet = Literal["three", "two"]


@cache
def instructions(name: str, labels: LabelSet = "three") -> str:
    """The text of `prompts/NAME.md`, with the labels' own files in place of `{labels}`.

    With two labels a claim is grounded or not: models that confuse "contradicted" with "baseless"
    agree more with themselves (the prompt card's fallback).
    """
    suffix = "" if labels == "three" else "_two"
    found = template(name)
    for place in ("labels", "card_labels"):
        if f"{{{place}}}" in found:
            found = found.replace(f"{{{place}}}", template(place + suffix))
    if suffix:
        found = found.replace('"entailed"', '"grounded"').replace('"baseless"', '"not_grounded"')
        found = found.replace('"supported"', '"grounded"')
    return found


@cache
def template(name: str) -> str:
    """A prompt file without its first line, which is its version."""
    text = files(__package__).joinpath(f"prompts/{name}.md").read_text("utf-8")
    return text.partition("\n")[2].strip()


@cache
def version(name: str) -> str:
    """The version in the first line of a prompt file."""
    text = files(__package__).joinpath(f"prompts/{name}.md").read_text("utf-8")
    return text.partition("\n")[0].removeprefix("version:").strip()


def labels_mark(labels: LabelSet) -> str:
    """What a judge's id says of its labels: nothing of the three of the paper."""
    return f"-two{version('labels_two')}" if labels == "two" else ""


def quoted(text: str) -> str:
    """The text as one JSON string on one line, so that it cannot close its own quotes."""
    return json.dumps(_SPACES.sub(" ", encodable(text)).strip(), ensure_ascii=False)


def quoted_lines(text: str) -> str:
    """The text as one JSON string that keeps its lines: their breaks are escaped."""
    return json.dumps(encodable(text).strip(), ensure_ascii=False)


def numbered(texts: Iterable[str]) -> str:
    """One quoted text a line, numbered from 1."""
    return "\n".join(f"{number}. {quoted(text)}" for number, text in enumerate(texts, start=1))


def passages(sentences: Sequence[Sentence]) -> str:
    """The sentences, numbered from 1, under the quoted names of their passages."""
    lines: list[str] = []
    before = None
    for number, sentence in enumerate(sentences, start=1):
        if sentence.passage_id != before:
            lines.append(f"Passage {quoted(sentence.passage_id)}:")
            before = sentence.passage_id
        lines.append(f"{number}. {quoted(sentence.reading)}")
    return "\n".join(lines)


def passages_text(sentences: Sequence[Sentence], question: str = "") -> str:
    """The beginning of every prompt about passages, shared so that providers can cache it."""
    asked = f"Question: {quoted(question)}\n\n" if question else ""
    return f"Passages, sentence by sentence:\n{passages(sentences)}\n\n{asked}"
