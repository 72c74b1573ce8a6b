from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_rt4chart.verify.text.json_offsets import (
    MAX_LEVELS,
    JsonKind,
    JsonNode,
    leaves,
    parse_json,
)

scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
containers = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
).filter(lambda value: isinstance(value, list | dict))


def value_of(node: JsonNode) -> object:
    """What a node stands for, to compare with what was written."""
    if node.kind is JsonKind.OBJECT:
        return {member.key: value_of(member.node) for member in node.members}
    if node.kind is JsonKind.ARRAY:
        return [value_of(member.node) for member in node.members]
    return node.text if node.kind is JsonKind.STRING else json.loads(node.text)


@given(containers, st.sampled_from([None, 2]), st.booleans())
def test_json_is_read_as_the_standard_library_reads_it(
    value: object, indent: int | None, ascii_only: bool
) -> None:
    """Values, order and nesting are the same, whatever the indentation and the escapes."""
    root = parse_json(json.dumps(value, indent=indent, ensure_ascii=ascii_only))
    assert root is not None
    assert value_of(root) == value


@given(containers)
def test_a_nodes_range_is_its_own_literal(value: object) -> None:
    """Each leaf's range holds text that reads as the same value."""
    text = json.dumps(value)
    root = parse_json(text)
    assert root is not None
    for leaf in leaves(root):
        source = text[leaf.node.start : leaf.node.end]
        assert json.loads(source) == value_of(leaf.node)


def test_python_literals_are_read_too() -> None:
    """Traces hold the repr of dictionaries: other quotes, None, True and False."""
    root = parse_json("""{'a': None, 'b': True, "c": u'it\\'s', 'd': [1, -2.5], 3: False}""")
    assert root is not None
    assert [(m.key, m.node.kind, m.node.text) for m in root.members] == [
        ("a", JsonKind.NULL, "None"),
        ("b", JsonKind.TRUE, "True"),
        ("c", JsonKind.STRING, "it's"),
        ("d", JsonKind.ARRAY, ""),
        ("3", JsonKind.FALSE, "False"),
    ]


@pytest.mark.parametrize(
    ("literal", "expected"),
    [
        (r'["\ud83d\ude00"]', "😀"),
        (r'["\ud83d"]', "\ufffd"),
        (r"['\x41\U0001f600\n\/']", "A😀\n/"),
    ],
)
def test_escapes_become_characters_that_can_be_encoded(literal: str, expected: str) -> None:
    """Surrogate pairs are joined and halves of one are replaced."""
    root = parse_json(literal)
    assert root is not None
    assert root.members[0].node.text == expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        '{"a": 1',
        '{"a": 1,}',
        '{"a" 1}',
        '{"a": 01}',
        '{"a": "\n"}',
        '{"a": 1} and more',
        "[1 2]",
        "[truely]",
        r'["\U99999999"]',
        "{null: 1}",
        '"text"',
        "12",
    ],
)
def test_anything_else_is_not_read(text: str) -> None:
    """Truncated or malformed literals, text behind them and bare scalars are refused."""
    assert parse_json(text) is None


def test_nesting_has_a_limit() -> None:
    """The deepest nesting that is allowed is read, one more level is refused."""
    assert parse_json("[" * MAX_LEVELS + "]" * MAX_LEVELS) is not None
    assert parse_json("[" * (MAX_LEVELS + 1) + "]" * (MAX_LEVELS + 1)) is None
    assert parse_json("[" * 500_000) is None
