"""Between its two thresholds a judge says that it is not sure, and says no more."""

from __future__ import annotations

import pytest

from otel_rt4chart.verify.core.model import Judgement, Label, Passage
from otel_rt4chart.verify.language.slots import read_context, read_slots
from otel_rt4chart.verify.local.features import read_claim
from otel_rt4chart.verify.local.verdict import (
    DecisionThresholds,
    Odds,
    doubt_thin_grounds,
    judgement_from_odds,
)
from otel_rt4chart.verify.neural.marks import read_marks
from otel_rt4chart.verify.text.segment import segment_passages

THRESHOLDS = DecisionThresholds(0.3, 0.5, 0.7, 0.5, marks_from=0.8)


def judged(unfaithful: float, contradicted: float = 0.9) -> Judgement:
    """The verdict on a claim with another number than its sentence, at these odds."""
    text = "The trial lasts 30 days. Nobody answered for 14 days."
    sentences = segment_passages((Passage("p1", text),))
    context = read_context([one.reading for one in sentences])
    reading = read_claim(read_slots("The trial lasts 14 days."), context)
    return judgement_from_odds(reading, Odds(unfaithful, contradicted, THRESHOLDS), sentences)


@pytest.mark.parametrize(
    ("unfaithful", "contradicted", "label"),
    [
        (0.0, 0.9, Label.ENTAILED),
        (0.29, 0.9, Label.ENTAILED),
        (0.3, 0.9, Label.UNDECIDED),
        (0.49, 0.9, Label.UNDECIDED),
        (0.5, 0.9, Label.CONTRADICTED),
        (0.5, 0.4, Label.UNDECIDED),
        (0.69, 0.4, Label.UNDECIDED),
        (0.7, 0.4, Label.BASELESS),
        (1.0, 0.9, Label.CONTRADICTED),
    ],
)
def test_each_threshold_belongs_to_the_label_above_it(
    unfaithful: float, contradicted: float, label: Label
) -> None:
    """A probability that is equal to a threshold is at or above it."""
    assert judged(unfaithful, contradicted).label is label


def test_what_is_not_sure_names_the_probability_and_accuses_of_nothing() -> None:
    """Neither evidence nor differences: those of an uncertain verdict are guesses."""
    found = judged(0.5, contradicted=0.4)

    assert found.reason == ("not sure: the passages may support it, and may not (probability 50%)")
    assert (found.sentences, found.clashes) == ((), ())


@pytest.mark.parametrize(
    ("claim", "unheard"),
    [
        ("The limit of the card is $5,200.", "$5,200"),
        ("On Linux the card has a limit.", "Linux"),
        ("The first of three cards has a limit.", ""),
    ],
)
def test_a_claim_with_a_value_that_no_passage_has_is_never_supported(
    claim: str, unheard: str
) -> None:
    """However low the odds against it; numbers in words may count what a passage lists."""
    sentences = segment_passages((Passage("p1", "The card has a limit a day."),))
    reading = read_claim(read_slots(claim), read_context([one.reading for one in sentences]))

    found = judgement_from_odds(reading, Odds(0.01, 0.9, THRESHOLDS), sentences)

    assert found.label is (Label.UNDECIDED if unheard else Label.ENTAILED)
    assert f"“{unheard}”" in found.reason or not unheard


def test_marked_words_that_a_sentence_has_accuse_of_nothing() -> None:
    """Two words at least, from the first that says something to the last."""
    sentences = segment_passages((Passage("p1", "She wants a major in sociology."),))
    context = read_context([one.reading for one in sentences])
    reading = read_claim(read_slots("She wants to major in sociology."), context)
    odds = Odds(0.82, 0.9, THRESHOLDS)

    marks = read_marks(["to major in sociology"], reading, sentences)

    found = judgement_from_odds(reading, odds, sentences, sentences, marks)

    assert found.label is Label.UNDECIDED
    assert found.reason == "not sure: “major in sociology” is in the passages"


@pytest.mark.parametrize(
    ("claim", "passage", "marked", "reason"),
    [
        (
            "She joined the company in 2015.",
            "Jane has been CEO since 2018; she joined the company three years earlier.",
            "in 2015",
            "not sure: “2015” may follow from “2018” in passage p1",
        ),
        (
            "The shop opens at nine.",
            "Opening hours: 9 a.m. - 6 p.m.",
            "nine",
            "not sure: “9” is in the passages",
        ),
    ],
)
def test_marked_numbers_that_may_follow_accuse_of_nothing(
    claim: str, passage: str, marked: str, reason: str
) -> None:
    """Whatever function words stand beside them, and whether in words or in digits."""
    sentences = segment_passages((Passage("p1", passage),))
    reading = read_claim(read_slots(claim), read_context([one.reading for one in sentences]))

    marks = read_marks([marked], reading, sentences)

    found = judgement_from_odds(reading, Odds(0.82, 0.5, THRESHOLDS), sentences, sentences, marks)

    assert (found.label, found.reason) == (Label.UNDECIDED, reason)


@pytest.mark.parametrize(
    ("claim", "passage", "marked", "words"),
    [
        ("The API is open to members only.", "The API is open to members.", "only", "only"),
        (
            "Files are sent as soon as the phone is online.",
            "Files are sent when the phone is online.",
            "as soon",
            "as soon",
        ),
        ("The link works for 7 days.", "The link is valid for 7 days.", "works", "works"),
    ],
)
def test_words_that_say_little_accuse_of_nothing_beside_a_sentence_with_the_rest(
    claim: str, passage: str, marked: str, words: str
) -> None:
    """No passage denies them, and the rest of the claim stands in one sentence."""
    sentences = segment_passages((Passage("p1", passage),))
    reading = read_claim(read_slots(claim), read_context([one.reading for one in sentences]))
    marks = read_marks([marked], reading, sentences)

    odds = Odds(0.9, 0.9, THRESHOLDS)
    judgement = judgement_from_odds(reading, odds, sentences, sentences, marks)

    found = doubt_thin_grounds(judgement, reading, sentences, marks)

    assert found.label is Label.UNDECIDED
    assert found.reason == f"not sure: passage p1 has the rest of the claim, and not “{words}”"


def test_a_missing_word_that_says_something_is_baseless() -> None:
    """Overwritten rows are no skipped ones, though only this word is not in the passage."""
    sentences = segment_passages((Passage("p1", "Rows with a known address are skipped."),))
    context = read_context([one.reading for one in sentences])
    reading = read_claim(read_slots("Rows with a known address are overwritten."), context)

    judgement = judgement_from_odds(reading, Odds(0.75, 0.1, THRESHOLDS), sentences)

    found = doubt_thin_grounds(judgement, reading, sentences)

    assert (found.label, found.reason) == (Label.BASELESS, "not in the passages: “overwritten”")
