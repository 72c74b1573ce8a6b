"""JSON that means one thing."""

from __future__ import annotations

import json

import pytest

from otel_rt4chart.core.strict_json import JsonTooLargeError, strict_json


def test_plain_json_is_read() -> None:
    """As the standard library does."""
    text = '{"a": [1, 2.5, null, true, "x"], "b": {"a": 1e300}}'

    assert strict_json(text) == json.loads(text)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('{"a": NaN}', "NaN is not a JSON number"),
        ("[-Infinity]", "-Infinity is not a JSON number"),
        ('{"a": 1e999}', "the number 1e999 is too large"),
        ('{"a": {"b": 1, "c": 2, "b": 3}}', "an object has the name 'b' twice"),
        ("{", "Expecting property name"),
    ],
)
def test_what_has_two_meanings_or_none_is_refused(text: str, problem: str) -> None:
    """The last of two values would win silently."""
    with pytest.raises(ValueError, match=problem):
        strict_json(text)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[" * 100_000 + "]" * 100_000, "it is nested too deeply"),
        (f"[{'7' * 5000}]", "an integer of 5000 digits is too large"),
        (f"[-{'7' * 5000}]", "an integer of 5000 digits is too large"),
        ("[1e999999]", "the number 1e999999 is too large"),
    ],
)
def test_json_that_is_too_large_is_told_apart(text: str, problem: str) -> None:
    """It is JSON, which another program may read."""
    with pytest.raises(JsonTooLargeError, match=problem):
        strict_json(text)
