"""Records, key-value blocks and tables, told in sentences that keep their place in the source."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Sequence
from itertools import zip_longest
from typing import NamedTuple

from otel_rt4chart.verify.json_offsets import Kind, Leaf, leaves, meaning, one_line, parse


class Rendered(NamedTuple):
    """`text[start:end]` is the source, `words` what it says in English."""

    start: int
    end: int
    words: str


class _Line(NamedTuple):
    """A line that is not blank; `raw` still has the white space that the range leaves out."""

    start: int
    end: int
    raw: str


Grid = Sequence[Sequence[str]]

_LONG = 80
# Keys and headers come back in every sentence: an endless one would make the words quadratic.
_KEY_LENGTH = 80
_PAIR_LENGTH = 200
_VALUE_LENGTH = 120
_PAIR_SHARE = 0.8
_CLOSERS = "\"')]}”’»"
_TERMINALS = (".", "!", "?", "…", "。", "！", "？")
_DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday"
_NAMES = {name.lower(): name for name in f"WiFi TV BYOB ID URL API USA UK {_DAYS}".split()}
_BORDER = re.compile(r"[_\s-]+|(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_PREDICATE = re.compile(r"\b(?:good for|is|has|accepts|allows|allowed|serves|offers|supports)\b")
# Of these one asks what they are, not whether they are there.
_MEASURE = re.compile(
    r"\b(?:hours|name|title|address|city|state|country|price|stars|rating|date|time|phone|number"
    r"|count|ID|URL|email|code|type|categor(?:y|ies)|size|age|year|level|l(?:at|ong)itude)$"
)
_HOURS = re.compile(r"([0-9]{1,2}):([0-9]{1,2})-([0-9]{1,2}):([0-9]{1,2})")
_SENTENCE = re.compile(r"[.!?]\s+[A-Z]|\?")
_SPEECH = re.compile(r"\b(?:I|[Yy]ou|[Yy]our|[Ww]e|[Hh]i|[Hh]ello|[Hh]ey|[Tt]hanks?|[Ss]orry)\b")
_CODE = re.compile(r"[{};]|\w[(\[]|[=<>!]=|->|=>|\s=\s|[,(\[\\]$")
_EXPRESSION = re.compile(r"\s[-+*/%|&]\s|^[\[('\"]")
_TYPE = re.compile(r"(?:str|int|float|bool|bytes|string|number|boolean|any|Any|void)(?: [|=] .*)?")
_BULLET = re.compile(r"[-*•]\s+")
_PAIR = re.compile(r"(?P<key>[^\W_][\w '&/#%()$-]{0,39}?) ?(?::(?=\s)|(?P<equals>=))(?P<value>.+)")
_HEADER = re.compile(r"[^\W\d][\w '&/#%()$.-]{0,39}|#")
_VISIBLE = re.compile(r"[^\s\x00-\x1f\x7f-\x9f]")
_PIPE = re.compile(r"(?<!\\)\|")
_DASHES = re.compile(r":?-+:?")


def render_structured(text: str) -> tuple[Rendered, ...] | None:
    """What a record or table says; None for any other text. In order and disjoint."""
    root = parse(text)
    if root is not None:
        return tuple(_of_leaf(text, leaf) for leaf in leaves(root)) if root.members else None
    if text.lstrip().startswith("{"):
        return None
    lines = _lines(text)
    return _tables(lines) or _pairs(lines) or _delimited(lines) or None


def _closed(words: str) -> str:
    line = one_line(words)
    return line if line.rstrip(_CLOSERS).endswith(_TERMINALS) else f"{line}."


def _sentence(words: str, owner: str = "") -> str:
    """Capitalised and closed, with whose it is before the full stop."""
    capital = words[:1].upper() + words[1:]
    return f"{capital.removesuffix('.')} ({owner})." if owner else _closed(capital)


def _readable(key: str) -> str:
    key = key[:_KEY_LENGTH].replace("Wi-Fi", "Wifi").replace("WiFi", "Wifi")
    words = _BORDER.split(one_line(key))
    keep = not key.isupper()
    return " ".join(_word(word, keep=keep) for word in words if word)


def _word(word: str, *, keep: bool) -> str:
    """In lower case, unless it is a name or, with `keep`, an acronym among other words."""
    acronym = keep and len(word) > 1 and word.isupper()
    return _NAMES.get(word.lower(), word if acronym else word.lower())


def _fact(key: str, kind: Kind, text: str, context: str = "") -> str:
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


def _clock(text: str) -> str:
    match = _HOURS.fullmatch(text)
    if match is None:
        return text
    opens, minutes, closes, last = match.groups()
    return f"{opens}:{minutes.zfill(2)} to {closes}:{last.zfill(2)}"


def _of_leaf(text: str, leaf: Leaf) -> Rendered:
    start, end = leaf.start, leaf.node.end
    key = _readable(leaf.key)
    if leaf.names_owner:
        return Rendered(start, end, _sentence(f"the {key} is {one_line(leaf.node.text)}"))
    kind, said = leaf.meaning
    if not key:
        return Rendered(start, end, _closed(said if leaf.is_element and said else text[start:end]))
    return Rendered(start, end, _sentence(_in_context(leaf, key, kind, _clock(said)), leaf.owner))


def _in_context(leaf: Leaf, key: str, kind: Kind, said: str) -> str:
    """With the parents' names, unless the leaf's own repeats a word of the nearest one."""
    parents = [_readable(parent) for parent in leaf.parents]
    nearest = parents[-1].split() if parents else []
    if nearest[-1:] == ["hours"]:
        day = f"{key} {parents[-1]}"
        return f"{day}: {said}" if said and kind is Kind.STRING else _fact(day, kind, said)
    alone = not nearest or not set(nearest).isdisjoint(key.split())
    return _fact(key, kind, said, "" if alone else f"{' '.join(parents)}: ")


def _lines(text: str) -> list[_Line]:
    found = []
    for match in re.finditer(r"[^\r\n]+", text):
        raw = match.group()
        if _VISIBLE.search(raw):
            indent = len(raw) - len(raw.lstrip())
            found.append(_Line(match.start() + indent, match.start() + len(raw.rstrip()), raw))
    return found


def _line_itself(line: _Line) -> Rendered:
    return Rendered(line.start, line.end, _closed(line.raw))


def _pairs(lines: Sequence[_Line]) -> tuple[Rendered, ...]:
    """A block of keys and values; keys that return are speakers, or steps that are counted."""
    pairs = [_pair(line.raw) for line in lines]
    keys = [re.sub(r"\d+", "", pair[0]).lower() for pair in pairs if pair]
    if len(keys) < max(2, _PAIR_SHARE * len(lines)) or len(set(keys)) < len(keys):
        return ()
    return tuple(
        Rendered(line.start, line.end, _sentence(_fact(_readable(pair[0]), *pair[1:])))
        if pair
        else _line_itself(line)
        for line, pair in zip(lines, pairs, strict=True)
    )


def _pair(raw: str) -> tuple[str, Kind, str] | None:
    if len(raw) > _PAIR_LENGTH:
        return None
    match = _PAIR.fullmatch(_BULLET.sub("", one_line(raw).replace("**", ""), count=1))
    if match is None or len(match["key"].split()) > 5:
        return None
    value = match["value"].strip()
    if match["equals"] and _EXPRESSION.search(value):
        return None
    code = _CODE.search(value) or _TYPE.fullmatch(value)
    if code or len(value) > _VALUE_LENGTH or _SPEECH.search(value) or _is_sentence(value):
        return None
    kind, said = meaning(Kind.STRING, value)
    return match["key"], kind, _clock(said)


def _is_sentence(value: str) -> bool:
    ended = value.endswith((".", "!")) and len(value.split()) > 3
    return ended or _SENTENCE.search(value) is not None


def _tables(lines: Sequence[_Line]) -> tuple[Rendered, ...]:
    """Every Markdown table, and the lines around them; nothing without a table."""
    rendered: list[Rendered] = []
    found, at = False, 0
    while at < len(lines):
        end = _table_end(lines, at)
        found |= end > at
        rendered += _table(lines[at:end]) if end > at else [_line_itself(lines[at])]
        at = max(end, at + 1)
    return tuple(rendered) if found else ()


def _table_end(lines: Sequence[_Line], at: int) -> int:
    """Behind the last row of the table whose header is line `at`, or `at`."""
    if not _is_header(lines, at):
        return at
    end = at + 2
    while end < len(lines) and "|" in lines[end].raw and not _is_header(lines, end):
        end += 1
    return end if end > at + 2 else at


def _is_header(lines: Sequence[_Line], at: int) -> bool:
    if at + 1 >= len(lines) or "|" not in lines[at].raw or "-" not in lines[at + 1].raw:
        return False
    dashes = _cells(lines[at + 1].raw)
    dashed = len(dashes) > 1 and all(_DASHES.fullmatch(cell) for cell in dashes)
    return dashed and len(dashes) == len(_cells(lines[at].raw))


def _table(lines: Sequence[_Line]) -> list[Rendered]:
    grid = [_cells(line.raw) for line in lines]
    rule = Rendered(lines[0].start, lines[1].end, _columns(grid[0]))
    return [rule, *_rows(lines[2:], grid[0], grid[2:])]


def _cells(raw: str) -> list[str]:
    body = one_line(raw).removeprefix("|")
    body = body.removesuffix("|") if not body.endswith("\\|") else body
    return [cell.strip().replace("\\|", "|") for cell in _PIPE.split(body)]


def _columns(header: Sequence[str]) -> str:
    names = ", ".join(_readable(cell) or cell for cell in header if cell)
    return _sentence(f"Columns: {names[:1].upper()}{names[1:]}")


def _rows(lines: Sequence[_Line], header: Sequence[str], rows: Grid) -> list[Rendered]:
    names = [_readable(cell) for cell in header]
    return [
        Rendered(line.start, line.end, _row(names, cells) if any(cells) else _closed(line.raw))
        for line, cells in zip(lines, rows, strict=True)
    ]


def _row(names: Sequence[str], cells: Sequence[str]) -> str:
    """The first cell is what the others are about; cells that a short row lacks say nothing."""
    facts = [
        f"{name} is {cell or 'not given'}" if name else cell
        for name, cell in zip_longest(names[1 : len(cells)], cells[1:], fillvalue="")
        if name or cell
    ]
    said = ": ".join(part for part in (cells[0], "; ".join(facts)) if part)
    # Only a header may be capitalised: a cell is a name, as it is written.
    return _closed(said) if cells[0] or not said else _sentence(said)


def _delimited(lines: Sequence[_Line]) -> tuple[Rendered, ...]:
    for split in (_by_tab, _by_comma):
        grid = _grid(lines, split)
        if grid and (split is _by_tab or _is_csv(lines, grid)):
            first = Rendered(lines[0].start, lines[0].end, _columns(grid[0]))
            return first, *_rows(lines[1:], grid[0], grid[1:])
    return ()


def _grid(lines: Sequence[_Line], split: Callable[[str], list[str]]) -> Grid:
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


def _is_csv(lines: Sequence[_Line], grid: Grid) -> bool:
    """Commas of a list in prose have a space behind them, and no column of figures."""
    if any(_is_sentence(cell) or _CODE.search(cell) for cells in grid for cell in cells):
        return False
    if ", " not in lines[0].raw:
        return True
    return any(
        all(re.search(r"\d", cell) for cell in column) for column in zip(*grid[1:], strict=True)
    )
