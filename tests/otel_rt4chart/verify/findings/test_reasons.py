from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_rt4chart.verify.core.model import Clash, Evidence, Finding
from otel_rt4chart.verify.findings.reasons import (
    differing_words,
    evidence_of_findings,
    reasons_by_claim,
    shown_evidence,
    split_at_words,
)

TEXT = "The 30 trials last 14 days, or 30."
SUPPORT = Evidence("p1", 0, 5, "words", "supports")
LIMIT = Evidence("p2", 0, 5, "limit", "limits")


@pytest.mark.parametrize(
    ("words", "marked"),
    [
        (["14 days"], ["14 days"]),
        (["4 days"], []),
        (["14 DAYS", "the"], ["The", "14 days"]),
        (["14 days", "days"], ["14 days"]),
        (["30", "30"], ["30"]),
        ([""], []),
    ],
)
def test_whole_words_are_marked_once(words: list[str], marked: list[str]) -> None:
    """In any case, each at its first place, without overlaps."""
    assert [text for text, is_one in split_at_words(TEXT, words) if is_one] == marked


@given(st.text(), st.lists(st.text(max_size=4)))
def test_splitting_keeps_the_text(text: str, words: list[str]) -> None:
    """Whatever is marked."""
    assert "".join(part for part, _ in split_at_words(text, words)) == text


def test_words_of_the_passage_are_marked_where_they_are_against_the_claim() -> None:
    """A clash's in a contradiction alone, what a reason quotes in both, never the claim itself."""
    clashes = (Clash("number", "30 days", "14 days"), Clash("name", "Bob"))
    reasons = ("the passage says “if approved”", "“It lasts.” comes from the question")

    against = differing_words("It lasts.", clashes, reasons, "contradicts")
    beside = differing_words("It lasts.", clashes, reasons, "supports")

    assert against == ["14 days", "if approved"]
    assert beside == ["if approved"]


def test_reasons_are_those_that_explain_a_status_once_each() -> None:
    """Not the figures of an answer, nor the kind of a failure."""
    told = Finding("dropped_qualifier", "left out", claim=1)
    findings = (told, told, Finding("failure_kind", "Number", claim=1), Finding("stale", "old"))

    assert reasons_by_claim(findings) == {1: ("left out",)}


def test_evidence_that_a_check_found_is_added_where_it_is_new() -> None:
    """As what contradicts or limits the claim; its other side, which supports, is not added."""
    picked = Finding("cherry_picked", "", "limit", claim=0, evidence=(SUPPORT, LIMIT))

    added = evidence_of_findings((picked, picked), [0], [])
    known = evidence_of_findings((picked,), [0], [(0, "p2", 0, 5)])
    other = evidence_of_findings((picked,), [1], [])

    assert (dict(added), dict(known), dict(other)) == ({0: [LIMIT]}, {}, {})


def test_a_sentence_held_against_a_claim_is_not_shown_as_support() -> None:
    """Its place among the evidence stays, for numbers of quotations are places."""
    same = Evidence("p2", 0, 5, "limit", "supports")

    assert shown_evidence((SUPPORT, same), (LIMIT,)) == [SUPPORT, None, LIMIT]
