"""What a model answered, as objects: JSON where it is JSON, what can be saved where it is not."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from otel_rt4chart.verify.model import Label

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
