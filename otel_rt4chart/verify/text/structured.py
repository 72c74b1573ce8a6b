"""Records, key-value blocks and tables as sentences that keep their place in the source."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterator, Sequence
from itertools import zip_longest
from typing import NamedTuple

from otel_rt4chart.verify.text.json_offsets import (
    LONGEST_NAME,
    Kind,
    Leaf,
    leaves,
    located,
    one_line,
    parse,
    unquoted,
)
from otel_rt4chart.verify.text.sentences import MAX_SENTENCE, spans

# A value or a line that is longer is told sentence by sentence.
LONG_TEXT = 300


class Rendered(NamedTuple):
    """`text[start:end]` is the source, `words` what it says in English."""

    start: int
    end: int
    words: str


class Line(NamedTuple):
    """A line that is not blank; `raw` still has the white space that the range leaves out."""

    start: int
    end: int
    raw: str


_LONG = 80
# Keys and headers come back in every sentence: an endless one would make the words quadratic.
_KEY_LENGTH = 80
_CLOSERS = "\"')]}”’»"
_TERMINALS = (".", "!", "?", "…", "。", "！", "？")
_DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday"
_NAMES = {name.lower(): name for name in f"WiFi TV BYOB ID URL API USA UK {_DAYS}".split()}
_BORDER = re.compile(r"[_\s-]+|(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_PREDICATE = re.compile(r"\b(?:good for|is|has|accepts|allows|allowed|serves|offers|supports)\b")
_SENTENCE = re.compile(r"[.!?]\s+[A-Z]|\?")
CODE = re.compile(r"[{};]|\w[(\[]|[=<>!]=|->|=>|\s=\s|[,(\[\\]$")
_FLAGS = {"yes": Kind.TRUE, "true": Kind.TRUE, "no": Kind.FALSE, "false": Kind.FALSE}
# Of these one asks what they are, not whether they are there.
_MEASURE = re.compile(
    r"\b(?:hours|name|title|address|city|state|country|price|stars|rating|date|time|phone|number"
    r"|count|ID|URL|email|code|type|categor(?:y|ies)|size|age|year|level|l(?:at|ong)itude"
    r"|language|currency|symbol|region|capital|status|answer|response|result|value|limit|amount"
    r"|fee|cost|unit|brand|model|sex|gender|user|author|owner)$"
)
_HOURS = re.compile(r"([0-9]{1,2}):([0-9]{1,2})-([0-9]{1,2}):([0-9]{1,2})")


def closed(words: str) -> str:
    """On one line, and with a sign at its end."""
    line = one_line(words)
    return line if line.rstrip(_CLOSERS).endswith(_TERMINALS) else f"{line}."


def sentence(words: str, owner: str = "") -> str:
    """Capitalised and closed, with whose it is before the full stop."""
    capital = words[:1].upper() + words[1:]
    if not owner:
        return closed(capital)
    return f"{capital.removesuffix('.').rstrip()} ({owner}).".lstrip()


def readable(key: str) -> str:
    """A key as words: of `single_sign_on`, `BusinessParking`."""
    key = key[:_KEY_LENGTH].replace("Wi-Fi", "Wifi").replace("WiFi", "Wifi")
    words = _BORDER.split(one_line(key))
    keep = not key.isupper()
    return " ".join(_word(word, keep=keep) for word in words if word)


def _word(word: str, *, keep: bool) -> str:
    """In lower case, unless it is a name or, with `keep`, an acronym among other words."""
    acronym = keep and len(word) > 1 and word.isupper()
    return _NAMES.get(word.lower(), word if acronym else word.lower())


def flagged(key: str, kind: Kind, said: str) -> Kind:
    """A string that says yes or no is a flag, unless its key asks what a thing is.

    "NO" is Norway, too, and no deductible is not a deductible that is not available.
    """
    is_flag = kind is Kind.STRING and said != "NO" and not _MEASURE.search(key)
    return _FLAGS.get(said.lower(), kind) if is_flag else kind


def fact(key: str, kind: Kind, text: str, context: str = "") -> str:
    """A value in words, without the full stop; a key that is a predicate is not a thing."""
    predicate = _PREDICATE.search(context + key)
    if not text:
        return f"{context}{key} is not given"
    if kind in (Kind.TRUE, Kind.FALSE):
        yes = kind is Kind.TRUE
        if predicate:
            return f"{context}{key}: {'yes' if yes else 'no'}"
        return f"{context}{key} is {'available' if yes else 'not available'}"
    if kind is Kind.NULL:
        plain = not predicate and not _MEASURE.search(key)
        return f"{context}{f'whether {key} is available' if plain else key} is unknown"
    if kind is Kind.ARRAY or len(text) > _LONG or re.search(r"[.!?]\s", text):
        return f"{context}{key}: {text}"
    return f"{context}{key} is {text}"


def clock(text: str) -> str:
    """Opening hours as one reads them; any other text as it is."""
    match = _HOURS.fullmatch(text)
    if match is None:
        return text
    opens, minutes, closes, last = match.groups()
    return f"{opens}:{minutes.zfill(2)} to {closes}:{last.zfill(2)}"


def is_sentence(value: str) -> bool:
    """True for what is no value, but says something by itself."""
    ended = value.endswith((".", "!")) and len(value.split()) > 3
    return ended or _SENTENCE.search(value) is not None


def divided(
    whole: Rendered, source: str, *, most: int = MAX_SENTENCE, owner: str = ""
) -> list[Rendered]:
    """The source's own sentences where it, or what it is told in, is longer than `most`."""
    if max(len(source), len(whole.words)) <= most:
        return [whole]
    return [
        Rendered(whole.start + at, whole.start + end, sentence(one_line(source[at:end]), owner))
        for at, end in spans(source)
    ]


