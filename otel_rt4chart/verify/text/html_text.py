"""HTML as plain text with the offsets of its source: blocks on lines apart, tables in Markdown."""

from __future__ import annotations

import html
import re
from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field
from html.parser import HTMLParser

_BREAKS = frozenset({"br", "img", "input", "wbr"})
_CELLS = frozenset({"td", "th"})
_TABLE_PARTS = frozenset({"table", "thead", "tbody", "tfoot", "tr", "caption"}) | _CELLS
_BLOCKS = _TABLE_PARTS | frozenset(
    """address article aside blockquote body dd details div dl dt fieldset figcaption figure footer
    form h1 h2 h3 h4 h5 h6 head header hr html li main nav ol p pre section summary title
    ul""".split()  # noqa: SIM905
)
_HIDDEN = frozenset({"script", "style", "template"})
# Each of these ends at the next "<", so that the search is linear in whatever it is given: the
# parser of the standard library is not, and reads one tag at a time.
_COMMENT = r"<!--(?:[^<-]|-(?!->)|<(?!!--)){0,10000}-->"
_TAG = (
    r"""</?[a-zA-Z](?:[^<>"']|"[^"<]{0,2000}"|'[^'<]{0,2000}'){0,400}>|</?[a-zA-Z][^<>]{0,999}>"""
)
_ENTITY = r"&(?:\#[0-9]{1,7}|\#[xX][0-9a-fA-F]{1,6}|[a-zA-Z][a-zA-Z0-9]{1,31});"
_TOKEN = re.compile(rf"(?P<tag>{_TAG})|(?P<entity>{_ENTITY})|{_COMMENT}|<![dD][^<>]{{0,500}}>")
_CLOSED_BLOCK = re.compile(rf"</(?:{'|'.join(sorted(_BLOCKS))})\s*>", re.IGNORECASE)
_MAX_SPAN = 100  # columns or rows that one cell is read for
_MAX_COPIES, _MAX_COPIED = 5_000, 50_000  # cells, and characters, that spans repeat in a passage


@dataclass(slots=True)
class HtmlText:
    """A plain text; character `i` stands for `source[starts[i]:ends[i]]`, which may be empty."""

    parts: list[str] = field(default_factory=list)
    starts: array[int] = field(default_factory=lambda: array("q"))
    ends: array[int] = field(default_factory=lambda: array("q"))

    @property
    def text(self) -> str:
        """The plain text."""
        return "".join(self.parts)

    def source_range(self, start: int, end: int) -> tuple[int, int]:
        """The range of the source that `text[start:end]` stands for."""
        return self.starts[start], self.ends[end - 1]

    def add(self, text: str, start: int, end: int) -> None:
        """Add a text that as a whole stands for `source[start:end]`."""
        self.parts.append(text)
        self.starts.extend([start] * len(text))
        self.ends.extend([end] * len(text))

    def add_copy(self, text: str, start: int) -> None:
        """Add a text that stands in the source from `start` on, character by character."""
        self.parts.append(text)
        self.starts.extend(range(start, start + len(text)))
        self.ends.extend(range(start + 1, start + 1 + len(text)))

    def add_all(self, other: HtmlText) -> None:
        """Add another text with its offsets."""
        self.parts += other.parts
        self.starts.extend(other.starts)
        self.ends.extend(other.ends)


def read_html(source: str) -> HtmlText | None:
    """The text of an HTML fragment, however broken; None for a text without a closed block."""
    if _CLOSED_BLOCK.search(source) is None:
        return None
    reader = _HtmlReader(source)
    at = 0
    for token in _TOKEN.finditer(source):
        reader.read_text(at, token.start())
        at = token.end()
        if token["tag"]:
            reader.read_tag(token["tag"], token.start(), at)
        elif token["entity"]:
            reader.read_entity(token["entity"], token.start(), at)
    reader.read_text(at, len(source))
    reader.close_table()
    return reader.page


