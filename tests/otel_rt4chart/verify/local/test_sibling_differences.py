"""A word that the context lacks, where it has its opposite or another of its kind."""

from __future__ import annotations

import pytest

from otel_rt4chart.verify.language.slots import read_context, read_slots
from otel_rt4chart.verify.local.features import ClaimReading, read_claim
from otel_rt4chart.verify.local.verdict import select_differences


def read(claim: str, *sentences: str) -> ClaimReading:
    """A claim beside some sentences."""
    return read_claim(read_slots(claim), read_context(sentences))


@pytest.mark.parametrize(
    ("feature", "claim", "sentences"),
    [
        ("sibling_clash", "He played the guitar here.", ["He played the piano here."]),
        ("sibling_clash", "The meeting is about basketball.", ["The meeting is about tennis."]),
        ("opposite", "The crew defended the bridge.", ["The crew attacked the bridge."]),
    ],
)
def test_another_kind_or_an_opposite_counts_against_a_claim(
    feature: str, claim: str, sentences: list[str]
) -> None:
    """In its place, beside a word that both texts have."""
    assert read(claim, *sentences).named[feature] > 0


@pytest.mark.parametrize(
    ("feature", "claim", "sentences"),
    [
        ("sibling_clash", "He played the guitar.", ["He played the guitar, others the piano."]),
        ("sibling_clash", "He owns a guitar.", ["A cat sat there.", "She tuned every old piano."]),
        ("sibling_clash", "The doctor called.", ["The physician called."]),
        ("opposite", "The crew defended it.", ["The crew never attacked it."]),
        ("opposite", "It rose last year.", ["In Q1 it rose a year ago."]),
    ],
)
def test_a_word_that_the_context_has_and_one_far_off_do_not(
    feature: str, claim: str, sentences: list[str]
) -> None:
    """Nor a synonym, nor an opposite that is denied, nor a quarter with the stem of `first`."""
    assert read(claim, *sentences).named[feature] == 0


def test_another_kind_of_the_same_thing_is_told() -> None:
    """Claimed and found, and as one value although it stands in the same place, too."""
    (told,) = select_differences(
        read("He played the guitar in it.", "He played the piano in it."), rivals=True
    )

    assert (told.manner, told.claimed, told.found) == ("sibling", "guitar", "piano")


def test_what_a_dictionary_calls_the_same_is_no_clash() -> None:
    """`accelerate` where the sentence says `quicken`, between the same words."""
    reading = read("Boeing will quicken deliveries.", "Boeing will accelerate deliveries.")

    assert reading.named["term_clash"] == 0