def line_itself(line: Line) -> list[Rendered]:
    """A line that is no record, in its own words."""
    whole = Rendered(line.start, line.end, closed(line.raw))
    return divided(whole, line.raw.strip(), most=LONG_TEXT)


Grid = Sequence[Sequence[str]]

_HEADER = re.compile(r"[^\W\d][\w '&/#%()$.-]{0,39}|#")
_PIPE = re.compile(r"(?<!\\)\|")
_DASHES = re.compile(r":?-+:?")


def tables(lines: Sequence[Line]) -> tuple[Rendered, ...]:
    """Every Markdown table, and the lines around them; nothing without a table."""
    if not any(_table_end(lines, at) > at for at in range(len(lines))):
        return ()
    rendered: list[Rendered] = []
    at = 0
    while at < len(lines):
        end = _table_end(lines, at)
        rendered += _table(lines[at:end]) if end > at else line_itself(lines[at])
        at = max(end, at + 1)
    return tuple(rendered)


def _table_end(lines: Sequence[Line], at: int) -> int:
    """Behind the last row of the table whose header is line `at`, or `at`."""
    if not _is_header(lines, at):
        return at
    end = at + 2
    while end < len(lines) and "|" in lines[end].raw and not _is_header(lines, end):
        end += 1
    return end if end > at + 2 else at


def _is_header(lines: Sequence[Line], at: int) -> bool:
    if at + 1 >= len(lines) or "|" not in lines[at].raw or "-" not in lines[at + 1].raw:
        return False
    dashes = _cells(lines[at + 1].raw)
    dashed = len(dashes) > 1 and all(_DASHES.fullmatch(cell) for cell in dashes)
    return dashed and len(dashes) == len(_cells(lines[at].raw))


def _table(lines: Sequence[Line]) -> list[Rendered]:
    grid = [_cells(line.raw) for line in lines]
    return [*_header(lines[0], lines[1].end, grid[0]), *_rows(lines[2:], grid[0], grid[2:])]


def _header(line: Line, end: int, cells: Sequence[str]) -> list[Rendered]:
    return divided(Rendered(line.start, end, _columns(cells)), line.raw.strip())


def _cells(raw: str) -> list[str]:
    body = one_line(raw).removeprefix("|")
    body = body.removesuffix("|") if not body.endswith("\\|") else body
    return [cell.strip().replace("\\|", "|") for cell in _PIPE.split(body)]


