"""Prompts and replies in the form that all tasks share."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, get_args

from otel_rt4chart.verify.llm.ask import Readings
from otel_rt4chart.verify.llm.prompt import Message, Prompt, instructions, quoted
from otel_rt4chart.verify.llm.reply import label_of, listed, number_of, numbers_of
from otel_rt4chart.verify.llm.schemas import Schema
from otel_rt4chart.verify.model import ClaimKind, Label

SEED = 42
Reader = Callable[[Mapping[str, Any], int], object]  # a value, or what is wrong as a str
_KINDS = frozenset(get_args(ClaimKind))
FROM_ONE = "claims and sentences are numbered from 1: there is no 0"
_REPLY_TOKENS = 400  # what any reply may take beside its entries


def entry_from(item: Mapping[str, Any], claim: str) -> dict[str, Any]:
    """A claim as it is cached."""
    kind = item.get("type")
    return {
        "claim": " ".join(claim.split()),
        "type": kind if kind in _KINDS else "attribute",
        "is_claim": item.get("is_claim") is not False,
    }


def counts_from_zero(items: Sequence[Mapping[str, Any]], key: str) -> bool:
    """True where a claim, a sentence or its evidence is number 0: all may be one too low.

    What is baseless has no evidence, so its 0 says nothing.
    """
    return any(
        number_of(item.get(key)) == 0
        or (label_of(item.get("label")) is not Label.BASELESS and 0 in _numbers(item))
        for item in items
    )


def verdicts_from(
    text: str, units: Sequence[int], sentences: int, read: Reader, *, is_cut: bool
) -> Readings:
    """One value a claim, by its number, or by its place where no entry has one."""
    items = listed(text, "verdicts", is_cut=is_cut).items
    if counts_from_zero(items, "claim"):
        return Readings({}, (FROM_ONE,))
    told = [number_of(item.get("claim")) for item in items]
    if not any(told) and len(items) == len(units):
        told = [unit + 1 for unit in units]
    found: dict[int, Any] = {}
    problems: list[str] = []
    for number, item in zip(told, items, strict=True):
        unit = -1 if number is None else number - 1
        if unit not in units:
            continue
        value = read(item, sentences)
        if isinstance(value, str):
            problems.append(f"claim {number}: {value}")
        elif found.setdefault(unit, value) != value:
            problems.append(f"claim {number} has two verdicts")
            found[unit] = None
    found = {unit: value for unit, value in found.items() if value is not None}
    lacking = [str(unit + 1) for unit in units if unit not in found]
    if lacking:
        problems.append(f"verdicts are missing for the claims {', '.join(lacking)}")
    return Readings(found, tuple(problems))


def verdict_from(item: Mapping[str, Any], sentences: int) -> dict[str, Any] | str:
    """A verdict as it is cached; what is wrong with it, as a sentence."""
    label = label_of(item.get("label"))
    if label is None:
        told = item.get("label")
        shown = quoted(told[:40]) if isinstance(told, str) else "that is no text"
        return f"the label {shown} is none of the three"
    known = [] if label is Label.BASELESS else _known(item, sentences)
    claimed, against = item.get("claimed"), item.get("found")
    return {
        "label": label.value,
        "sentences": known,
        "claimed": claimed if isinstance(claimed, str) else "",
        "found": against if isinstance(against, str) else "",
    }


def picked_from(item: Mapping[str, Any], sentences: int) -> list[int] | str:
    """A selection as it is cached; what is wrong with it, as a sentence."""
    return _known(item, sentences) if "sentences" in item else "it names no list of sentences"


def _known(item: Mapping[str, Any], sentences: int) -> list[int]:
    return [n for n in _numbers(item) if 1 <= n <= sentences]


def _numbers(item: Mapping[str, Any]) -> tuple[int, ...]:
    return numbers_of(item.get("sentences"))


def build_prompt(
    name: str, user: str, schema: Schema, output_tokens: int, seed: int = SEED
) -> Prompt:
    """The named instructions, then the material; room for the reply's entries and some more."""
    return Prompt(
        (Message("system", instructions(name)), Message("user", user)),
        schema.name,
        schema.json,
        _REPLY_TOKENS + output_tokens,
        seed,
    )
