"""Texts into sentences with exact character offsets; structured data into sentences in words."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import zip_longest
from typing import NamedTuple

from otel_rt4chart.verify.core.model import Passage, Sentence
from otel_rt4chart.verify.text.json_offsets import (
    LONGEST_NAME,
    JsonKind,
    JsonLeaf,
    leaves,
    one_line,
    parse_json,
    unescape_with_offsets,
    unquote,
)
from otel_rt4chart.verify.text.sentences import MAX_SENTENCE, sentence_spans

# A longer value or line is split into its sentences.
LONG_TEXT = 300


class Rendered(NamedTuple):
    """`text[start:end]` is the source, `words` what it says in English."""

    start: int
    end: int
    words: str


class TextLine(NamedTuple):
    """A line that is not blank; `raw` has the whitespace that the range leaves out."""

    start: int
    end: int
    raw: str


_LONG = 80
# Every sentence repeats its key or header: an endless one would make the output quadratic.
_KEY_LENGTH = 80
_CLOSERS = "\"')]}”’»"
_TERMINALS = (".", "!", "?", "…", "。", "！", "？")
_DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday"
_NAMES = {name.lower(): name for name in f"WiFi TV BYOB ID URL API USA UK {_DAYS}".split()}
_BORDER = re.compile(r"[_\s-]+|(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_PREDICATE = re.compile(r"\b(?:good for|is|has|accepts|allows|allowed|serves|offers|supports)\b")
_SENTENCE = re.compile(r"[.!?]\s+[A-Z]|\?")
CODE = re.compile(r"[{};]|\w[(\[]|[=<>!]=|->|=>|\s=\s|[,(\[\\]$")
_FLAGS = {
    "yes": JsonKind.TRUE,
    "true": JsonKind.TRUE,
    "no": JsonKind.FALSE,
    "false": JsonKind.FALSE,
}
# Keys of values, not of flags: "available: no" denies, "state: no" does not.
_MEASURE = re.compile(
    r"\b(?:hours|name|title|address|city|state|country|price|stars|rating|date|time|phone|number"
    r"|count|ID|URL|email|code|type|categor(?:y|ies)|size|age|year|level|l(?:at|ong)itude"
    r"|language|currency|symbol|region|capital|status|answer|response|result|value|limit|amount"
    r"|fee|cost|unit|brand|model|sex|gender|user|author|owner)$"
)
_HOURS = re.compile(r"([0-9]{1,2}):([0-9]{1,2})-([0-9]{1,2}):([0-9]{1,2})")


def end_sentence(words: str) -> str:
    """The words on one line, with a full stop if they have no final punctuation."""
    line = one_line(words)
    return line if line.rstrip(_CLOSERS).endswith(_TERMINALS) else f"{line}."


def as_sentence(words: str, owner: str = "") -> str:
    """The words as a sentence, with the owner in brackets before the full stop."""
    capital = words[:1].upper() + words[1:]
    if not owner:
        return end_sentence(capital)
    return f"{capital.removesuffix('.').rstrip()} ({owner}).".lstrip()


def words_from_key(key: str) -> str:
    """The words of a key such as `single_sign_on` or `BusinessParking`."""
    key = key[:_KEY_LENGTH].replace("Wi-Fi", "Wifi").replace("WiFi", "Wifi")
    words = _BORDER.split(one_line(key))
    keep = not key.isupper()
    return " ".join(_word(word, keep=keep) for word in words if word)


def _word(word: str, *, keep: bool) -> str:
    """The word in lower case, unless it is a name or, with `keep`, an acronym."""
    acronym = keep and len(word) > 1 and word.isupper()
    return _NAMES.get(word.lower(), word if acronym else word.lower())


def kind_of_flag(key: str, kind: JsonKind, text: str) -> JsonKind:
    """TRUE or FALSE for a string "yes" or "no" under a key that may be a flag; else its kind.

    "NO" is also Norway, and "no" under "deductible amount" does not mean "not available".
    """
    is_flag = kind is JsonKind.STRING and text != "NO" and not _MEASURE.search(key)
    return _FLAGS.get(text.lower(), kind) if is_flag else kind


def fact_text(key: str, kind: JsonKind, text: str, context: str = "") -> str:
    """A key and its value in words, without a full stop."""
    predicate = _PREDICATE.search(context + key)
    if not text:
        return f"{context}{key} is not given"
    if kind in (JsonKind.TRUE, JsonKind.FALSE):
        yes = kind is JsonKind.TRUE
        if predicate:
            return f"{context}{key}: {'yes' if yes else 'no'}"
        return f"{context}{key} is {'available' if yes else 'not available'}"
    if kind is JsonKind.NULL:
        plain = not predicate and not _MEASURE.search(key)
        return f"{context}{f'whether {key} is available' if plain else key} is unknown"
    if kind is JsonKind.ARRAY or len(text) > _LONG or re.search(r"[.!?]\s", text):
        return f"{context}{key}: {text}"
    return f"{context}{key} is {text}"


def format_hours(text: str) -> str:
    """Opening hours in readable form; any other text unchanged."""
    match = _HOURS.fullmatch(text)
    if match is None:
        return text
    opens, minutes, closes, last = match.groups()
    return f"{opens}:{minutes.zfill(2)} to {closes}:{last.zfill(2)}"


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


def plain_line(line: TextLine) -> list[Rendered]:
    """A line that is no record, as it is."""
    whole = Rendered(line.start, line.end, end_sentence(line.raw))
    return split_long(whole, line.raw.strip(), most=LONG_TEXT)


Grid = Sequence[Sequence[str]]

_HEADER = re.compile(r"[^\W\d][\w '&/#%()$.-]{0,39}|#")
_PIPE = re.compile(r"(?<!\\)\|")
_DASHES = re.compile(r":?-+:?")


def render_tables(lines: Sequence[TextLine]) -> tuple[Rendered, ...]:
    """All Markdown tables and the lines around them; nothing where there is no table."""
    if not any(_table_end(lines, at) > at for at in range(len(lines))):
        return ()
    rendered: list[Rendered] = []
    at = 0
    while at < len(lines):
        end = _table_end(lines, at)
        rendered += _table(lines[at:end]) if end > at else plain_line(lines[at])
        at = max(end, at + 1)
    return tuple(rendered)


def _table_end(lines: Sequence[TextLine], at: int) -> int:
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
    dashes = _cells(lines[at + 1].raw)
    dashed = len(dashes) > 1 and all(_DASHES.fullmatch(cell) for cell in dashes)
    return dashed and len(dashes) == len(_cells(lines[at].raw))


def _table(lines: Sequence[TextLine]) -> list[Rendered]:
    grid = [_cells(line.raw) for line in lines]
    return [*_header(lines[0], lines[1].end, grid[0]), *_rows(lines[2:], grid[0], grid[2:])]


def _header(line: TextLine, end: int, cells: Sequence[str]) -> list[Rendered]:
    return split_long(Rendered(line.start, end, _columns(cells)), line.raw.strip())


def _cells(raw: str) -> list[str]:
    body = one_line(raw).removeprefix("|")
    body = body.removesuffix("|") if not body.endswith("\\|") else body
    return [cell.strip().replace("\\|", "|") for cell in _PIPE.split(body)]


def _columns(header: Sequence[str]) -> str:
    names = ", ".join(words_from_key(cell) or cell for cell in header if cell)
    return as_sentence(f"Columns: {names[:1].upper()}{names[1:]}")


def _rows(lines: Sequence[TextLine], header: Sequence[str], rows: Grid) -> list[Rendered]:
    names = [words_from_key(cell) for cell in header]
    rendered = []
    for line, cells in zip(lines, rows, strict=True):
        words = _row(names, cells) if any(cells) else end_sentence(line.raw)
        subject = cells[0] if cells and len(cells[0]) <= LONGEST_NAME else ""
        whole = Rendered(line.start, line.end, words)
        rendered += split_long(whole, line.raw.strip(), owner=subject)
    return rendered


def _row(names: Sequence[str], cells: Sequence[str]) -> str:
    """A row in words: the first cell is the subject; cells that a short row lacks are skipped."""
    facts = [
        f"{name} is {cell or 'not given'}" if name else cell
        for name, cell in zip_longest(names[1 : len(cells)], cells[1:], fillvalue="")
        if name or cell
    ]
    words = ": ".join(part for part in (cells[0], "; ".join(facts)) if part)
    # A cell may be a name, so its case stays; only words from a header are capitalised.
    return end_sentence(words) if cells[0] or not words else as_sentence(words)


def render_delimited(lines: Sequence[TextLine]) -> tuple[Rendered, ...]:
    """Tables with tabs or commas under a header; nothing for any other lines."""
    for split in (_by_tab, _by_comma):
        grid = _grid(lines, split)
        if grid and (split is _by_tab or _is_csv(lines, grid)):
            header = _header(lines[0], lines[0].end, grid[0])
            return *header, *_rows(lines[1:], grid[0], grid[1:])
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
    """The sentences of a record or table, disjoint and in order; None for any other text."""
    root = parse_json(text)
    if root is not None:
        rendered = (part for leaf in leaves(root) for part in _of_leaf(text, leaf))
        return tuple(rendered) if root.members else None
    if text.lstrip().startswith("{"):
        return None
    lines = _lines(text)
    return render_tables(lines) or _pairs(lines) or render_delimited(lines) or None


def _of_leaf(text: str, leaf: JsonLeaf) -> Sequence[Rendered]:
    start, end = leaf.start, leaf.node.end
    key = words_from_key(leaf.key)
    if leaf.names_owner:
        return [Rendered(start, end, as_sentence(f"the {key} is {one_line(leaf.node.text)}"))]
    if leaf.node.kind is JsonKind.STRING and end - leaf.node.start > LONG_TEXT:
        return list(_of_prose(text, leaf, key))
    kind, value = leaf.meaning
    if not key:
        words = end_sentence(value if leaf.is_element and value else text[start:end])
    else:
        kind = kind_of_flag(key, kind, value)
        words = as_sentence(_in_context(leaf, key, kind, format_hours(value)), leaf.owner)
    whole = Rendered(start, end, words)
    return [whole] if len(words) <= MAX_SENTENCE else split_long(whole, text[start:end])


def _of_prose(text: str, leaf: JsonLeaf, key: str) -> Iterator[Rendered]:
    """A long string, sentence by sentence: the first has the key, each has the owner."""
    at, behind = leaf.inside(text)
    unescaped, offsets = unescape_with_offsets(text[at:behind])
    found = list(sentence_spans(unescaped)) or [(0, len(unescaped))]
    for start, end in found:
        words = one_line(unescaped[start:end])
        if start == found[0][0] and key:
            words = _in_context(leaf, key, JsonKind.ARRAY, words)
        yield Rendered(
            leaf.start if start == found[0][0] else at + offsets[start],
            leaf.node.end if end == found[-1][1] else at + offsets[end],
            as_sentence(words, leaf.owner),
        )


def _in_context(leaf: JsonLeaf, key: str, kind: JsonKind, value: str) -> str:
    """The fact with its parents' names, unless the key repeats a word of the nearest one."""
    parents = [words_from_key(parent) for parent in leaf.parents]
    nearest = parents[-1].split() if parents else []
    if nearest[-1:] == ["hours"]:
        day = f"{key} {parents[-1]}"
        is_text = value and kind is JsonKind.STRING
        return f"{day}: {value}" if is_text else fact_text(day, kind, value)
    is_alone = not nearest or not set(nearest).isdisjoint(key.split())
    return fact_text(key, kind, value, "" if is_alone else f"{' '.join(parents)}: ")


