"""Prompts and replies in the form that all tasks share."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, get_args

from otel_rt4chart.verify.llm.ask import Readings
from otel_rt4chart.verify.llm.prompt import Message, Prompt, instructions, quoted
from otel_rt4chart.verify.llm.reply import label_of, number_of, numbers_of, objects
from otel_rt4chart.verify.llm.schemas import Schema
from otel_rt4chart.verify.model import ClaimKind, Label

SEED = 42
Reader = Callable[[Mapping[str, Any], int], object]  # a value, or what is wrong as a str
_KINDS = frozenset(get_args(ClaimKind))
_REPLY_TOKENS = 400  # what any reply may take beside its entries


def entry_from(item: Mapping[str, Any], claim: str) -> dict[str, Any]:
    """A claim as it is cached."""
    kind = item.get("type")
    return {
        "claim": " ".join(claim.split()),
        "type": kind if kind in _KINDS else "attribute",
        "is_claim": item.get("is_claim") is not False,
    }


def verdicts_from(text: str, units: Sequence[int], sentences: int, read: Reader) -> Readings:
    """One value a claim, by its number, or by its place where no entry has one."""
    items = objects(text, "verdicts")
    told = [number_of(item.get("claim")) for item in items]
    if not any(told) and len(items) == len(units):
        told = [unit + 1 for unit in units]
    found: dict[int, Any] = {}
    problems: list[str] = []
    for number, item in zip(told, items, strict=True):
        unit = -1 if number is None else number - 1
        if unit not in units or unit in found:
            continue
        value = read(item, sentences)
        if isinstance(value, str):
            problems.append(f"claim {number}: {value}")
        else:
            found[unit] = value
    lacking = [str(unit + 1) for unit in units if unit not in found]
    if lacking:
        problems.append(f"verdicts are missing for the claims {', '.join(lacking)}")
    return Readings(found, tuple(problems))


def verdict_from(item: Mapping[str, Any], sentences: int) -> dict[str, Any] | str:
    """A verdict as it is cached; what is wrong with it, as a sentence."""
    label = label_of(item.get("label"))
    if label is None:
        return f"the label {quoted(str(item.get('label')))} is none of the three"
    known = [] if label is Label.BASELESS else _known(item, sentences)
    claimed, against = item.get("claimed"), item.get("found")
    return {
        "label": label.value,
        "sentences": known,
        "claimed": claimed if isinstance(claimed, str) else "",
        "found": against if isinstance(against, str) else "",
    }


def picked_from(item: Mapping[str, Any], sentences: int) -> list[int]:
    """A selection as it is cached."""
    return _known(item, sentences)


def _known(item: Mapping[str, Any], sentences: int) -> list[int]:
    return [n for n in numbers_of(item.get("sentences")) if 1 <= n <= sentences]


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
