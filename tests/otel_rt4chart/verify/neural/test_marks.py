"""What a passage has in the place of the words that a network marked as wrong."""

from __future__ import annotations

import pytest

from otel_rt4chart.verify.core.model import Label, Passage
from otel_rt4chart.verify.language.slots import read_context, read_slots
from otel_rt4chart.verify.local.features import ClaimReading, read_claim
from otel_rt4chart.verify.local.verdict import (
    DecisionThresholds,
    MarkedWords,
    Odds,
    judgement_from_odds,
)
from otel_rt4chart.verify.neural.marks import read_marks
from otel_rt4chart.verify.text.segment import segment_passages

THRESHOLDS = DecisionThresholds(0.3, 0.5, 0.7, 0.5, marks_from=0.8)


def marked(claim: str, passage: str, *runs: str) -> tuple[ClaimReading, MarkedWords]:
    """The claim beside one passage, and its marked words."""
    sentences = segment_passages((Passage("p1", passage),))
    reading = read_claim(read_slots(claim), read_context([one.reading for one in sentences]))
    return reading, read_marks(runs, reading, sentences)


@pytest.mark.parametrize(
    ("claim", "passage", "run", "expected"),
    [
        (
            "Invoices are paid in euros.",
            "Invoices are paid in the currency of the order.",
            "euros",
            ("in euros", "in the currency of the order"),
        ),
        (
            "Keys are made by any user and expire after a year.",
            "Keys are made by an admin and expire after a year.",
            "any",
            ("by any user", "by an admin"),
        ),
        (
            "Copies are kept in Oslo and Rome.",
            "They are kept in Oslo and Bergen.",
            "Rome",
            ("and Rome", "and Bergen"),
        ),
        (
            "Photos can be taken online only.",
            "Photos can be taken offline and are sent later.",
            "online only",
            ("online only", "offline"),
        ),
        (
            "The app is free on the Works plan.",
            "The app is free on every plan.",
            "Works",
            ("on the Works plan", "on every plan"),
        ),
    ],
)
def test_words_behind_the_same_word_stand_in_the_place_of_marked_ones(
    claim: str, passage: str, run: str, expected: tuple[str, str]
) -> None:
    """Up to the next word that both have, or to the end of the clause."""
    _, marks = marked(claim, passage, run)

    assert [(one.claimed, one.found) for one in marks.rivals] == [expected]


@pytest.mark.parametrize(
    ("claim", "passage", "run"),
    [
        ("The API is open to members only.", "The API is open to members.", "only"),
        ("Invoices are paid in euros.", "Invoices are paid within ten days.", "in euros"),
        ("We have an office in Rome.", "The office in Oslo is open on Friday.", "in Rome"),
        ("Cats are allowed on deck.", "Dogs are allowed on deck.", "Cats"),
    ],
)
def test_words_that_nothing_stands_against_have_no_rival(
    claim: str, passage: str, run: str
) -> None:
    """No other words, another question, another statement, or another subject of the same."""
    _, marks = marked(claim, passage, run)

    assert (marks.words, marks.rivals) == ((run,), ())


@pytest.mark.parametrize(
    ("passage", "unfaithful", "label"),
    [
        ("Invoices are paid in the currency of the order.", 0.9, Label.CONTRADICTED),
        ("Invoices are paid in the currency of the order.", 0.75, Label.BASELESS),
        ("Invoices are paid within ten days.", 0.9, Label.BASELESS),
    ],
)
def test_marks_contradict_only_where_a_sentence_has_other_words_in_their_place(
    passage: str, unfaithful: float, label: Label
) -> None:
    """From `marks_from` on; without such words the claim is baseless."""
    reading, marks = marked("Invoices are paid in euros.", passage, "euros")
    sentences = segment_passages((Passage("p1", passage),))

    found = judgement_from_odds(
        reading, Odds(unfaithful, 0.9, THRESHOLDS), sentences, sentences, marks
    )

    assert found.label is label
