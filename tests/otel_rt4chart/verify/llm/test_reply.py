from __future__ import annotations

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_rt4chart.verify.core.model import Label
from otel_rt4chart.verify.llm.replies import label_of, listed, number_of, numbers_of, objects

ITEMS = [{"claim": 1, "label": "entailed"}, {"claim": 2, "label": "baseless"}]


@pytest.mark.parametrize(
    "reply",
    [
        json.dumps({"verdicts": ITEMS}),
        json.dumps(ITEMS),
        f"Sure:\n```json\n{json.dumps({'verdicts': ITEMS}, indent=2)}\n```",
        "\n".join(map(json.dumps, ITEMS)),
        f"[1] is a note. {json.dumps(ITEMS)} and {{more}}",
        json.dumps({"verdicts": ITEMS})[:-1],
    ],
    ids=["object", "list", "fence", "lines", "prose", "cut"],
)
def test_the_objects_are_found_wherever_they_stand(reply: str) -> None:
    """Models wrap JSON in many ways."""
    assert objects(reply, "verdicts") == ITEMS


DRAFT = {"verdicts": [{"claim": 1, "label": "baseless"}]}


@pytest.mark.parametrize(
    "reply",
    [
        f"<think>Form: {json.dumps(DRAFT)} no</think>{json.dumps({'verdicts': ITEMS})}",
        f"<think>{json.dumps(DRAFT)}</think>\n{json.dumps(ITEMS)}",
        f"{json.dumps(DRAFT)} Better:\n{json.dumps({'verdicts': ITEMS})[:-2]}, {{",
        f"{json.dumps({'verdicts': ITEMS})} [1] and {{}} and {json.dumps({'note': 1})}",
    ],
    ids=["think", "bare list", "broken off", "notes after it"],
)
def test_only_the_last_list_counts(reply: str) -> None:
    """What a model drafts before it answers is not its answer."""
    assert objects(reply, "verdicts") == ITEMS


@pytest.mark.parametrize(
    ("reply", "is_cut", "is_whole"),
    [
        ('{"claims": []}', False, True),
        ('{"claims": [{"claim": "A."}]}\n', True, True),
        ('{"claim": "A."}\n{"claim": "B."}', False, True),
        ('{"claim": "A."}\n{"claim": "B."}', True, False),
        ('{"claims": [{"claim": "A."}, {"cla', False, False),
        ('{"claims": [{"claim": "A."}]} No, rather: ', True, False),
        ('{"claims": ["A."]}', False, False),
        ("I cannot list claims.", False, False),
        ("", False, False),
    ],
)
def test_a_list_is_whole_where_nothing_of_it_is_missing(
    reply: str, is_cut: bool, is_whole: bool
) -> None:
    """An empty list is an answer, no list is none."""
    assert listed(reply, "claims", is_cut=is_cut).is_whole is is_whole


@given(st.text(max_size=400) | st.text('{}[]",: 1a', max_size=400))
def test_any_reply_can_be_read(reply: str) -> None:
    """What a model sends is untrusted: reading it never fails."""
    assert all(isinstance(one, dict) for one in objects(reply, "verdicts"))


@pytest.mark.parametrize(
    "reply",
    ["[" * 60_000, '{"a":' * 30_000, "[" * 900 + "[1]," * 60_000, '"verdicts": [' * 60_000],
    ids=["lists", "objects", "unclosed", "openings"],
)
def test_a_deeply_nested_reply_is_read_in_time(reply: str) -> None:
    """Neither the stack nor the clock runs out."""
    began = time.process_time()

    assert objects(reply, "verdicts") == []
    assert time.process_time() - began < 2


def test_a_long_text_is_no_number() -> None:
    """And it is seen to be none at once."""
    began = time.process_time()

    assert number_of(" " * 100_000 + "x") is None
    assert time.process_time() - began < 1


@pytest.mark.parametrize(
    ("written", "label"),
    [
        ("entailed", Label.ENTAILED),
        ("SUPPORTED.", Label.ENTAILED),
        ("Not in context", Label.BASELESS),
        ("not-supported", Label.BASELESS),
        ("refutes", Label.CONTRADICTED),
        ("maybe", None),
        (None, None),
        (True, None),
    ],
)
def test_labels_are_read_in_the_words_of_the_field(written: object, label: Label | None) -> None:
    """What is no label is none: it is not guessed."""
    assert label_of(written) is label


@pytest.mark.parametrize(
    ("written", "number"),
    [(3, 3), ("3", 3), ("[3]", 3), ("s3", 3), (3.0, 3), (True, None), ("three", None), ({}, None)],
)
def test_numbers_are_read_as_they_are_written(written: object, number: int | None) -> None:
    """Models write ids in brackets, as text, with a letter."""
    assert number_of(written) == number


def test_a_list_of_numbers_keeps_what_is_one() -> None:
    """Each once, in order."""
    assert numbers_of([2, "1", 2, None, "x", [4]]) == (2, 1)
    assert numbers_of("7") == (7,)
