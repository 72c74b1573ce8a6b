"""Model replies as objects: their JSON Schemas, tolerant parsing, and checks of each entry."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, get_args

from otel_rt4chart.verify.core.model import ClaimKind, Label
from otel_rt4chart.verify.llm.ask import Readings
from otel_rt4chart.verify.llm.prompt import Message, Prompt, instructions, quoted

_LABELS = {
    Label.ENTAILED: "entailed entailment entails supported supports support yes true",
    Label.CONTRADICTED: "contradicted contradiction contradicts refuted refutes conflict false",
    Label.BASELESS: "baseless unsupported neutral nic not_in_context not_supported notenoughinfo "
    "not_enough_info none unverifiable",
}
_BY_WORD = {word: label for label, words in _LABELS.items() for word in words.split()}
_DECODER = json.JSONDecoder()
_START = re.compile(r"[{\[]")
_MOST_STARTS = 2_000  # places where a reply is tried to be read as JSON
_MOST_WASTED = 1_000_000  # characters that were read in vain
_LONGEST_NUMBER = 32


class Listed(NamedTuple):
    """The entries that a reply lists; `is_whole` where it says all that it set out to say."""

    items: list[Mapping[str, Any]]
    is_whole: bool


def objects(text: str, key: str) -> list[Mapping[str, Any]]:
    """The objects of the last list under `key`, wherever in the reply it stands."""
    return listed(text, key).items


def listed(text: str, key: str, *, is_cut: bool = False) -> Listed:
    """The objects of the last list under `key`: what a model drafts before does not count.

    Prose and code fences around it and a bare list are read too. Only where no list is whole, its
    objects count one by one. `is_cut` says that the reply ran into its limit: where it had gone on
    after a whole list, that was not its last word.
    """
    openings = [match.end() for match in re.finditer(rf'"{key}"\s*:\s*(?=\[)', text)]
    opening = openings[-1] if openings else -1
    last: tuple[int, list[object]] | None = None
    parts: list[Mapping[str, Any]] = []
    is_torn = is_cut
    for start, end, value in _values(text, max(opening, 0)):
        if isinstance(value, dict):
            parts.append(value)
        elif not isinstance(value, list):
            is_torn = True
        elif start == opening or (
            (last or opening < 0) and any(isinstance(one, dict) for one in value)
        ):
            last = end, value
    if last is None:
        return Listed(parts, is_whole=bool(parts) and not is_torn)
    end, items = last
    if is_cut and re.search(r"\w", text[end:]):
        return Listed([], is_whole=False)
    found: list[Mapping[str, Any]] = [one for one in items if isinstance(one, dict)]
    return Listed(found, is_whole=len(found) == len(items))


def _values(text: str, at: int) -> Iterator[tuple[int, int, object]]:
    """Each object and list from `at` on, with its range; None for what cannot be read as one."""
    wasted = 0
    for _ in range(_MOST_STARTS):
        if (found := _START.search(text, at)) is None:
            return
        start, at = found.span()
        value: object = None
        try:
            value, at = _DECODER.raw_decode(text, start)
        except json.JSONDecodeError as error:
            wasted += error.pos - start
        except (ValueError, RecursionError):  # a number or a nesting that no reply needs
            wasted = _MOST_WASTED
        yield start, at, value
        if wasted >= _MOST_WASTED:
            return


def label_of(value: object) -> Label | None:
    """The label a model meant, in its own words; None where it is none."""
    if not isinstance(value, str):
        return None
    return _BY_WORD.get(re.sub(r"[\s-]+", "_", value.strip().lower().strip(".\"'")))


def number_of(value: object) -> int | None:
    """A number that may be written as text, such as "3", "[3]" or "s3"."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, str) and len(value) <= _LONGEST_NUMBER:
        match = re.fullmatch(r"\W*[a-zA-Z]{0,8}\W*(\d{1,6})\W*", value)
        return int(match.group(1)) if match else None
    return None


def numbers_of(value: object) -> tuple[int, ...]:
    """A list of numbers, each once; a single one counts as a list, anything else is left out."""
    listed: Sequence[object] = value if isinstance(value, list) else [value]
    found = (number_of(one) for one in listed)
    return tuple(dict.fromkeys(number for number in found if number is not None))


_INTEGER = {"type": "integer"}
_TEXT = {"type": "string"}
_KIND = {"type": "string", "enum": list(get_args(ClaimKind))}
_LABEL = {"type": "string", "enum": ["entailed", "contradicted", "baseless"]}
_NUMBERS = {"type": "array", "items": _INTEGER}
_SPLIT = {"sentence": _INTEGER, "claim": _TEXT, "type": _KIND, "is_claim": {"type": "boolean"}}
_JUDGED = {"label": _LABEL, "sentences": _NUMBERS, "claimed": _TEXT, "found": _TEXT}


class Schema(NamedTuple):
    """A schema with the name under which an endpoint caches it."""

    name: str
    json: Mapping[str, Any]


def _list(key: str, properties: Mapping[str, Any]) -> Schema:
    item = _object(properties)
    return Schema(f"rt4chart_{key}", _object({key: {"type": "array", "items": item}}))


def _object(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


CLAIMS = _list("claims", _SPLIT)
WHOLE = _list("claims", {"claim": _TEXT, "type": _KIND})
VERDICTS = _list("verdicts", {"claim": _INTEGER, **_JUDGED})
PICKS = _list("verdicts", {"claim": _INTEGER, "sentences": _NUMBERS})
AUDIT = _list("claims", {**_SPLIT, **_JUDGED})


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
