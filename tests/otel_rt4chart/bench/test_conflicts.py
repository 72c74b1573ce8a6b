"""Conflict cases, types of spans, and the refuting evidence."""

from __future__ import annotations

from pathlib import Path

import pytest

from otel_rt4chart.bench.conflicts import Grounding, TypeFigures, score_conflicts
from otel_rt4chart.bench.dataset import LabelledAnswer, read_rows
from otel_rt4chart.bench.gold_evidence import PassageRange, evidence_quotes, locate_quotes
from otel_rt4chart.bench.metrics import ConfusionCounts
from otel_rt4chart.bench.records import AnswerRecord, RecordedClaim
from otel_rt4chart.bench.runner import bench_result
from otel_rt4chart.verify.core.model import AnswerLabel, AnswerRange, Label, Passage, Usage
from tests.otel_rt4chart.bench.conflict_rows import SOURCE, write_rows

CON, ENT, NIC = Label.CONTRADICTED, Label.ENTAILED, Label.BASELESS


def said(label: Label, start: int, end: int, *evidence: tuple[int, int]) -> AnswerRecord:
    """A verdict of one claim, with its evidence in the only passage."""
    found = tuple(PassageRange("p1", *one) for one in evidence)
    claim = RecordedClaim(label, 0.9, AnswerRange(start, end))
    return AnswerRecord(AnswerLabel(label.value), (claim,), found, Usage(), 1.0)


@pytest.fixture
def rows(tmp_path: Path) -> tuple[LabelledAnswer, ...]:
    """Two conflicts, a baseless answer and a faithful one."""
    return read_rows(write_rows(tmp_path))


RECORDS = [
    said(CON, 21, 28, (0, 29)),  # the whole sentence for the 28 characters that are quoted
    said(NIC, 0, 10),  # unfaithful, but of another kind and place
    said(CON, 0, 19, (0, 3)),  # baseless by its label
    said(ENT, 0, 17),
]


def test_conflict_and_baseless_cases_are_counted_by_answer(
    rows: tuple[LabelledAnswer, ...],
) -> None:
    """Of two conflicts one is found, and the baseless answer is called a conflict."""
    found = score_conflicts(bench_result(rows, RECORDS, judge="j", split="all").answers)

    assert found.conflicts == ConfusionCounts(1, 1, 1, 1)
    assert found.baseless == ConfusionCounts(0, 1, 2, 1)


def test_spans_are_told_apart_by_the_annotators_types(rows: tuple[LabelledAnswer, ...]) -> None:
    """How many a flagged range overlaps, and how many with a claim of that kind."""
    found = score_conflicts(bench_result(rows, RECORDS, judge="j", split="all").answers)

    assert found.types == (
        TypeFigures("evident baseless info", 1, 1, 1, 0),
        TypeFigures("evident conflict", 1, 1, 1, 1),
        TypeFigures("subtle conflict", 1, 0, 1, 0),
    )


def test_evidence_counts_on_the_conflicts_that_were_found(
    rows: tuple[LabelledAnswer, ...],
) -> None:
    """28 characters are quoted, the 29th of the sentence is not."""
    found = score_conflicts(bench_result(rows, RECORDS, judge="j", split="all").answers)

    assert found.grounding == Grounding(1, 1, 1, ConfusionCounts(28, 1))


def test_without_quotations_there_is_no_figure_of_evidence(
    rows: tuple[LabelledAnswer, ...],
) -> None:
    """The baseless and the faithful answer quote nothing."""
    result = bench_result(rows[2:], RECORDS[2:], judge="j", split="all")

    found = score_conflicts(result.answers)

    assert (found.grounding, found.conflicts) == (None, None)


PASSAGES = [Passage("p1", SOURCE)]


@pytest.mark.parametrize(
    ("quote", "ranges"),
    [
        ("refunds are\npaid within", [(30, 53)]),
        ("“Dogs are welcome.”", [(62, 79)]),
        ("The free trial … 14 days", [(0, 14), (21, 28)]),
        ("Cats are welcome", None),
        ("rial lasts", None),
        ("…", None),
    ],
)
def test_quotations_are_located_whatever_their_spaces_and_marks(
    quote: str, ranges: list[tuple[int, int]] | None
) -> None:
    """All of it, or nothing."""
    found = locate_quotes([quote], PASSAGES)

    assert found == (None if ranges is None else tuple(PassageRange("p1", *r) for r in ranges))


def test_long_quotations_are_sought_in_linear_time() -> None:
    """A label may quote pages; a pattern that backtracks took a minute for this one."""
    text = "a " * 200_000

    assert locate_quotes(["a " * 5_000 + "b"], [Passage("p1", text)]) is None
    assert locate_quotes(["A  " * 5_000], [Passage("p1", text)]) == (PassageRange("p1", 0, 9_999),)


def test_evidence_of_a_label_may_be_a_text_or_a_list() -> None:
    """The data's own field counts before RAGTruth's note."""
    assert evidence_quotes({"evidence": "a", "meta": "Original: b"}) == ("a",)
    assert evidence_quotes({"evidence": ["a", {"text": "b"}]}) == ("a", "b")
    assert evidence_quotes({"evidence": [7]}) is None
    assert evidence_quotes({"meta": "AIGC: x\nOriginal: b\nc"}) == ("b\nc",)
    assert evidence_quotes({}) == ()
