from __future__ import annotations

import re
from io import BytesIO
from typing import Any

import pytest

from otel_rt4chart.core.errors import InputError
from otel_rt4chart.verify.core import json_rows
from otel_rt4chart.verify.core.json_rows import NAMES, parse_row, read_row

ROW: dict[str, Any] = {"question": "How long?", "contexts": ["14 days."], "answer": "14 days."}


@pytest.mark.parametrize(
    ("field", "name"), [(field, name) for field, names in NAMES.items() for name in names]
)
def test_a_field_may_have_another_tools_name(field: str, name: str) -> None:
    """The exchange is the same; a name without a value is not used."""
    value = {key: held for key, held in ROW.items() if key != field} | {name: ROW[field]}
    empty = dict.fromkeys(set(NAMES[field]) - {name})

    assert read_row(value | empty) == read_row(ROW)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"response": "x"}, 'expected one of "answer", "response" or "output", got "answer" and '),
        ({"documents": ["x"]}, 'got "contexts" and "documents"'),
        ({"input": "x", "query": "y"}, 'got "question", "input" and "query"'),
        ({"answer": None}, 'expected "answer" (or "response" or "output") to be a string'),
        ({"answer": None, "output": {}}, 'expected "output" to be a string, got an object'),
        (
            {"contexts": None},
            'expected "contexts" (or "passages", "retrieved_contexts" or "documents") to be a list',
        ),
        ({"as_of": "yesterday"}, 'expected "as_of" to be a date such as 2026-01-31, got a string'),
        ({"as_of": 2026}, "got the int 2026"),
    ],
)
def test_what_is_ambiguous_or_missing_is_told_with_the_names(
    change: dict[str, object], told: str
) -> None:
    """Nobody has to guess which of two was verified."""
    with pytest.raises(InputError, match=re.escape(told)):
        read_row(ROW | change)


def test_a_row_keeps_its_own_date() -> None:
    """The other one is for rows without."""
    assert read_row(ROW, as_of="2026-01-31").exchange.as_of == "2026-01-31"
    assert read_row(ROW | {"as_of": "2025-01-31T10:00"}, as_of="2026").exchange.as_of[:4] == "2025"
    assert read_row(ROW).exchange.as_of == ""


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (b'{"id": 1e999}', "expected one JSON object a line: the number 1e999 is too large"),
        (b'{"id": -1e999}', "the number -1e999 is too large"),
        (b'{"answer": "a", "answer": "b"}', "an object has the name 'answer' twice"),
    ],
)
def test_json_without_one_meaning_is_refused(row: bytes, message: str) -> None:
    """A number would be written as Infinity; the last of two answers would be judged silently."""
    with pytest.raises(InputError, match=message):
        parse_row(row)


def test_day_that_no_calendar_has_is_refused() -> None:
    """A source cannot be stale on it."""
    row = {"contexts": ["a"], "answer": "b", "as_of": "2026-02-30"}

    with pytest.raises(InputError, match="a date such as 2026-01-31, got 2026-02-30"):
        read_row(row)


def test_line_that_is_too_long_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """A device such as /dev/zero is one line without end."""
    monkeypatch.setattr(json_rows, "MAX_LINE_BYTES", 4)
    lines = json_rows.read_lines(BytesIO(b"123\n1234"))

    assert list(lines) == [b"123\n", b"1234"]
    with pytest.raises(InputError, match="line 2: expected one JSON object a line of at most"):
        list(json_rows.read_lines(BytesIO(b"1\n12345")))
