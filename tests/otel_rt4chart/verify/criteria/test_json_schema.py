from __future__ import annotations

import json
import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from otel_rt4chart.verify.criteria.json_schema import (
    SchemaTooLargeError,
    check_schema,
    find_mismatch,
)
from otel_rt4chart.verify.criteria.patterns import TooSlowError

TREE = {
    "$defs": {"node": {"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}}}},
    "$ref": "#/$defs/node",
}
CASES: list[tuple[Any, Any, bool]] = [
    (True, 1, True),
    (False, 1, False),
    ({"type": "integer"}, 3, True),
    ({"type": "integer"}, 3.0, True),
    ({"type": "integer"}, 3.5, False),
    ({"type": "integer"}, True, False),
    ({"type": "number"}, 10**400, True),
    ({"type": ["string", "null"]}, None, True),
    ({"type": ["string", "null"]}, [], False),
    ({"enum": [1, "a"]}, 1.0, True),
    ({"enum": [1, "a"]}, True, False),
    ({"const": {"a": [1]}}, {"a": [1.0]}, True),
    ({"const": {"a": [1]}}, {"a": [2]}, False),
    ({"minimum": 2, "maximum": 4}, 3, True),
    ({"minimum": 2, "maximum": 4}, 5, False),
    ({"minimum": 2}, "1", True),
    ({"exclusiveMinimum": 2}, 2, False),
    ({"exclusiveMaximum": 2}, 1.9, True),
    ({"multipleOf": 0.1}, 0.3, True),
    ({"multipleOf": 3}, 7, False),
    ({"minLength": 2}, "a", False),
    ({"maxLength": 2}, "abc", False),
    ({"pattern": "^a"}, "ba", False),
    ({"pattern": "b"}, "abc", True),
    ({"items": {"type": "string"}}, ["a", 1], False),
    ({"prefixItems": [{"type": "string"}], "items": {"type": "integer"}}, ["a", 1], True),
    ({"prefixItems": [{"type": "string"}], "items": False}, ["a", 1], False),
    ({"minItems": 1}, [], False),
    ({"uniqueItems": True}, [1, True, "1"], True),
    ({"uniqueItems": True}, [1, 1.0], False),
    ({"contains": {"const": 1}}, [2, 1], True),
    ({"contains": {"const": 1}}, [], False),
    ({"required": ["a"]}, {"a": None}, True),
    ({"required": ["a"]}, {}, False),
    ({"properties": {"a": {"type": "string"}}}, {"a": 1}, False),
    ({"properties": {"a": True}, "additionalProperties": False}, {"a": 1}, True),
    ({"properties": {"a": True}, "additionalProperties": False}, {"b": 1}, False),
    ({"patternProperties": {"^x": {"type": "string"}}}, {"x1": 1}, False),
    ({"patternProperties": {"^x": True}, "additionalProperties": False}, {"x1": 1}, True),
    ({"propertyNames": {"maxLength": 1}}, {"ab": 1}, False),
    ({"maxProperties": 1}, {"a": 1, "b": 2}, False),
    ({"allOf": [{"minimum": 1}, {"maximum": 2}]}, 3, False),
    ({"anyOf": [{"type": "string"}, {"minimum": 2}]}, 3, True),
    ({"anyOf": [{"type": "string"}, {"minimum": 2}]}, 1, False),
    ({"oneOf": [{"minimum": 1}, {"minimum": 2}]}, 3, False),
    ({"oneOf": [{"minimum": 1}, {"minimum": 2}]}, 1, True),
    ({"not": {"type": "string"}}, "a", False),
    (TREE, {"next": {"next": {}}}, True),
    (TREE, {"next": {"next": 1}}, False),
]


@pytest.mark.parametrize(("schema", "value", "fits"), CASES)
def test_a_value_fits_a_schema_or_not(schema: object, value: object, fits: bool) -> None:
    """As JSON Schema says."""
    check_schema(schema)

    found = find_mismatch(json.dumps(schema), value)

    assert (found is None) is fits


def test_a_mismatch_names_the_place() -> None:
    """From the root of the value on."""
    schema = {"properties": {"days": {"items": {"type": "integer"}}}}

    found = find_mismatch(json.dumps(schema), {"days": [1, "two"]})

    assert found == "$.days[1]: expected integer, got string"


@pytest.mark.parametrize(
    ("schema", "told"),
    [
        ([], r"\$: expected a schema, got array"),
        ({"format": "date"}, "the keyword 'format' is not checked here"),
        ({"requird": ["a"]}, "the keyword 'requird' is not checked here"),
        ({"properties": {"a": {"type": "text"}}}, r"\$\.properties\.a\.type: expected of null"),
        ({"required": "a"}, "expected a list of names"),
        ({"minLength": -1}, "expected a number from 0"),
        ({"pattern": "("}, "expected a regular expression"),
        ({"patternProperties": {"(": True}}, "expected a regular expression"),
        ({"$ref": "https://example.org/s.json"}, "a place in the schema itself"),
        ({"$ref": "#/$defs/none"}, "a place in the schema itself"),
        ({"anyOf": []}, "expected a list of schemas"),
        ({"items": [1]}, "expected a schema"),
        ({"uniqueItems": "yes"}, "expected true or false"),
        ({"multipleOf": 0}, "expected a number above 0"),
    ],
)
def test_what_is_not_checked_is_refused(schema: object, told: str) -> None:
    """At the start: nobody should believe that a misspelt keyword is looked at."""
    with pytest.raises(ValueError, match=told):
        check_schema(schema)


def test_a_schema_that_leads_to_itself_ends() -> None:
    """Without a step into the value."""
    with pytest.raises(SchemaTooLargeError):
        find_mismatch('{"$ref": "#"}', 1)


def test_comparing_takes_a_bounded_time() -> None:
    """Schemas of schemas multiply, and an answer may be made for a pattern."""
    both = {"anyOf": [{"$ref": "#/$defs/a"}, {"$ref": "#/$defs/a"}]}
    schema = {"$defs": {"a": {"properties": {"n": both}, "type": "object"}}, "$ref": "#/$defs/a"}
    deep: Any = 1
    for _ in range(40):
        deep = {"n": deep}
    started = time.monotonic()

    with pytest.raises(SchemaTooLargeError):
        find_mismatch(json.dumps(schema), deep)
    with pytest.raises(TooSlowError):
        find_mismatch('{"items": {"pattern": "(a|a|b?a)+\\\\d$"}}', ["a" * 3_000 + "!"] * 100)
    with pytest.raises(SchemaTooLargeError):
        find_mismatch('{"uniqueItems": true}', list(range(20_000)))

    assert time.monotonic() - started < 5


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda of: st.lists(of, max_size=3) | st.dictionaries(st.text(max_size=3), of, max_size=3),
    max_leaves=6,
)
schemas = st.sampled_from([schema for schema, _, _ in CASES])


@settings(max_examples=200, deadline=None)
@given(schema=schemas, value=json_values)
def test_any_value_is_compared(schema: object, value: object) -> None:
    """With an answer, and `not` turns it."""
    fits = find_mismatch(json.dumps(schema), value) is None

    if schema is not TREE:  # its references are of the root
        assert (find_mismatch(json.dumps({"not": schema}), value) is None) is not fits
