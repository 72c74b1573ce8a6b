"""Tables in Markdown, or with tabs or commas, into one sentence a row."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise, zip_longest
from typing import NamedTuple

from otel_rt4chart.verify.core.model import Fact
from otel_rt4chart.verify.text.fact_words import (
    as_sentence,
    end_sentence,
    fact_text,
    flag_text,
    kind_of_flag,
    with_unit,
    words_from_key,
)
from otel_rt4chart.verify.text.json_offsets import LONGEST_NAME, JsonKind, one_line
from otel_rt4chart.verify.text.sentences import MAX_SENTENCE, sentence_spans


class Rendered(NamedTuple):
    """`text[start:end]` is the source, `words` what it says in English, `facts` its values."""

    start: int
    end: int
    words: str
    facts: tuple[Fact, ...] = ()


class TextLine(NamedTuple):
    """A line that is not blank; `raw` has the whitespace that the range leaves out."""

    start: int
    end: int
    raw: str


Grid = Sequence[Sequence[str]]

_SENTENCE = re.compile(r"[.!?]\s+[A-Z]|\?")
CODE = re.compile(r"[{};]|\w[(\[]|[=<>!]=|->|=>|\s=\s|[,(\[\\]$")
_HEADER = re.compile(r"[^\W\d][\w '&/#%()$.-]{0,39}|#")
_PIPE = re.compile(r"(?<!\\)\|")
_DASHES = re.compile(r":?-+:?")
_CAPTION_MARKS = " \t#*_:"
# Headers of a list of properties: they name no column of their own.
_GENERIC = frozenset(
    {"", "field", "property", "attribute", "key", "parameter", "setting", "item", "detail"}
    | {"details", "characteristic", "spec", "specification", "specifications", "value", "values"}
    | {"information", "info", "description", "data", "metric"}
)
_PLANS = frozenset({"free", "paid", "open", "public", "private", "new", "closed"})
# Headers that say nothing of the label under them.
_NAMELESS = _GENERIC | {"name", "title", "#"}


def is_sentence(value: str) -> bool:
    """True for a text that is a sentence of its own, not a value."""
    ended = value.endswith((".", "!")) and len(value.split()) > 3
    return ended or _SENTENCE.search(value) is not None


def split_long(
    whole: Rendered, source: str, *, most: int = MAX_SENTENCE, owner: str = ""
) -> list[Rendered]:
    """The source's own sentences where it, or its rendering, is longer than `most`."""
    if max(len(source), len(whole.words)) <= most:
        return [whole]
    return [
        Rendered(whole.start + at, whole.start + end, as_sentence(one_line(source[at:end]), owner))
        for at, end in sentence_spans(source)
    ]


def plain_lines(text: str, lines: Sequence[TextLine]) -> Iterator[Rendered]:
    """The sentences of lines that are no record, as they are."""
    if lines:
        at = lines[0].start
        for start, end in sentence_spans(text[at : lines[-1].end]):
            yield Rendered(at + start, at + end, end_sentence(text[at + start : at + end]))


def render_tables(text: str, lines: Sequence[TextLine]) -> tuple[Rendered, ...]:
    """All Markdown tables and the text around them; nothing where there is no table."""
    rendered: list[Rendered] = []
    at = plain = 0
    found = False
    while at < len(lines):
        end = table_end(lines, at)
        if end > at:
            found = True
            rendered += plain_lines(text, lines[plain:at])
            rendered += _table(lines[at:end], _caption(lines[plain:at]))
            plain = end
        at = max(end, at + 1)
    return (*rendered, *plain_lines(text, lines[plain:])) if found else ()


def _caption(before: Sequence[TextLine]) -> str:
    """The short line before a table that is no sentence; "" where there is none."""
    line = before[-1].raw.strip(_CAPTION_MARKS) if before else ""
    return "" if len(line) > LONGEST_NAME or line.endswith((".", "!", "?")) else line


def table_end(lines: Sequence[TextLine], at: int) -> int:
    """The index after the last row of the table whose header is line `at`; else `at`."""
    if not _is_header(lines, at):
        return at
    end = at + 2
    while end < len(lines) and "|" in lines[end].raw and not _is_header(lines, end):
        end += 1
    return end if end > at + 2 else at


def _is_header(lines: Sequence[TextLine], at: int) -> bool:
    if at + 1 >= len(lines) or "|" not in lines[at].raw or "-" not in lines[at + 1].raw:
        return False
    dashes = split_cells(lines[at + 1].raw)
    dashed = len(dashes) > 1 and all(_DASHES.fullmatch(cell) for cell in dashes)
    return dashed and len(dashes) == len(split_cells(lines[at].raw))


def split_cells(raw: str) -> list[str]:
    """The cells of a row of a Markdown table."""
    body = one_line(raw).removeprefix("|")
    body = body.removesuffix("|") if not body.endswith("\\|") else body
    return [cell.strip().replace("\\|", "|").replace("**", "") for cell in _PIPE.split(body)]


