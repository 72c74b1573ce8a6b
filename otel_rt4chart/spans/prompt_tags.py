"""Sections of a prompt between tags: `<context>…</context>`, `<documents><document>…`."""

from __future__ import annotations

import re
from typing import NamedTuple

NAMES = "context|documents?|sources?|passages?|search_results?|excerpts?"
TAG = re.compile(
    rf"<(?P<close>/)?(?P<name>(?:retrieved_)?(?:{NAMES}))(?:[ \t\n][^<>]{{0,300}})?>", re.IGNORECASE
)
# Where a document has parts, its text is in one of these.
TEXT = re.compile(r"<(document_content|page_content|content|text)>", re.IGNORECASE)
# What stands between two tags that are only spoken of, and what a template has before it is filled.
EMPTY = re.compile(r"\W*(?:and|or)?\W*|\W*\{+[^{}\n]{0,80}\}+\W*", re.IGNORECASE)
MAX_DEPTH = 20


class Element(NamedTuple):
    """A closed tag: where its text is, and how many closed ones stand around it."""

    name: str
    outer: int
    start: int
    end: int


def tagged(text: str) -> list[str]:
    """The texts between tags: those of the documents in a section, else the whole section.

    A tag that is opened and never closed is spoken of, not used.
    """
    elements = _elements(text)
    found: list[str] = []
    last = -1
    for place, one in enumerate(elements):
        if one.outer < last:
            continue
        last = one.end
        inner = _children(elements, place)
        parts = [_content(text[part.start : part.end]) for part in inner or [one]]
        found += [part for part in parts if is_filled(part)]
    return found


def is_filled(text: str) -> bool:
    """True for text that is neither a word between two tags nor a placeholder."""
    return EMPTY.fullmatch(text) is None


def _elements(text: str) -> list[Element]:
    """The closed tags in the order in which they open."""
    opened: list[tuple[str, int, int]] = []
    found: list[Element] = []
    for tag in TAG.finditer(text):
        name = tag["name"].lower()
        if not tag["close"]:
            opened = [*opened[-MAX_DEPTH:], (name, tag.start(), tag.end())]
            continue
        place = next((n for n in range(len(opened) - 1, -1, -1) if opened[n][0] == name), None)
        if place is not None:
            found.append(Element(name, opened[place][1], opened[place][2], tag.start()))
            del opened[place:]
    return sorted(found, key=lambda one: one.outer)


def _children(elements: list[Element], place: int) -> list[Element]:
    """The documents of a container: the outermost inside it that are of one name, not a part."""
    whole = elements[place]
    found: list[Element] = []
    # Not a slice: of many sections side by side each would copy all that follow.
    place += 1
    while place < len(elements) and elements[place].outer < whole.end:
        if not found or elements[place].outer >= found[-1].end:
            found.append(elements[place])
        place += 1
    # Of `<document><source>a.pdf</source>…` the source names the document and is not its text.
    return found if whole.name.endswith("s") or "context" in whole.name else []


def _content(text: str) -> str:
    """A document's text without its other parts."""
    opening = TEXT.search(text)
    if opening is None:
        return text.strip()
    closing = text.find(f"</{opening[1]}>", opening.end())
    return text[opening.end() : closing if closing >= 0 else len(text)].strip()
