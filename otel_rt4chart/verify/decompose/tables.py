"""Claims of a Markdown table in an answer: one a cell, read with its row and header."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from otel_rt4chart.verify.core.model import AnswerRange, DraftClaim, Fact, Sentence
from otel_rt4chart.verify.text.fact_words import words_from_key
from otel_rt4chart.verify.text.tables import (
    TextLine,
    cell_ranges,
    cell_words,
    list_subject,
    row_label,
    split_cells,
    table_end,
)

_BLANK = frozenset({"", "-", "–", "—", "n/a", "N/A", "?", "…", "..."})


def table_claims(sentences: Sequence[Sentence]) -> Mapping[int, tuple[DraftClaim, ...]]:
    """The drafts of each sentence that is a line of a table, by the sentence's index.

    Headers and blank cells claim nothing. A cell's claim says its row and header too:
    "X200: price is $249".
    """
    lines = [TextLine(one.start, one.end, one.text) for one in sentences]
    found: dict[int, tuple[DraftClaim, ...]] = {}
    at = 0
    while at < len(lines):
        end = table_end(lines, at)
        if end > at:
            header = split_cells(lines[at].raw)
            found |= {one.index: (_no_claim(one),) for one in sentences[at : at + 2]}
            for row in sentences[at + 2 : end]:
                found[row.index] = tuple(_of_row(row, header)) or (_no_claim(row),)
        at = max(end, at + 1)
    return found


def _no_claim(line: Sentence) -> DraftClaim:
    return DraftClaim(line.text, line.index, AnswerRange(line.start, line.end), is_claim=False)


def _of_row(row: Sentence, header: Sequence[str]) -> Iterator[DraftClaim]:
    cells = split_cells(row.text)
    if cells == list(header):
        return
    subject = list_subject(header, "")
    is_list = subject is not None and len(cells) == len(header)
    for at, (start, end) in enumerate(cell_ranges(row.text)):
        if not at or at >= len(cells) or cells[at] in _BLANK:
            continue
        name = cells[0] if is_list else header[at] if at < len(header) else ""
        label = subject or "" if is_list else row_label(header[0], cells[0], is_claim=True)
        words = cell_words(Fact(label, words_from_key(name), cells[at]), is_claim=True)
        text = f"{label}: {words}" if label else words[:1].upper() + words[1:]
        place = AnswerRange(row.start + start, row.start + end)
        is_number = any(map(str.isdigit, cells[at]))
        yield DraftClaim(text, row.index, place, "numeric" if is_number else "attribute")