def cell_ranges(raw: str) -> list[tuple[int, int]]:
    """The ranges of the cells in a row, without the space around them."""
    marks = [match.start() for match in _PIPE.finditer(raw)]
    edges = marks if raw.lstrip().startswith("|") else [-1, *marks]
    if raw[edges[-1] + 1 :].strip():
        edges.append(len(raw))
    return [_stripped(raw, start + 1, end) for start, end in pairwise(edges)]


def _stripped(raw: str, start: int, end: int) -> tuple[int, int]:
    """The range without the space at its ends."""
    cell = raw[start:end]
    left = start + len(cell) - len(cell.lstrip())
    return left, left + len(cell.strip())


def _table(lines: Sequence[TextLine], caption: str) -> list[Rendered]:
    header, _, *rows = (split_cells(line.raw) for line in lines)
    return _rows(lines[2:], header, rows, caption, cell_ranges)


def _rows(
    lines: Sequence[TextLine],
    header: Sequence[str],
    rows: Grid,
    caption: str = "",
    ranges: Callable[[str], list[tuple[int, int]]] | None = None,
) -> list[Rendered]:
    """One sentence a row. The header is none of its own: each cell is read with its part of it.

    A row that is too long is split by cells; `ranges` finds their places in the line.
    """
    names = [words_from_key(cell) for cell in header]
    subject = list_subject(header, caption)
    rendered = []
    for line, cells in zip(lines, rows, strict=True):
        if list(cells) == list(header):
            continue
        whole = _row(line, header, names, cells, subject)
        source = line.raw.strip()
        if max(len(source), len(whole.words)) <= MAX_SENTENCE:
            rendered.append(whole)
            continue
        places = ranges(line.raw) if ranges else []
        if len(places) == len(cells) > 1:
            is_property = subject is not None and len(cells) == 2
            facts = whole.facts if is_property else _all_facts(names, cells)
            label = subject if is_property else row_label(header[0], cells[0])
            rendered += _split_row(line, label or "", facts, places)
        else:
            owner = whole.facts[0].subject if whole.facts else ""
            rendered += split_long(whole, source, owner=owner)
    return rendered


def _split_row(
    line: TextLine, label: str, facts: Sequence[Fact], places: Sequence[tuple[int, int]]
) -> Iterator[Rendered]:
    """A long row in parts, each with the row's label and the headers of its cells.

    `places` are the ranges of all cells in `line.raw`, `facts` the values after the first cell.
    """
    first = line.start - (len(line.raw) - len(line.raw.lstrip()))
    held: list[Fact] = []
    start, end = places[0]
    if len(label) > LONGEST_NAME:
        yield from _sentences_of_cell(line, first, places[0], "")
        label, start = "", -1
    for fact, (left, right) in zip(facts, places[1:], strict=True):
        if held and max(len(_labelled(label, [*held, fact])), right - start) > MAX_SENTENCE:
            yield Rendered(first + start, first + end, _labelled(label, held), tuple(held))
            held, start = [], -1
        start = start if start >= 0 and right - start <= MAX_SENTENCE else left
        if max(len(_labelled(label, [fact])), right - left) > MAX_SENTENCE:
            head = ": ".join(filter(None, (label, fact.name)))
            yield from _sentences_of_cell(line, first, (left, right), head)
            start = -1
            continue
        held.append(fact)
        end = right
    if held:
        yield Rendered(first + start, first + end, _labelled(label, held), tuple(held))


def _sentences_of_cell(
    line: TextLine, first: int, place: tuple[int, int], head: str
) -> Iterator[Rendered]:
    """The sentences of a long cell, each with the row's label and the header of the cell."""
    left, right = place
    for start, end in sentence_spans(line.raw[left:right]):
        words = one_line(line.raw[left + start : left + end])
        told = end_sentence(f"{head}: {words}" if head else words)
        yield Rendered(first + left + start, first + left + end, told)


def _labelled(label: str, facts: Sequence[Fact]) -> str:
    words = "; ".join(cell_words(fact) for fact in facts)
    if not label:
        return as_sentence(words)
    return end_sentence(f"{label}: {words}" if words else label)


def _row(
    line: TextLine,
    header: Sequence[str],
    names: Sequence[str],
    cells: Sequence[str],
    subject: str | None,
) -> Rendered:
    if not any(cells):
        return Rendered(line.start, line.end, end_sentence(line.raw))
    if subject is None or len(cells) != 2:
        facts = row_facts(names, cells)
        return Rendered(line.start, line.end, row_words(header[0], cells[0], facts), facts)
    fact = Fact(subject, words_from_key(cells[0]), cells[1])
    return Rendered(line.start, line.end, property_words(fact), (fact,))


