"""Texts compared as people see them: without regard to white space or to JSON's escapes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from otel_rt4chart.spans.model import values

# So much of a passage tells it from every other one.
HEAD = 200
ESCAPES = (("\\n", " "), ("\\r", " "), ("\\t", " "), ('\\"', '"'))


def plain(text: str) -> str:
    """The text with single spaces, JSON's escapes of white space and quotation marks undone."""
    if "\\" in text:
        for escape, meant in ESCAPES:
            text = text.replace(escape, meant)
    return " ".join(text.split())


def head(text: str) -> str:
    """The beginning of a plain text, by which a passage is found in a prompt."""
    return plain(text[: 4 * HEAD])[:HEAD].rstrip()


def is_data(text: str) -> bool:
    """True for JSON: what the reader could not open further was not said to or by anyone."""
    return isinstance(values.opened(text).value, Mapping | list)


def first_text(texts: Iterable[str]) -> str:
    """The first that is not empty."""
    return next(filter(None, texts), "")
