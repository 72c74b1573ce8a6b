"""Comparison of texts without regard to white space and JSON escapes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from otel_rt4chart.spans.model.values import parse_json

# This many characters identify a passage.
START_CHARS = 200
ESCAPES = (("\\n", " "), ("\\r", " "), ("\\t", " "), ('\\"', '"'))


def normalize_text(text: str) -> str:
    """The text with single spaces, and JSON escapes of white space and quotation marks undone."""
    if "\\" in text:
        for escape, meant in ESCAPES:
            text = text.replace(escape, meant)
    return " ".join(text.split())


def passage_start(text: str) -> str:
    """The normalised start of a text, by which a passage is found in a prompt."""
    return normalize_text(text[: 4 * START_CHARS])[:START_CHARS].rstrip()


def is_json_structure(text: str) -> bool:
    """True for a JSON object or array: data that nobody said, since no reader found text in it."""
    return isinstance(parse_json(text).value, Mapping | list)


def first_nonempty(texts: Iterable[str]) -> str:
    """The first text that is not empty."""
    return next(filter(None, texts), "")
