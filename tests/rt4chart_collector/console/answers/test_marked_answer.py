"""An answer beside others: its failed claims and their words marked, long texts cut around them."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from otel_rt4chart.verify.core.model import AnswerRange, Clash, Label
from rt4chart_collector.console.answers.marked_answer import (
    LONGEST,
    MarkedPiece,
    marked_answer,
)
from rt4chart_collector.store.answers.claims import ClaimRow
from rt4chart_collector.store.engine.rows import field_values
from tests.rt4chart_collector.records import claim


def failed(start: int, end: int, *clashes: Clash) -> ClaimRow:
    """A contradicted claim of this part of an answer."""
    one = replace(claim(Label.CONTRADICTED), answer_range=AnswerRange(start, end), clashes=clashes)
    place = {"start_ns": 0, "trace_id": "t", "span_id": "s", "service": "", "route": ""}
    facts = {"verifier": "", "environment": "", "model": "", "index": 0, "version": 1}
    return ClaimRow(**place, **facts, **field_values(one))  # type: ignore[arg-type]


def test_the_words_that_differ_are_marked_within_the_claim() -> None:
    """Where the claim has them; a claim without known words is marked alone."""
    answer = "It is free. The trial lasts 30 days. Bye."
    named = marked_answer(answer, [failed(12, 36, Clash("number", "30 days", "14 days"))])
    plain = marked_answer(answer, [failed(12, 36, Clash("number", "31 days", "14 days"))])

    (part,) = named.parts
    assert part.pieces == (
        MarkedPiece("It is free. "),
        MarkedPiece("The trial lasts ", "30 days", ".", 0, str(Label.CONTRADICTED), True),
        MarkedPiece(" Bye."),
    )
    (part,) = plain.parts
    assert (
        "".join(part.pieces[1].before + part.pieces[1].words + part.pieces[1].after)
        == (answer[12:36])
    )
    assert part.pieces[1].words == ""


def test_a_range_outside_the_text_marks_nothing() -> None:
    """The stored text may be another one than was judged."""
    (part,) = marked_answer("Short.", [failed(3, 60)]).parts

    assert part.pieces == (MarkedPiece("Short."),)


@given(st.integers(0, 5000), st.integers(1, 300), st.integers(0, 5000))
def test_of_a_long_answer_the_failed_claim_is_shown(before: int, size: int, after: int) -> None:
    """Whatever surrounds it; what is left out is counted."""
    answer = "a" * before + "X" * size + "b" * after
    found = marked_answer(answer, [failed(before, before + size)])

    pieces = [piece for part in found.parts for piece in part.pieces]
    shown = sum(len(piece.before) + len(piece.words) + len(piece.after) for piece in pieces)
    assert shown <= LONGEST
    assert shown + sum(part.skipped for part in found.parts) + found.left == len(answer)
    assert "".join(piece.after for piece in pieces if piece.label) == "X" * size
