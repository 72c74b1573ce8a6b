"""Quantities: reading them, and when two agree."""

from __future__ import annotations

import pytest

from otel_rt4chart.verify.language.agreement import same_kind, values_agree
from otel_rt4chart.verify.language.slots import read_slots
from otel_rt4chart.verify.language.values import Quantity


def only(text: str) -> Quantity:
    """The one quantity of a text."""
    (quantity,) = read_slots(text).quantities
    return quantity


@pytest.mark.parametrize(
    ("text", "value", "unit"),
    [
        ("It lasts 14 days.", 14, "day"),
        ("A 7-day extension.", 7, "day"),
        ("It weighs twenty-five tonnes.", 25, "tonne"),
        ("Revenue of $3.2m was reported.", 3_200_000, "$"),
        ("Revenue was 3.2 million dollars.", 3_200_000, "$"),
        ("Two hundred guests came.", 200, "guest"),
        ("Profits rose 12 per cent.", 12, "%"),
        ("She finished third.", 3, "#"),
        ("Within 5 business days.", 5, "day"),
        ("About 1,500 people.", 1500, "person"),
    ],
)
def test_a_quantity_has_its_value_scale_and_unit(text: str, value: float, unit: str) -> None:
    """Digits, words, scales, currencies, percents and ordinals."""
    quantity = only(text)

    assert (quantity.value, quantity.unit) == (value, unit)


def test_a_quantity_keeps_its_place_in_the_text() -> None:
    """The slice is the number as written."""
    text = "Revenue was $3.2 million."
    quantity = only(text)

    assert text[quantity.start : quantity.end] == "$3.2 million"


@pytest.mark.parametrize(
    "text", ["One of them left.", "He waited a second.", "In 1990.", "At 5 pm."]
)
def test_what_counts_nothing_is_no_quantity(text: str) -> None:
    """Pronouns, years and times of day are not quantities."""
    assert list(read_slots(text).quantities) == []


@pytest.mark.parametrize(
    ("claimed", "found"),
    [
        ("two weeks", "14 days"),
        ("one year", "12 months"),
        ("$3.2 million", "3,214,567 dollars"),
        ("about 200 people", "195 people"),
        ("more than 40 people", "45 people"),
        ("under 50 people", "45 people"),
        ("3 km", "3,000 metres"),
    ],
)
def test_values_agree_through_units_rounding_and_hedges(claimed: str, found: str) -> None:
    """What a careful reader would accept."""
    assert values_agree(only(claimed), only(found))


@pytest.mark.parametrize(
    ("claimed", "found"),
    [
        ("14 days", "30 days"),
        ("200 people", "195 people"),
        ("more than 50 people", "45 people"),
        ("$3.2 million", "$3.2 billion"),
        ("about 200 people", "300 people"),
    ],
)
def test_values_disagree(claimed: str, found: str) -> None:
    """Without a hedge 195 is not 200, and a scale is part of the value."""
    assert not values_agree(only(claimed), only(found))
    assert same_kind(only(claimed), only(found))


def test_values_of_different_things_do_not_stand_against_each_other() -> None:
    """Days and people are compared with nothing."""
    assert not same_kind(only("14 days"), only("30 people"))


@pytest.mark.parametrize(
    ("text", "bound"),
    [
        ("No more than 5 people may enter.", "at_most"),
        ("Not more than 5 people may enter.", "at_most"),
        ("The fee must not exceed 5 euros.", "at_most"),
        ("The bag cannot be over 5 kg.", "at_most"),
        ("No fewer than 5 people must sign.", "at_least"),
        ("Not less than 5 people must sign.", "at_least"),
        ("Groups of more than 5 people pay less.", "at_least"),
        ("Fees exceed 5 euros.", "at_least"),
    ],
)
def test_a_denied_comparison_is_the_other_bound(text: str, bound: str) -> None:
    """ "No more than" is "at most"."""
    assert only(text).bound == bound


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The battery is covered for 24 months and the charger for 6.",
         [(24, "month"), (6, "month")]),
        ("Seniors pay 12 euros, children 4.", [(12, "€"), (4, "€")]),
        ("The red route has 14 stops and the blue route nine.", [(14, "stop"), (9, "stop")]),
        ("Adults pay $18, while students pay 9.", [(18, "$"), (9, "$")]),
        ("It runs for 3 hours and needs version 2.", [(3, "hour"), (2, "")]),
        ("It took 3 hours and we left at 7.", [(3, "hour"), (7, "")]),
        ("Half of the 30 rooms are free, and 12 have a balcony.",
         [(50, "%"), (30, "room"), (12, "")]),
    ],
)  # fmt: skip
def test_a_bare_number_in_parallel_has_the_unit_before_it(
    text: str, expected: list[tuple[float, str]]
) -> None:
    """The unit is said once: "for 24 months and the charger for 6"."""
    found = [(one.value, one.unit) for one in read_slots(text).quantities]

    assert found == expected


@pytest.mark.parametrize(
    ("claimed", "found", "agrees"),
    [
        ("You accrue 24 hours a year.", "You accrue 2 hours of credit a month.", True),
        ("You accrue 20 hours a year.", "You accrue 2 hours of credit a month.", False),
        ("The fee is $36 per quarter.", "The fee is $12 per month.", True),
        ("The fee is $12 per year.", "The fee is $12 per month.", False),
        ("It is watered 14 times a week.", "It is watered twice a day.", True),
        ("The fee is $12.", "The fee is $12 per month.", True),
        ("It takes 4 weeks.", "It takes 4 weeks a year.", True),
    ],
)
def test_a_rate_is_compared_over_the_same_period(claimed: str, found: str, agrees: bool) -> None:
    """Two hours a month are 24 hours a year, and not two hours a year."""
    assert values_agree(only(claimed), only(found)) is agrees


@pytest.mark.parametrize("text", ["Stir it first, then pour.", "First, read the label."])
def test_first_as_a_word_of_order_counts_nothing(text: str) -> None:
    """Only before a noun it is a rank."""
    assert list(read_slots(text).quantities) == []


@pytest.mark.parametrize(
    ("text", "share"),
    [
        ("A quarter of the seats are taken.", 25),
        ("Two thirds of the members voted.", 200 / 3),
        ("Three in four members voted.", 75),
        ("Nine out of ten lifts work.", 90),
        ("Children travel at half price.", 50),
        ("Half of the members voted.", 50),
    ],
)
def test_a_share_in_words_is_a_number_of_per_cent(text: str, share: float) -> None:
    """With which other shares can be compared."""
    quantity = only(text)

    assert quantity.value == pytest.approx(share)
    assert quantity.unit == "%"


@pytest.mark.parametrize("text", ["It takes a quarter of an hour.", "She came in third."])
def test_parts_of_an_hour_and_ranks_are_no_shares(text: str) -> None:
    """A quarter of an hour is a time."""
    assert [one.unit for one in read_slots(text).quantities if one.unit == "%"] == []


def test_a_third_is_33_per_cent() -> None:
    """As people round it."""
    assert values_agree(only("33% of the members voted."), only("A third of the members voted."))
    assert not values_agree(only("38% of the members voted."), only("A third of them voted."))
