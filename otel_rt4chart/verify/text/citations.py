"""Finds citations and quotations in a text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

_ID = r"(?:doc(?:ument)?|chunk|source|passage|ref|context|para|p|c|d|s)[\s_.:#-]{0,2}\d{1,6}"
# [2] · [1, 3] · [1-3] · [^2] · 【2†source】 · [doc-3] · (doc-3) · (source: p2) · chunk_id: c4
_BRACKET = re.compile(
    r"(?<!\w)\[(?P<square>[^\[\]\n]{1,80})\](?!\()|【(?P<lens>[^【】\n]{1,80})】"
    rf"|\((?:see\s+|source:?\s*|ref:?\s*)?(?P<round>{_ID}(?:\s*[,;]\s*{_ID}){{0,9}})\)"
    r"|\b(?P<field>chunk_id|doc_id|passage_id|source_id)\s*[=:]\s*[\"']?(?P<value>[\w.:/-]{0,79}\w)",
    re.IGNORECASE,
)
_NUMBERS = re.compile(r"\^?\d{1,3}(?:\s*[,;–-]\s*\^?\d{1,3}){0,9}")
_MAY_CITE = re.compile(r"[\[(【]|_id", re.IGNORECASE)
_ONE = re.compile(rf"{_ID}", re.IGNORECASE)
_RANGE = re.compile(r"(\d{1,3})\s*[–-]\s*(\d{1,3})")
# Straight quotes are paired from the left, also around few words: else the text between two
# quotations would count as one.
_QUOTED = re.compile(r"“([^“”\n]*)”|(?<!\w)\"([^\"\n]*)\"|«([^«»\n]*)»")
_OPENING = '“"«'
_WORDS, _LONGEST = 4, 400  # fewer words in quotes may be a title or irony
_SMALL = re.compile(
    r"(?:an?|and|as|at|by|for|from|into?|nor|of|on|or|the|to|v|versus|vs|with)\W*", re.IGNORECASE
)


class Citation(NamedTuple):
    """`text[start:end]` cites the passage `id`, or the passage at position `number`."""

    start: int
    end: int
    text: str
    id: str
    number: int | None


class Quotation(NamedTuple):
    """Quoted words, `text[start:end]` with their quotation marks."""

    start: int
    end: int
    text: str


def citations(text: str, ids: Sequence[str] = ()) -> tuple[Citation, ...]:
    """The citations of a text in order: brackets with numbers or ids.

    `ids` are the ids of the passages, which may have any form.
    """
    if _MAY_CITE.search(text) is None:
        return ()  # most answers have none, and this is ten times as fast
    known = {name.casefold() for name in ids}
    found: list[Citation] = []
    for match in _BRACKET.finditer(text):
        start, end = match.span()
        if text[start - 1 : start + 1] == "][" and not (found and found[-1].end == start):
            continue  # "[1][2]" cites two, "[text][1]" is a link and "a[0][1]" is code
        found += (Citation(start, end, match.group(), n, _number(n)) for n in _names(match, known))
    return tuple(found)


def may_have_brackets(text: str) -> bool:
    """False if `citations` finds nothing in the text, whatever the ids of the passages are."""
    return _MAY_CITE.search(text) is not None and _BRACKET.search(text) is not None


def quotations(text: str) -> tuple[Quotation, ...]:
    """Quotations of at least four words that are not titles."""
    if not any(mark in text for mark in _OPENING):
        return ()
    return tuple(
        Quotation(match.start(), match.end(), words)
        for match in _QUOTED.finditer(text)
        for words in filter(None, match.groups())
        if len(words) <= _LONGEST and len(words.split()) >= _WORDS and not _is_title(words)
    )


def blank_citations(text: str) -> str:
    """The text with citations replaced by spaces, so that all offsets stay."""
    parts, done = [], 0
    for cited in citations(text) if _MAY_CITE.search(text) else ():
        if cited.start >= done:  # one bracket may name several
            parts += [text[done : cited.start], " " * (cited.end - cited.start)]
            done = cited.end
    return "".join(parts) + text[done:]


def _is_title(words: str) -> bool:
    """True where every word but articles and prepositions is capitalised or a number."""
    lettered = [word.lstrip("'‘(") for word in words.split() if any(map(str.isalnum, word))]
    return (
        any(word[0].isupper() for word in lettered)
        and all(not word[0].islower() or _SMALL.fullmatch(word) for word in lettered)
        and not words.isupper()
    )


def _names(match: re.Match[str], known: set[str]) -> Iterator[str]:
    if match["field"]:
        yield match["value"]
        return
    inside = (match["square"] or match["lens"] or match["round"] or "").partition("†")[0].strip()
    if inside.casefold() in known:
        yield inside
    elif _NUMBERS.fullmatch(inside):
        yield from _listed(inside)
    else:
        parts = [part.strip() for part in re.split(r"[,;]", inside)]
        if all(_ONE.fullmatch(part) or part.casefold() in known for part in parts):
            yield from parts


def _listed(numbers: str) -> Iterator[str]:
    """Each number of "1, 3" and of "1-3"."""
    for part in re.split(r"[,;]", numbers.replace("^", "")):
        if span := _RANGE.fullmatch(part.strip()):
            first, last = int(span[1]), int(span[2])
            yield from map(str, range(first, min(last, first + 20) + 1))
        else:
            yield part.strip()


def _number(name: str) -> int | None:
    """The position that a plain number cites; "doc-3" is an id."""
    return int(name) if name.isdecimal() else None
