"""The passages' words that refute a marked span: annotators' quotations, and where they stand."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from otel_rt4chart.core.text import find_phrase
from otel_rt4chart.verify.core.model import Passage

# RAGTruth's annotators give the source's words in a note: "Original: …" beside "Generated: …".
_NOTE = re.compile(
    r"^[ \t]*original[^:\n]{0,20}:[ \t]*(.+?)(?=^[ \t]*(?:aigc|generat\w*)[^:\n]{0,20}:|\Z)",
    re.IGNORECASE | re.MULTILINE | re.DOTALL,
)
_GAP = re.compile(r"\.{3,}|…|\[\.\.\.\]")
_QUOTES = " \t\r\n\"'“”‘’`"
_SHORTEST = 3  # characters of a quotation that can be found only where it is meant


class PassageRange(NamedTuple):
    """Characters of a passage: `passage.text[start:end]`."""

    passage_id: str
    start: int
    end: int


def evidence_quotes(label: Mapping[str, object]) -> tuple[str, ...] | None:
    """The quotations of a label's `evidence`, or of RAGTruth's note in `meta`; None if malformed.

    `evidence` is a text, or a list of texts or of objects with a `text`.
    """
    given = label.get("evidence")
    if given is None:
        note = label.get("meta")
        return tuple(_noted(note)) if isinstance(note, str) else ()
    listed = given if isinstance(given, list) else [given]
    texts = [one.get("text") if isinstance(one, dict) else one for one in listed]
    quotes = tuple(text for text in texts if isinstance(text, str))
    return quotes if len(quotes) == len(texts) else None


def _noted(note: str) -> Iterator[str]:
    for found in _NOTE.finditer(note):
        if "not mentioned" not in found.group(1).lower():
            yield found.group(1).strip()


def locate_quotes(
    quotes: Sequence[str], passages: Sequence[Passage]
) -> tuple[PassageRange, ...] | None:
    """Where the passages say these quotations; None unless each of them is found.

    Case, spaces and the quotation's own marks do not matter; what an ellipsis joins is found part
    by part.
    """
    found: list[PassageRange] = []
    for quote in quotes:
        parts = [part.strip(_QUOTES) for part in _GAP.split(quote)]
        ranges = [_located(part, passages) for part in parts if len(part) >= _SHORTEST]
        if not ranges or None in ranges:
            return None
        found += [one for one in ranges if one is not None]
    return tuple(found) or None


def _located(words: str, passages: Sequence[Passage]) -> PassageRange | None:
    sought = " ".join(words.lower().split())
    for passage in passages:
        folded = _Folded.of(passage.text)
        if (at := find_phrase(folded.text, sought)) >= 0:
            end = folded.places[at + len(sought) - 1] + 1
            return PassageRange(passage.id, folded.places[at], end)
    return None


class _Folded(NamedTuple):
    """A text in lower case with single spaces, and the place of each of its characters."""

    text: str
    places: Sequence[int]

    @classmethod
    def of(cls, text: str) -> _Folded:
        """The folded text; a letter that becomes two in lower case is left as it is."""
        kept = [
            (" " if one.isspace() else one.lower() if len(one.lower()) == 1 else one, at)
            for at, one in enumerate(text)
            if not (one.isspace() and at and text[at - 1].isspace())
        ]
        return cls("".join(one for one, _ in kept), [at for _, at in kept])