class _TagParser(HTMLParser):
    """Reads one tag at a time: its name, its attributes, whether it opens or closes."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=False)
        self.name, self.is_end = "", False
        self.attributes: dict[str, str | None] = {}

    def parse(self, tag: str) -> None:
        self.reset()
        self.name, self.is_end, self.attributes = "", False, {}
        self.feed(tag)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.name, self.attributes = tag, dict(attrs)

    def handle_endtag(self, tag: str) -> None:
        if not self.name:  # `<br/>` is reported as opened and closed
            self.name, self.is_end = tag, True

    def span(self, name: str) -> int:
        """The value of `colspan` or `rowspan`; 1 for one that is no number."""
        value = (self.attributes.get(name) or "").strip()
        is_number = value.isascii() and value.isdigit() and len(value) < 5
        return min(max(int(value), 1), _MAX_SPAN) if is_number else 1


@dataclass(slots=True)
class _HtmlCell:
    """A cell; where it spans columns or rows, it is repeated in each of them.

    A caption, and text between the cells, is a cell that spans all columns.
    """

    content: HtmlText = field(default_factory=HtmlText)
    is_header: bool = False
    columns: int = 1
    rows: int = 1

    @property
    def text(self) -> str:
        """The text on one line, as a cell of a Markdown table."""
        return " ".join(self.content.text.split()).replace("|", "\\|")


_HtmlRow = list[_HtmlCell]


class _HtmlTable:
    """The rows of a table as they are read, with the cells that span several filled in."""

    def __init__(self) -> None:
        self.rows: list[_HtmlRow] = []
        self.is_complete = True  # else cells are missing, and those behind them have other headers
        self.depth = 1  # a table in a cell is a part of the cell's text
        self._row: _HtmlRow = []
        self._cell: _HtmlCell | None = None
        self._below: dict[int, tuple[int, _HtmlCell]] = {}  # rows left of a cell above, by column
        self._copies, self._copied = _MAX_COPIES, _MAX_COPIED

    @property
    def has_cell(self) -> bool:
        """True while a cell is open."""
        return self._cell is not None

    def open_cell(self, *, is_header: bool, columns: int, rows: int) -> None:
        """Begin the next cell of the row."""
        self.close_cell()
        self._take_from_above()
        self._cell = _HtmlCell(HtmlText(), is_header, columns, rows)

    def content(self) -> HtmlText:
        """Where text goes; text between the cells is a row of its own."""
        if self._cell is None:
            self.close_row()
            self._cell = _HtmlCell(columns=_MAX_SPAN)
        return self._cell.content

    def close_cell(self) -> None:
        """End the open cell, if there is one."""
        cell, self._cell = self._cell, None
        if cell is None:
            return
        at = len(self._row)
        self._row.append(cell)
        is_whole = cell.columns == _MAX_SPAN
        for _ in range(0 if is_whole else cell.columns - 1):
            self._add_copy(cell)
        if cell.rows > 1 and self.is_complete:
            self._below |= dict.fromkeys(range(at, len(self._row)), (cell.rows - 1, cell))

    def close_row(self) -> None:
        """End the row; one without cells is none."""
        self.close_cell()
        if self._row:
            self._take_from_above()
            self.rows.append(self._row)
        self._row = []

    def _take_from_above(self) -> None:
        """Repeat the cells above that reach down to the next columns of this row."""
        while self.is_complete and (found := self._below.pop(len(self._row), None)) is not None:
            left, cell = found
            if left > 1:
                self._below[len(self._row)] = (left - 1, cell)
            self._add_copy(cell)

    def _add_copy(self, cell: _HtmlCell) -> None:
        """Repeat the cell in the row; a copy has no place in the source."""
        if not self.is_complete:
            return
        text = cell.text
        self._copies -= 1
        self._copied -= len(text)
        self.is_complete = self._copies >= 0 and self._copied >= 0
        copied = HtmlText()
        copied.add(text, -1, -1)
        self._row.append(_HtmlCell(copied, cell.is_header))


class _HtmlReader:
    """Turns tags, entities and the text between them into plain text."""

    def __init__(self, source: str) -> None:
        self.page = HtmlText()
        self._source = source
        self._tag = _TagParser()
        self._table: _HtmlTable | None = None
        self._hidden = ""
        self._unclosed: set[str] = set()  # not searched for again
        self._is_in_block = False

    def read_text(self, start: int, end: int) -> None:
        """Text between tags; in a block, line breaks are spaces."""
        text = self._source[start:end]
        is_between = self._table is not None and not self._table.has_cell
        if not text or self._hidden or (is_between and text.isspace()):
            return
        is_flat = self._is_in_block or self._table is not None
        self._target().add_copy(re.sub(r"[\r\n\t]", " ", text) if is_flat else text, start)

    def read_entity(self, entity: str, start: int, end: int) -> None:
        """A character reference; one that is unknown stays as it is written."""
        if not self._hidden:
            self._target().add(html.unescape(entity).replace("\xa0", " "), start, end)

    def read_tag(self, tag: str, start: int, end: int) -> None:
        """A tag, which may begin or end a block, a cell, a row or a table."""
        self._tag.parse(tag)
        name, is_end = self._tag.name, self._tag.is_end
        if self._hidden:
            self._hidden = "" if is_end and name == self._hidden else self._hidden
        elif name in _HIDDEN and not is_end:
            # What follows a script that is never closed may be text.
            is_closed = name not in self._unclosed and self._source.find(f"</{name}", end) >= 0
            self._hidden = name if is_closed else ""
            self._unclosed |= set() if is_closed else {name}
        elif name in _TABLE_PARTS:
            self._read_table_tag(name, start, is_end=is_end)
        elif name in _BLOCKS or name in _BREAKS:
            self._break(start)
            self._is_in_block = not is_end if name in _BLOCKS else self._is_in_block

    def close_table(self) -> None:
        """Write the open table, if there is one."""
        table, self._table = self._table, None
        if table is not None:
            table.close_row()
            _write_table(self.page, table.rows, with_headers=table.is_complete)

    def _target(self) -> HtmlText:
        return self.page if self._table is None else self._table.content()

    def _break(self, at: int) -> None:
        """Keep the words on both sides of a block apart."""
        if self._table is None:
            self.page.add("\n\n", at, at)
        elif self._table.has_cell:
            self._table.content().add(" ", at, at)

    def _read_table_tag(self, name: str, at: int, *, is_end: bool) -> None:
        table = self._table
        if table is None:
            self._break(at)
            self._is_in_block = False
            if is_end:
                return
            # A passage may begin in the middle of a table.
            table = self._table = _HtmlTable()
        elif name == "table":
            table.depth += -1 if is_end else 1
        if table.depth == 0:
            self.close_table()
            self._break(at)
        elif table.depth > 1:
            self._break(at)
        elif name in _CELLS and not is_end:
            columns, rows = self._tag.span("colspan"), self._tag.span("rowspan")
            table.open_cell(is_header=name == "th", columns=columns, rows=rows)
        elif name in _CELLS:
            table.close_cell()
        elif name != "table":
            table.close_row()


def _write_table(page: HtmlText, rows: Sequence[_HtmlRow], *, with_headers: bool) -> None:
    """The rows in Markdown under their header; a cell that is all of its row is a line.

    Rows without a header stay lines of cells, unless each is a header and its value.
    """
    names = ["field", "value"] if with_headers and _is_property_list(rows) else []
    headers: list[_HtmlRow] = []  # that no row followed yet
    is_under_header = False
    for row in rows:
        if not any(cell.text for cell in row):
            continue
        if _is_line(row):
            for each in (*headers, row):
                _write_line(page, each)
            headers, is_under_header = [], False
        elif with_headers and all(cell.is_header for cell in row):
            names = _joined_names(names if headers else [], row)
            headers.append(row)
            is_under_header = False
        else:
            if names and not is_under_header:
                at = _first_place(row, page)
                dashes = ["---"] * len(names)
                page.add("".join(f"| {' | '.join(one)} |\n" for one in (names, dashes)), at, at)
            is_under_header = bool(names)
            headers = []
            _write_row(page, row, "|" if names else "")
    for row in headers:
        _write_line(page, row)


def _is_property_list(rows: Sequence[_HtmlRow]) -> bool:
    """True where each row is a header and one value: "Weight", "254 g"."""
    inner = [row for row in rows if not _is_line(row)]
    return bool(inner) and all(
        len(row) == 2 and row[0].is_header and not row[1].is_header for row in inner
    )


def _is_line(row: _HtmlRow) -> bool:
    return len(row) == 1 or row[0].columns >= len(row)


def _joined_names(above: Sequence[str], row: _HtmlRow) -> list[str]:
    """The headers with those above them: "Price" over "monthly" is "Price monthly"."""
    names = []
    for at, cell in enumerate(row):
        first = above[at] if at < len(above) else ""
        names.append(first if first == cell.text else f"{first} {cell.text}".strip())
    return names


def _first_place(row: _HtmlRow, page: HtmlText) -> int:
    """Where the row begins in the source; a copy of a cell is nowhere."""
    starts = (cell.content.starts[0] for cell in row if cell.content.starts)
    return next((start for start in starts if start >= 0), page.ends[-1] if page.ends else 0)


def _write_line(page: HtmlText, row: _HtmlRow) -> None:
    at = _first_place(row, page)
    page.add("\n\n", at, at)
    _write_row(page, row if len(row) > 1 and row[0].columns < len(row) else row[:1], "")
    page.add("\n", page.ends[-1], page.ends[-1])


def _write_row(page: HtmlText, row: _HtmlRow, edge: str) -> None:
    """The cells with bars between them; each copy stands where the cell before it ends."""
    at = _first_place(row, page)
    page.add(f"{edge} ", at, at)
    for number, cell in enumerate(row):
        if number:
            page.add(" | ", at, at)
        content = cell.content
        for letter, start, end in zip(content.text, content.starts, content.ends, strict=True):
            at = max(at, end)
            written = "\\|" if letter == "|" else letter
            page.add(written, start if start >= 0 else at, at)
    page.add(f" {edge}\n", at, at)