def list_subject(header: Sequence[str], caption: str) -> str | None:
    """What a list of properties in two columns is about, perhaps ""; None for other tables."""
    if len(header) != 2 or header[0].lower() not in _GENERIC:
        return None
    return caption if header[1].lower() in _GENERIC else header[1]


def property_words(fact: Fact) -> str:
    """A row of a list of properties: "Joan Baez: birth name is Joan Chandos Baez."."""
    kind = kind_of_flag(fact.name, JsonKind.STRING, fact.value)
    words = fact_text(fact.name, kind, fact.value) if fact.name else fact.value
    return end_sentence(f"{fact.subject}: {words}") if fact.subject else as_sentence(words)


def row_facts(names: Sequence[str], cells: Sequence[str]) -> tuple[Fact, ...]:
    """The cells of a row after its first one, which says what they are about."""
    return tuple(fact for fact in _all_facts(names, cells) if fact.name or fact.value)


def _all_facts(names: Sequence[str], cells: Sequence[str]) -> tuple[Fact, ...]:
    subject = cells[0] if cells and len(cells[0]) <= LONGEST_NAME else ""
    return tuple(
        Fact(subject, *with_unit(name, cell))
        for name, cell in zip_longest(names[1 : len(cells)], cells[1:], fillvalue="")
    )


def row_words(header: str, label: str, facts: Sequence[Fact]) -> str:
    """A row in words: its label with the label's header, then each cell with its own.

    "City Oslo: duration is 7 hours; changes is 0." Cells that a short row lacks are skipped.
    """
    # A label may be a name, so its case stays.
    return _labelled(row_label(header, label) if label else "", facts)


def row_label(header: str, label: str, *, is_claim: bool = False) -> str:
    """The label of a row with its header: "City Oslo"; of a claim without a header of one word.

    A passage need not say that "X200" is a model.
    """
    is_plain = is_claim and " " not in header and not label[:1].isdigit()
    if is_plain or header.lower() in _NAMELESS or max(len(label), len(header)) > LONGEST_NAME:
        return label
    named = header.replace("_", " ")
    return f"{named[:1].upper()}{named[1:]} {label}"


def cell_words(fact: Fact, *, is_claim: bool = False) -> str:
    """A cell with its header: "price is $249"; of a claim "no warranty", not "warranty is none"."""
    if not fact.name:
        return fact.value
    kind = kind_of_flag(fact.name, JsonKind.STRING, fact.value)
    if is_claim and fact.value.lower() == "none":
        return f"no {fact.name}"
    if kind is JsonKind.STRING:
        return f"{fact.name} is {fact.value or 'not given'}"
    yes = kind is JsonKind.TRUE
    words = flag_text(fact.name, yes=yes)
    # The column may be a plan, "Pro" or "Free", which has or lacks the feature of the row.
    is_plan = fact.name in _PLANS or words.endswith(" available")
    return f"{fact.name}: {'yes' if yes else 'no'}" if is_plan else words


def render_delimited(lines: Sequence[TextLine]) -> tuple[Rendered, ...]:
    """Tables with tabs or commas under a header; nothing for any other lines."""
    for split in (_by_tab, _by_comma):
        grid = _grid(lines, split)
        if grid and (split is _by_tab or _is_csv(lines, grid)):
            ranges = _tab_ranges if split is _by_tab else None  # quotes may hide commas
            return tuple(_rows(lines[1:], grid[0], grid[1:], "", ranges))
    return ()


def _grid(lines: Sequence[TextLine], split: Callable[[str], list[str]]) -> Grid:
    """The cells of all lines, if the first is a header and all have the same width."""
    header = split(lines[0].raw) if len(lines) > 2 else []
    if len(header) < 2 or not all(_HEADER.fullmatch(cell) for cell in header):
        return []
    grid = [split(line.raw) for line in lines]
    return grid if all(len(cells) == len(header) for cells in grid) else []


def _by_tab(raw: str) -> list[str]:
    return [one_line(cell) for cell in raw.split("\t")]


def _tab_ranges(raw: str) -> list[tuple[int, int]]:
    edges = [-1, *(at for at, letter in enumerate(raw) if letter == "\t"), len(raw)]
    return [_stripped(raw, left + 1, right) for left, right in pairwise(edges)]


def _by_comma(raw: str) -> list[str]:
    try:
        rows = list(csv.reader([raw], strict=True, skipinitialspace=True))
    except csv.Error:
        return []
    return [one_line(cell) for cell in rows[0]] if rows else []


def _is_csv(lines: Sequence[TextLine], grid: Grid) -> bool:
    """False for lists in prose: their commas have a space after them and no column of numbers."""
    if any(is_sentence(cell) or CODE.search(cell) for cells in grid for cell in cells):
        return False
    if ", " not in lines[0].raw:
        return True
    return any(
        all(re.search(r"\d", cell) for cell in column) for column in zip(*grid[1:], strict=True)
    )
