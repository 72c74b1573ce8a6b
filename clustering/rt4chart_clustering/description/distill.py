"""A failure in one phrase of a model, without its names and numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from otel_rt4chart.verify.llm.prompt import Prompt, quoted
from rt4chart_clustering.description.phrase import (
    Writer,
    build_prompt,
    is_bare,
    schema_of,
    shortened,
)

LONGEST, WORDS = 120, range(3, 17)
_TOKENS = 80
_SCHEMA = schema_of("phrase")


@dataclass(frozen=True, slots=True)
class Failing:
    """What a model is told of a failure."""

    claim: str
    label: str
    beside: tuple[str, ...]


def distill(writer: Writer, failing: Sequence[Failing]) -> list[str]:
    """One phrase a failure; "" where the template has to do, be it that the phrase told a name."""

    def read(at: int, reply: Mapping[str, object]) -> Mapping[str, str] | None:
        phrase = _line(reply.get("phrase"))
        return {"phrase": phrase} if is_phrase(phrase, failing[at]) else None

    found = writer.ask([_prompt(one) for one in failing], read)
    return [one.get("phrase", "") for one in found]


def is_phrase(text: str, one: Failing) -> bool:
    """True for some words in a line that tell nothing of the claim and its evidence themselves."""
    fits = len(text) <= LONGEST and len(text.split()) in WORDS
    return fits and is_bare(text, (one.claim, *one.beside))


def _line(value: object) -> str:
    return value.strip().rstrip(".") if isinstance(value, str) else ""


def _prompt(one: Failing) -> Prompt:
    beside = "\n".join(quoted(shortened(text)) for text in one.beside[:3]) or "nothing like it"
    told = f"Claim: {quoted(shortened(one.claim))}\nLabel: {one.label}\nThe source:\n{beside}"
    return build_prompt("distill", told, _SCHEMA, tokens=_TOKENS)