def _columns(header: Sequence[str]) -> str:
    names = ", ".join(readable(cell) or cell for cell in header if cell)
    return sentence(f"Columns: {names[:1].upper()}{names[1:]}")


def _rows(lines: Sequence[Line], header: Sequence[str], rows: Grid) -> list[Rendered]:
    names = [readable(cell) for cell in header]
    told = []
    for line, cells in zip(lines, rows, strict=True):
        words = _row(names, cells) if any(cells) else closed(line.raw)
        subject = cells[0] if cells and len(cells[0]) <= LONGEST_NAME else ""
        whole = Rendered(line.start, line.end, words)
        told += divided(whole, line.raw.strip(), owner=subject)
    return told


def _row(names: Sequence[str], cells: Sequence[str]) -> str:
    """The first cell is what the others are about; cells that a short row lacks say nothing."""
    facts = [
        f"{name} is {cell or 'not given'}" if name else cell
        for name, cell in zip_longest(names[1 : len(cells)], cells[1:], fillvalue="")
        if name or cell
    ]
    said = ": ".join(part for part in (cells[0], "; ".join(facts)) if part)
    # Only a header may be capitalised: a cell is a name, as it is written.
    return closed(said) if cells[0] or not said else sentence(said)


def delimited(lines: Sequence[Line]) -> tuple[Rendered, ...]:
    """Values between tabs or commas, under a header; nothing for any other lines."""
    for split in (_by_tab, _by_comma):
        grid = _grid(lines, split)
        if grid and (split is _by_tab or _is_csv(lines, grid)):
            header = _header(lines[0], lines[0].end, grid[0])
            return *header, *_rows(lines[1:], grid[0], grid[1:])
    return ()


def _grid(lines: Sequence[Line], split: Callable[[str], list[str]]) -> Grid:
    """The cells of all lines, if the first one is a header and the others are as wide."""
    header = split(lines[0].raw) if len(lines) > 2 else []
    if len(header) < 2 or not all(_HEADER.fullmatch(cell) for cell in header):
        return []
    grid = [split(line.raw) for line in lines]
    return grid if all(len(cells) == len(header) for cells in grid) else []


def _by_tab(raw: str) -> list[str]:
    return [one_line(cell) for cell in raw.split("\t")]


def _by_comma(raw: str) -> list[str]:
    try:
        rows = list(csv.reader([raw], strict=True, skipinitialspace=True))
    except csv.Error:
        return []
    return [one_line(cell) for cell in rows[0]] if rows else []


def _is_csv(lines: Sequence[Line], grid: Grid) -> bool:
    """Commas of a list in prose have a space behind them, and no column of figures."""
    if any(is_sentence(cell) or CODE.search(cell) for cells in grid for cell in cells):
        return False
    if ", " not in lines[0].raw:
        return True
    return any(
        all(re.search(r"\d", cell) for cell in column) for column in zip(*grid[1:], strict=True)
    )


_PAIR_LENGTH = 200
_VALUE_LENGTH = 120
_PAIR_SHARE = 0.8
_SPEECH = re.compile(r"\b(?:I|[Yy]ou|[Yy]our|[Ww]e|[Hh]i|[Hh]ello|[Hh]ey|[Tt]hanks?|[Ss]orry)\b")
_EXPRESSION = re.compile(r"\s[-+*/%|&]\s|^[\[('\"]")
_TYPE = re.compile(r"(?:str|int|float|bool|bytes|string|number|boolean|any|Any|void)(?: [|=] .*)?")
_BULLET = re.compile(r"[-*•]\s+")
_PAIR = re.compile(r"(?P<key>[^\W_][\w '&/#%()$-]{0,39}?) ?(?::(?=\s)|(?P<equals>=))(?P<value>.+)")
_VISIBLE = re.compile(r"[^\s\x00-\x1f\x7f-\x9f]")


def render_structured(text: str) -> tuple[Rendered, ...] | None:
    """What a record or table says; None for any other text. In order and disjoint."""
    root = parse(text)
    if root is not None:
        told = (part for leaf in leaves(root) for part in _of_leaf(text, leaf))
        return tuple(told) if root.members else None
    if text.lstrip().startswith("{"):
        return None
    lines = _lines(text)
    return tables(lines) or _pairs(lines) or delimited(lines) or None


