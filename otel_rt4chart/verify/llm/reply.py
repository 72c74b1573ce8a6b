"""What a model answered, as objects: JSON where it is JSON, what can be saved where it is not."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from otel_rt4chart.verify.model import Label

_LABELS = {
    Label.ENTAILED: "entailed entailment entails supported supports support yes true",
    Label.CONTRADICTED: "contradicted contradiction contradicts refuted refutes conflict false",
    Label.BASELESS: "baseless unsupported neutral nic not_in_context not_supported notenoughinfo "
    "not_enough_info none unverifiable",
}
_BY_WORD = {word: label for label, words in _LABELS.items() for word in words.split()}
_START = re.compile(r"[{\[]")
_MAX_OBJECTS = 2_000


def objects(text: str, key: str) -> list[Mapping[str, Any]]:
    """The objects of the list under `key`, wherever in the reply it stands.

    Prose and code fences around it, a bare list, and a reply that breaks off in the middle are
    all read; what is no object is left out.
    """
    decoder = json.JSONDecoder()
    found: list[Mapping[str, Any]] = []
    at = 0
    while (start := _START.search(text, at)) and len(found) < _MAX_OBJECTS:
        try:
            value, at = decoder.raw_decode(text, start.start())
        except (ValueError, RecursionError):
            at = start.end()
            continue
        found.extend(_items(value, key))
    return found


def _items(value: object, key: str) -> Iterator[Mapping[str, Any]]:
    if isinstance(value, dict) and isinstance(value.get(key), list):
        value = value[key]
    if isinstance(value, list):
        yield from (item for item in value if isinstance(item, dict))
    elif isinstance(value, dict):
        yield value


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
    if isinstance(value, str) and (
        match := re.fullmatch(r"\W*[a-zA-Z]{0,8}\W*(\d{1,6})\W*", value)
    ):
        return int(match.group(1))
    return None


def numbers_of(value: object) -> tuple[int, ...]:
    """A list of numbers, each once; a single one counts as a list, anything else is left out."""
    listed: Sequence[object] = value if isinstance(value, list) else [value]
    found = (number_of(one) for one in listed)
    return tuple(dict.fromkeys(number for number in found if number is not None))
