"""Cases of eval sets and their rows."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_rt4chart.core.errors import InputError
from otel_rt4chart.verify.core.json_rows import read_row
from otel_rt4chart.verify.core.model import ClaimStatus, Exchange, Label, Passage
from rt4chart_clustering.evalset.case import (
    CaseSource,
    EvalCase,
    LabelledClaim,
    case_id,
    case_row,
    parse_case,
)
from rt4chart_clustering.evalset.load import parse_cases, read_cases

TEXTS = st.text(min_size=1).filter(str.strip)
WORDS = st.text(alphabet="abcdef0123456789", max_size=16)


@st.composite
def cases(draw: st.DrawFn) -> EvalCase:
    """Any case that could be promoted."""
    answer = draw(TEXTS)
    passages = tuple(
        Passage(f"p{number}", text) for number, text in enumerate(draw(st.lists(TEXTS, min_size=1)))
    )
    exchange = Exchange(draw(st.text()), passages, answer)
    start = draw(st.integers(0, len(answer)))
    claim = LabelledClaim(
        draw(TEXTS),
        draw(st.sampled_from(Label)),
        start,
        draw(st.integers(start, len(answer))),
        draw(st.sampled_from(ClaimStatus)),
    )
    source = CaseSource(trace_id=draw(WORDS), route=draw(WORDS))
    limits = tuple(draw(st.lists(TEXTS, max_size=2)))
    return EvalCase(case_id(exchange), exchange, (claim,), draw(WORDS), source, draw(WORDS), limits)


@given(cases())
def test_a_case_comes_back_from_its_row(case: EvalCase) -> None:
    """Through JSON, whatever its texts are."""
    assert parse_case(json.loads(json.dumps(case_row(case)))) == case


@given(cases())
def test_a_case_is_a_row_that_verify_reads(case: EvalCase) -> None:
    """So a set can be verified as it is."""
    assert read_row(case_row(case)).exchange == case.exchange


@given(cases(), TEXTS)
def test_the_same_question_over_the_same_passages_is_one_case(case: EvalCase, other: str) -> None:
    """Another answer to it changes nothing, another passage does."""
    question, passages = case.exchange.question, case.exchange.passages

    assert case_id(Exchange(question, passages, other)) == case.id
    assert case_id(Exchange(question, (*passages, Passage("x", other)), other)) != case.id


ROW = {"question": "How long?", "contexts": ["14 days."], "answer": "30 days."}


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"id": True}, 'expected "id" to be a string, got bool'),
        ({"source": "trace"}, 'expected "source" to be an object, got str'),
        ({"claims": {}}, None),
        ({"claims": "30 days"}, 'expected "claims" to be a list, got str'),
        ({"claims": ["30 days"]}, "expected a claim to be an object, got str"),
        ({"claims": [{"text": "a", "label": "wrong"}]}, "got the label 'wrong'"),
        ({"claims": [{"text": "a", "label": []}]}, r"got the label \[\]"),
        (
            {"claims": [{"text": "a", "label": "baseless", "start": 0, "end": 9}]},
            "within the answer's 8 characters, got 0 and 9",
        ),
        ({"answer": " "}, "expected .answer. to hold text"),
    ],
)
def test_a_row_that_is_no_case_is_told(row: dict[str, object], message: str | None) -> None:
    """With the field that is wrong, and what came."""
    if message is None:
        assert parse_case(ROW | row).claims == ()
        return
    with pytest.raises(InputError, match=message):
        parse_case(ROW | row)


def test_a_file_s_error_names_the_line(tmp_path: Path) -> None:
    """Twice the same id, no case at all, no file at all."""
    line = json.dumps(ROW | {"id": "a"}).encode()

    with pytest.raises(
        InputError, match="set, line 3: expected an id that no other case has, got 'a'"
    ):
        parse_cases([line, b"\n", line], "set")
    with pytest.raises(InputError, match="set: expected at least one case"):
        parse_cases([b"\n"], "set")
    with pytest.raises(InputError, match="expected an eval set"):
        read_cases(tmp_path / "none.jsonl")