def _lines(text: str) -> list[TextLine]:
    found = []
    for match in re.finditer(r"[^\r\n]+", text):
        raw = match.group()
        if _VISIBLE.search(raw):
            indent = len(raw) - len(raw.lstrip())
            found.append(TextLine(match.start() + indent, match.start() + len(raw.rstrip()), raw))
    return found


def _pairs(lines: Sequence[TextLine]) -> tuple[Rendered, ...]:
    """A block of keys and values; repeated keys are speakers or numbered steps, so no block."""
    pairs = [_pair(line.raw) for line in lines]
    keys = [re.sub(r"\d+", "", pair[0]).lower() for pair in pairs if pair]
    if len(keys) < max(2, _PAIR_SHARE * len(lines)) or len(set(keys)) < len(keys):
        return ()
    rendered = (
        [Rendered(line.start, line.end, as_sentence(_of_pair(*pair)))] if pair else plain_line(line)
        for line, pair in zip(lines, pairs, strict=True)
    )
    return tuple(part for parts in rendered for part in parts)


def _of_pair(key: str, value: str) -> str:
    name = words_from_key(key)
    return fact_text(name, kind_of_flag(name, JsonKind.STRING, value), format_hours(value))


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
    return match["key"], unquote(value)


def segment(text: str, passage_id: str = "", first_index: int = 0) -> tuple[Sentence, ...]:
    """The sentences of a text: disjoint, in order, and together all characters except whitespace.

    Offsets are code points of `text`. List items, headings and table rows are sentences.
    """
    return tuple(
        Sentence(first_index + number, start, end, text[start:end], passage_id)
        for number, (start, end) in enumerate(sentence_spans(text))
    )


def segment_passages(passages: Iterable[Passage]) -> tuple[Sentence, ...]:
    """The sentences of all passages; their indices continue from passage to passage.

    JSON, key-value blocks and tables become sentences in words with the offsets of their source.
    """
    found: list[Sentence] = []
    for passage in passages:
        parts = render_structured(passage.text)
        if parts is None:
            found.extend(segment(passage.text, passage.id, len(found)))
            continue
        for start, end, words in parts:
            text = passage.text[start:end]
            found.append(Sentence(len(found), start, end, text, passage.id, words))
    return tuple(found)
