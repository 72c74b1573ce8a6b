"""Quantities: reading them, and when two agree."""

from __future__ import annotations

import pytest

from otel_rt4chart.verify.language.slots import read_slots
from otel_rt4chart.verify.language.values import Quantity, same_kind, values_agree


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
