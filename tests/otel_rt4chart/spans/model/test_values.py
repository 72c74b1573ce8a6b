from __future__ import annotations

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from otel_rt4chart.spans.model.values import (
    as_list,
    as_structure,
    as_text,
    nest_dotted_keys,
    parse_json,
)

JSON = st.recursive(
    st.none() | st.booleans() | st.floats(allow_nan=False) | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner),
    max_leaves=9,
)
OBJECTS = st.dictionaries(st.text(max_size=9), JSON, min_size=1)


@given(OBJECTS, st.floats(0, 1))
@example({"": 1e15}, 22 / 24)  # behind a number's point
@example({"": 1e22}, 8 / 12)  # behind its exponent's sign
@example({"": -1.0}, 6 / 10)
@example({"": float("-inf")}, 8 / 15)
@example({"": "\u00e9"}, 9 / 14)
def test_json_that_ends_early_is_told(value: dict[str, object], share: float) -> None:
    """Wherever a limit cuts it."""
    whole = json.dumps(value)
    length = max(1, min(int(len(whole) * share), len(whole) - 1))

    assert parse_json(whole).value == value
    assert parse_json(whole[:length]).is_cut


@pytest.mark.parametrize(
    "given",
    ["[1] says so.", "[Yes]", "[source 1] and [source 2]", "{a} or {b}", '"Yes", he said.', "14",
     '{"a": 1} is JSON', "[", "x" * 9],
)  # fmt: skip
def test_an_answer_that_only_looks_like_json_is_text(given: str) -> None:
    """Citations and quotations begin with a bracket too."""
    found = parse_json(given)

    assert (found.is_json, found.is_cut) == (False, given == "[")


def test_dotted_keys_are_maps_in_maps() -> None:
    """Another's map is not written to, and a name may be both."""
    inner: dict[str, object] = {"b": 1}

    assert nest_dotted_keys({"a": inner, "a.c": 2, "d.0.e": 3}) == {
        "a": {"c": 2},
        "d": {"0": {"e": 3}},
    }
    assert inner == {"b": 1}


def test_maps_with_indices_are_lists() -> None:
    """In the order of the numbers, not of the digits."""
    assert as_list({"10": "c", "2": "b", "0": "a"}) == ["a", "b", "c"]
    assert (as_list({"a": 1}), as_list("text"), as_list(None)) == ([], [], [])


def test_what_is_nested_too_deeply_becomes_text() -> None:
    """No depth costs more than it may."""
    value: object = "x"
    for _ in range(900):
        value = [value]

    assert "x" in str(as_structure(value))
    assert as_text({1: {2, 3}}).startswith('{"1":')
