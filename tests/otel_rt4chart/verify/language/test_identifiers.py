"""Identifiers: what is one, and which spellings are the same one."""

from __future__ import annotations

import pytest

from otel_rt4chart.verify.language.identifiers import Identifier
from otel_rt4chart.verify.language.slots import read_slots


def only(text: str) -> Identifier:
    """The one identifier of a text."""
    (found,) = read_slots(text).identifiers
    return found


SPELLINGS = (
    ("4111 1111 1111 1111", "4111-1111-1111-1111", "4111111111111111"),
    ("DE89 3704 0044 0532 0130 00", "DE89370400440532013000", "de89 3704 0044 0532 0130 00"),
    ("123e4567-e89b-12d3-a456-426614174000", "123E4567E89B12D3A456426614174000"),
    ("+49 30 901820", "0049 30 901820", "+4930901820", "+49 (30) 901820", "+49 (0)30 901820"),
    ("(415) 555-2671", "415-555-2671", "415.555.2671"),
    ("00:1A:2B:3C:4D:5E", "00-1a-2b-3c-4d-5e", "001a.2b3c.4d5e"),
    ("2001:db8::1", "2001:0DB8:0:0:0:0:0:1"),
    ("v2.31.0", "2.31.0", "V2.31"),
    ("2.31.0-rc1", "v2.31.0-RC1"),
    ("0xDEADBEEF", "0xdeadbeef"),
    ("AB-1234-X", "ab-1234-x", "AB1234X", "AB_1234_X"),
    ("978-3-16-148410-0", "9783161484100"),
    ("https://www.example.com/a/b1/", "http://example.com/a/b1", "example.com/a/b1"),
    ("Ann.Lee@Example.com", "ann.lee@example.com"),
)


@pytest.mark.parametrize("spellings", SPELLINGS, ids=lambda one: one[0])
def test_all_spellings_of_an_identifier_have_one_key(spellings: tuple[str, ...]) -> None:
    """Spaces, hyphens, case, an initial v, `00` for `+` make no difference."""
    assert len({only(f"It is {one}.").key for one in spellings}) == 1
    assert {only(f"It is {one}.").key for one in spellings} != {""}


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("The account 4000123412341234 is open.", "4000123412341234"),
        ("Write to ann@example.com.", "ann@example.com"),
        ("Read https://example.com/a.", "https://example.com/a"),
        ("The network is 10.0.12.0/24.", "10.0.12.0"),
        ("An A320-based fleet.", "A320"),
        ("See order number 123.", "123"),
        ("See ticket #4711.", "4711"),
        ("Flight MH370 is late.", "MH370"),
        ("The fix of CVE-2024-1234 is out.", "CVE-2024-1234"),
        ("The budget is $" + "1" * 41 + ".", "1" * 41),
    ],
)
def test_an_identifier_has_its_place_in_the_text(text: str, written: str) -> None:
    """Without the words and the punctuation beside it."""
    found = only(text)

    assert text[found.start : found.end] == written


@pytest.mark.parametrize(
    "text",
    [
        "A 14-day trial for 12-year-old children.",
        "From mid-2021 on, in 2019-2020 and on 2024-01-15 or 12.05.2021.",
        "It costs $5M, or 1,234,567,890 yen, or EUR500.",
        "About 1500000 people and 1234567 km.",
        "At 14:35:07 and 10am.",
        "GPT-4, COVID-19, Q3-2021, Euro2020 and the 1990s.",
        "The years 2019 2020 2021 2022, and a round of 71-68-75-71.",
        "A 100-day tour on the 3rd with 500ml.",
        "Call std::vector here.",
        "You can order 50 units.",
        "The file is on/off, and/or 24/7.",
    ],
)
def test_amounts_dates_and_words_are_no_identifiers(text: str) -> None:
    """They are compared by value, or as words."""
    assert read_slots(text).identifiers == ()


def test_the_parts_of_an_identifier_are_no_values_and_no_names() -> None:
    """A version is no number with decimals, and an invoice of 2024-01-15 no date."""
    slots = read_slots("The fix is in 2.31.4, see INV-2024-01-15 and AB-1234-X.")

    assert (slots.quantities, slots.moments, slots.names) == ((), (), ())


def test_a_long_number_stays_a_quantity() -> None:
    """A passage may write it with separators."""
    assert read_slots("It has 90071992547409931 rows.").quantities
