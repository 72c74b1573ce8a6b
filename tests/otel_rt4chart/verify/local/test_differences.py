"""Where a claim departs from the sentences it leans on."""

from __future__ import annotations

import pytest

from otel_rt4chart.verify.language.slots import read_context, read_slots
from otel_rt4chart.verify.local.features import ClaimReading, read_claim


def read(claim: str, *passages: str) -> ClaimReading:
    """A claim beside some sentences."""
    return read_claim(read_slots(claim), read_context(passages))


def clashes(claim: str, *passages: str) -> list[tuple[str, str, str]]:
    """Slot, claimed and found of every clash."""
    return [
        (one.slot, one.claimed, one.found)
        for one in read(claim, *passages).differences
        if one.manner in ("clash", "opposite")
    ]


@pytest.mark.parametrize(
    ("claim", "passage", "expected"),
    [
        (
            "The free trial lasts 14 days.",
            "The free trial lasts 30 days for every user.",
            ("number", "14 days", "30 days"),
        ),
        (
            "It was opened in May 1989.",
            "It was opened to visitors in May 1889.",
            ("date", "May 1989", "May 1889"),
        ),
        (
            "It was deployed from Space Shuttle Atlantis.",
            "The Hubble Space Telescope was deployed from Space Shuttle Discovery.",
            ("name", "Atlantis", "Discovery"),
        ),
        (
            "Verification is not required.",
            "Verification is required before the trial starts.",
            ("negation", "not required", "required"),
        ),
        (
            "Existing users may apply.",
            "Existing users may not apply.",
            ("negation", "apply", "not apply"),
        ),
        (
            "Profit decreased in the second quarter.",
            "Profit increased in the second quarter.",
            ("term", "decreased", "increased"),
        ),
        (
            "The plan covers all operations.",
            "The plan covers some operations.",
            ("quantifier", "all", "some"),
        ),
        (
            "The policy applies to all users.",
            "The policy applies only to new users.",
            ("quantifier", "all", "only"),
        ),
        (
            "Plant-based meat alternatives are labelled.",
            "Plant-based milk alternatives are labelled.",
            ("term", "meat", "milk"),
        ),
    ],
)
def test_a_value_in_the_place_of_another_is_a_clash(
    claim: str, passage: str, expected: tuple[str, str, str]
) -> None:
    """Claimed as it stands in the claim, found as it stands in the passage."""
    found = clashes(claim, passage, "Nothing else matters here.")

    assert expected in found
    assert all(claimed in claim and rival in passage for _, claimed, rival in found)


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("The trial lasts two weeks.", "The trial lasts 14 days."),
        ("The shop is open on Sundays.", "The shop is not closed on Sundays."),
        ("He did not agree.", "He disagreed."),
        ("About 200 people attended.", "195 people attended."),
    ],
)
def test_the_same_said_otherwise_is_no_clash(claim: str, passage: str) -> None:
    """Converted units, double negation, a denied opposite, a hedge."""
    assert clashes(claim, passage) == []


def test_a_negation_elsewhere_in_the_context_denies_nothing() -> None:
    """Only words under the negation, in a sentence the claim leans on, are compared."""
    reading = read(
        "The tower is 330 metres tall.",
        "The shop does not open on Mondays.",
        "The tower is 330 metres tall and was never closed.",
        "It is not known why.",
    )

    assert reading.named["negation_clash"] == 0.0


def test_a_number_of_another_sentence_is_elsewhere_not_missing() -> None:
    """A value bound to something else is told apart from one that is nowhere."""
    reading = read(
        "The refund takes 14 days.", "The refund takes 30 days.", "A trial ends after 14 days."
    )

    assert reading.named["number_missing"] == 0.0


def test_a_claim_is_covered_by_several_sentences_together() -> None:
    """Up to three sentences may hold a claim between them."""
    reading = read(
        "Verified users can extend the trial once by 7 days.",
        "The extension adds 7 days to the trial.",
        "Users who are verified can ask for it once.",
        "Bread and cheese are sold on Fridays.",
    )

    assert set(reading.alignment.sentences) == {0, 1}
    assert reading.alignment.coverage > reading.alignment.best_coverage


def test_no_before_a_noun_denies_the_verb_as_not_does() -> None:
    """`found no evidence` and `have not found any evidence` say the same."""
    claim = "The authorities have found no evidence of poison."

    assert clashes(claim, "The authorities have not found any evidence of poison.") == []
    assert clashes(claim, "The authorities have found evidence of poison.") != []


@pytest.mark.parametrize(
    ("claim", "passage", "expected"),
    [
        ("The fair moves to New York.", "The new fair moves to Boston.", "New York"),
        ("Ms Julia Albrecht resigned.", "Ms Karin Albrecht resigned.", "Julia"),
    ],
)
def test_a_name_of_which_only_common_words_are_known_is_missing_whole(
    claim: str, passage: str, expected: str
) -> None:
    """Not "York", but the one strange word beside a name that is known."""
    found = [
        one.claimed
        for one in read(claim, passage).differences
        if (one.slot, one.manner) == ("name", "missing")
    ]

    assert found == [expected]
