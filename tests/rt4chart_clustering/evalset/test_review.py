"""A person's decisions in the terminal."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from otel_rt4chart.core.errors import InputError
from otel_rt4chart.verify.core.model import Exchange, Passage
from rt4chart_clustering.evalset import review
from rt4chart_clustering.evalset.case import EvalCase
from rt4chart_clustering.evalset.review import (
    case_body,
    format_case,
    parse_stored_case,
    review_cases,
)
from rt4chart_collector.store.issues.eval_sets import CaseState, StoredCase


def waiting(name: str, answer: str = "30 days.") -> StoredCase:
    """A case that waits."""
    case = EvalCase(name, Exchange("How long?", (Passage("p", "14 days."),), answer))
    return StoredCase(name, CaseState.PENDING, 7, case_body(case), "rt4chart")


def decided(*said: str, cases: int = 3) -> list[StoredCase]:
    """What comes of so many cases where the person says this, and then leaves."""
    words: Iterator[str] = iter(said)

    def ask(_: str) -> str:
        try:
            return next(words)
        except StopIteration:
            raise EOFError from None

    given = [waiting(f"c{number}") for number in range(cases)]
    return list(review_cases(given, actor="jo", ask=ask, say=lambda text: None))


def test_each_key_does_what_it_says() -> None:
    """A skipped case is left as it was."""
    found = decided("a", "r", "off topic", "s")

    assert [(one.id, one.state, one.actor, one.note) for one in found] == [
        ("c0", CaseState.APPROVED, "jo", ""),
        ("c1", CaseState.REJECTED, "jo", "off topic"),
    ]


def test_a_good_answer_is_kept_as_the_reference() -> None:
    """And the case is approved by that; no text is no answer, and it is asked again."""
    (one,) = decided("w", "", "x", "w", "14 days.", cases=1)

    assert one.state is CaseState.APPROVED
    assert parse_stored_case(one).reference == "14 days."
    assert parse_stored_case(one).exchange.answer == "30 days."


def test_who_leaves_keeps_what_was_decided() -> None:
    """By q, or by closing the terminal."""
    assert [one.id for one in decided("a", "q")] == ["c0"]
    assert [one.id for one in decided("a")] == ["c0"]


def test_a_case_is_shown_without_control_characters() -> None:
    """What answers say cannot write to the screen by itself."""
    said = format_case(parse_stored_case(waiting("c", "\x1b[2J30 days.\r")))

    assert "\x1b" not in said
    assert "\r" not in said


def test_a_case_without_its_passages_cannot_be_approved() -> None:
    """The reason is told, and it can be rejected."""
    hidden = Exchange("How long?", (Passage("p", "__REDACTED__"),), "30 days.")
    one = StoredCase("c", CaseState.PENDING, 7, case_body(EvalCase("c", hidden)), "rt4chart")

    with pytest.raises(InputError, match="reject the case"):
        review.decide_case(one, CaseState.APPROVED, actor="jo")

    assert review.decide_case(one, CaseState.REJECTED, actor="jo").state is CaseState.REJECTED
