"""Between its two thresholds a judge says that it is not sure, and says no more."""

from __future__ import annotations

import pytest

from otel_rt4chart.verify.core.model import Judgement, Label, Passage
from otel_rt4chart.verify.language.slots import read_context, read_slots
from otel_rt4chart.verify.local.features import read_claim
from otel_rt4chart.verify.local.verdict import DecisionThresholds, Odds, judgement_from_odds
from otel_rt4chart.verify.text.segment import segment_passages

THRESHOLDS = DecisionThresholds(0.3, 0.5, 0.7, 0.5, marks_from=0.8)


def judged(unfaithful: float, contradicted: float = 0.9) -> Judgement:
    """The verdict on a claim with another number, at these odds."""
    sentences = segment_passages((Passage("p1", "The trial lasts 30 days."),))
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


def test_marked_words_are_held_against_the_sentence_with_the_words_around_them() -> None:
    """Not against the nearest one, which says nothing of them."""
    text = "He is a star with easy lyrics. Try Marco Mengoni. The lyrics are in Italian."
    sentences = segment_passages((Passage("p1", text),))
    context = read_context([one.reading for one in sentences])
    claim = read_slots("Anette suggests Marco Polo, a star with easy lyrics.")
    reading = read_claim(claim, context)

    found, doubted = (
        judgement_from_odds(reading, Odds(p, 0.9, THRESHOLDS), sentences, sentences, ["Polo"])
        for p in (0.9, 0.75)
    )

    assert doubted.label is Label.BASELESS  # marks alone contradict nothing before `marks_from`
    assert found.label is Label.CONTRADICTED
    assert found.sentences == (1,)
    assert found.reason == "“Polo” in the answer, but passage p1 says: “Try Marco Mengoni.”"


def test_marked_words_that_a_sentence_has_accuse_of_nothing() -> None:
    """Two words at least, from the first that says something to the last."""
    sentences = segment_passages((Passage("p1", "She wants a major in sociology."),))
    context = read_context([one.reading for one in sentences])
    reading = read_claim(read_slots("She wants to major in sociology."), context)
    odds = Odds(0.82, 0.9, THRESHOLDS)

    found = judgement_from_odds(reading, odds, sentences, sentences, ["to major in sociology"])

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

    found = judgement_from_odds(
        reading, Odds(0.82, 0.5, THRESHOLDS), sentences, sentences, [marked]
    )

    assert (found.label, found.reason) == (Label.UNDECIDED, reason)