def _of_leaf(text: str, leaf: Leaf) -> Sequence[Rendered]:
    start, end = leaf.start, leaf.node.end
    key = readable(leaf.key)
    if leaf.names_owner:
        return [Rendered(start, end, sentence(f"the {key} is {one_line(leaf.node.text)}"))]
    if leaf.node.kind is Kind.STRING and end - leaf.node.start > LONG_TEXT:
        return list(_of_prose(text, leaf, key))
    kind, said = leaf.meaning
    if not key:
        words = closed(said if leaf.is_element and said else text[start:end])
    else:
        kind = flagged(key, kind, said)
        words = sentence(_in_context(leaf, key, kind, clock(said)), leaf.owner)
    whole = Rendered(start, end, words)
    return [whole] if len(words) <= MAX_SENTENCE else divided(whole, text[start:end])


def _of_prose(text: str, leaf: Leaf, key: str) -> Iterator[Rendered]:
    """A long string sentence by sentence; the key is said once, and each time whose it is."""
    at, behind = leaf.inside(text)
    said, places = located(text[at:behind])
    found = list(spans(said)) or [(0, len(said))]
    for start, end in found:
        words = one_line(said[start:end])
        if start == found[0][0] and key:
            words = _in_context(leaf, key, Kind.ARRAY, words)
        yield Rendered(
            leaf.start if start == found[0][0] else at + places[start],
            leaf.node.end if end == found[-1][1] else at + places[end],
            sentence(words, leaf.owner),
        )


def _in_context(leaf: Leaf, key: str, kind: Kind, said: str) -> str:
    """With the parents' names, unless the leaf's own repeats a word of the nearest one."""
    parents = [readable(parent) for parent in leaf.parents]
    nearest = parents[-1].split() if parents else []
    if nearest[-1:] == ["hours"]:
        day = f"{key} {parents[-1]}"
        return f"{day}: {said}" if said and kind is Kind.STRING else fact(day, kind, said)
    alone = not nearest or not set(nearest).isdisjoint(key.split())
    return fact(key, kind, said, "" if alone else f"{' '.join(parents)}: ")


def _lines(text: str) -> list[Line]:
    found = []
    for match in re.finditer(r"[^\r\n]+", text):
        raw = match.group()
        if _VISIBLE.search(raw):
            indent = len(raw) - len(raw.lstrip())
            found.append(Line(match.start() + indent, match.start() + len(raw.rstrip()), raw))
    return found


def _pairs(lines: Sequence[Line]) -> tuple[Rendered, ...]:
    """A block of keys and values; keys that return are speakers, or steps that are counted."""
    pairs = [_pair(line.raw) for line in lines]
    keys = [re.sub(r"\d+", "", pair[0]).lower() for pair in pairs if pair]
    if len(keys) < max(2, _PAIR_SHARE * len(lines)) or len(set(keys)) < len(keys):
        return ()
    told = (
        [Rendered(line.start, line.end, sentence(_of_pair(*pair)))] if pair else line_itself(line)
        for line, pair in zip(lines, pairs, strict=True)
    )
    return tuple(part for parts in told for part in parts)


def _of_pair(key: str, value: str) -> str:
    name = readable(key)
    return fact(name, flagged(name, Kind.STRING, value), clock(value))


def _pair(raw: str) -> tuple[str, str] | None:
    if len(raw) > _PAIR_LENGTH:
        return None
    match = _PAIR.fullmatch(_BULLET.sub("", one_line(raw).replace("**", ""), count=1))
    if match is None or len(match["key"].split()) > 5:
        return None
    value = match["value"].strip()
    if match["equals"] and _EXPRESSION.search(value):
        return None
    code = CODE.search(value) or _TYPE.fullmatch(value)
    if code or len(value) > _VALUE_LENGTH or _SPEECH.search(value) or is_sentence(value):
        return None
    return match["key"], unquoted(value)
