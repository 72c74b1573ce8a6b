"""Identifiers and long numbers, judged: another digit is never supported, another spelling is."""

from __future__ import annotations

from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from otel_rt4chart.verify import Exchange, LocalJudge, Passage, RulesJudge, Verifier
from otel_rt4chart.verify.core.model import Claim, Label

JUDGES = ("rules", "local")
TEMPLATES = (
    "The account is {}.",
    "The parcel with the tracking number {} arrives on Monday.",
    "Use {} for the office in Berlin.",
    "The new server in the hall has {} on its label.",
)


@cache
def verifier(judge: str) -> Verifier:
    """The verifier with that judge."""
    return Verifier(judge=LocalJudge() if judge == "local" else RulesJudge())


def judged(judge: str, answer: str, passage: str) -> Claim:
    """The only claim of the answer."""
    exchange = Exchange("What is it?", [Passage("p1", passage)], answer)
    (claim,) = verifier(judge).verify(exchange).claims
    return claim


OTHERS = (
    ("4000123412341234123", "4000123412341234124"),
    ("174719488946", "174719488940"),
    ("1234567890123456", "9876543210987654"),
    ("+14155552671", "+14155552672"),
    ("12,345,678,901,234,567", "12,345,678,901,234,568"),
    ("$4000123412341234", "$4000123412341235"),
    ("$" + "1" * 50, "$" + "2" * 50),
    ("3.14159265358979323846", "3.14159265358979323847"),
    ("123e4567-e89b-12d3-a456-426614174000", "123e4567-e89b-12d3-a456-426614174001"),
    ("10.0.12.131", "10.0.12.132"),
    ("2.31.0", "2.31.1"),
    ("00:1A:2B:3C:4D:5E", "00:1A:2B:3C:4D:5F"),
    ("0xDEADBEEF", "0xDEADBEEE"),
    ("DE89 3704 0044 0532 0130 00", "DE89 3704 0044 0532 0130 01"),
    ("4111 1111 1111 1111", "4111 1111 1111 1112"),
    ("AB-1234-X", "AB-1234-Y"),
    ("ann.lee@example.com", "ann.lea@example.com"),
    ("https://example.org/a/b1", "https://example.org/a/b2"),
)


@pytest.mark.parametrize("judge", JUDGES)
@pytest.mark.parametrize(("told", "claimed"), OTHERS)
def test_another_identifier_of_the_same_subject_contradicts(
    judge: str, told: str, claimed: str
) -> None:
    """The reason names both of them."""
    claim = judged(judge, f"The reference is {claimed}.", f"The reference is {told}.")

    assert claim.label is Label.CONTRADICTED
    assert told.strip("$") in claim.reason
    assert claimed.strip("$") in claim.reason


@pytest.mark.parametrize("judge", JUDGES)
def test_an_identifier_that_no_passage_has_is_not_supported(judge: str) -> None:
    """All other words of the claim are in the passage."""
    claim = judged(judge, "The spare part is AB-1234-X.", "The spare part is in the shop.")

    assert claim.label in (Label.BASELESS, Label.UNDECIDED)


@pytest.mark.parametrize("judge", JUDGES)
@pytest.mark.parametrize(
    ("claimed", "told"),
    [
        ("DE89370400440532013000", "DE89 3704 0044 0532 0130 00"),
        ("0049 30 901820", "+49 30 901820"),
        ("(415) 555-2671", "+1 415 555 2671"),
        ("2.31.0", "v2.31.0"),
        ("v2.31", "version 2.31"),
        ("4111111111111111", "4111 1111 1111 1111"),
        ("12345678901", "12,345,678,901"),
        ("12,345,678,901", "12345678901"),
        ("12,345,678,901", "12\u00a0345\u00a0678\u00a0901"),
        ("ab1234x", "AB-1234-X"),
        ("AB-1234-X", "AB 1234 X"),
        ("http://example.org/a/b1", "https://www.example.org/a/b1/"),
    ],
)
def test_an_identifier_in_another_spelling_is_supported(
    judge: str, claimed: str, told: str
) -> None:
    """The passage writes it in its own way."""
    claim = judged(judge, f"The reference is {claimed}.", f"The reference is {told}.")

    assert claim.label is Label.ENTAILED


@pytest.mark.parametrize("judge", JUDGES)
def test_a_release_is_not_each_of_its_versions(judge: str) -> None:
    """`2.31.0` is not `2.31.1`, whose release is `2.31`."""
    passage = "The bug was fixed in version 2.31.1."

    assert judged(judge, "The bug was fixed in v2.31.1.", passage).label is Label.ENTAILED
    for other in ("v2.31.0", "2.31.0", "v2.31.2"):
        found = judged(judge, f"The bug was fixed in {other}.", passage)
        assert found.label is Label.CONTRADICTED


@pytest.mark.parametrize("judge", JUDGES)
def test_a_country_code_that_no_passage_gives_is_not_decided(judge: str) -> None:
    """The rest of the phone number is told."""
    claim = judged(judge, "Our phone is +44 30 901820.", "Our phone is (030) 901820.")

    assert claim.label is Label.UNDECIDED


@pytest.mark.parametrize("judge", JUDGES)
def test_a_part_of_a_record_is_told_apart_by_its_last_letter(judge: str) -> None:
    """In tables and JSON, too."""
    passage = '{"name": "pump", "part": "AB-1234-X"}'

    assert judged(judge, "The pump has the part AB-1234-X.", passage).label is Label.ENTAILED
    assert judged(judge, "The pump has the part AB-1234-Y.", passage).label is not Label.ENTAILED


DIGIT = st.sampled_from("0123456789")


def digits(least: int, most: int) -> st.SearchStrategy[str]:
    """So many digits, the first not 0."""
    rest = st.text(DIGIT, min_size=least - 1, max_size=most - 1)
    return st.builds("".join, st.tuples(st.sampled_from("123456789"), rest))


def grouped(separator: str, *sizes: int) -> st.SearchStrategy[str]:
    """Groups of digits of these sizes."""
    return st.tuples(*(digits(size, size) for size in sizes)).map(separator.join)


OCTET = st.integers(1, 255).map(str)
TOKENS = st.one_of(
    digits(9, 60).filter(lambda one: not one.endswith("000")),
    grouped(" ", 4, 4, 4, 4),
    grouped("-", 3, 1, 2, 6, 1),
    grouped(" ", 2, 2, 7).map("+{}".format),
    st.tuples(OCTET, OCTET, OCTET, OCTET).map(".".join),
    st.tuples(OCTET, OCTET, OCTET).map(".".join).map("v{}".format),
    st.builds("{}-{}-{}".format, st.sampled_from(("AB", "QX", "INV")), digits(4, 8), DIGIT),
    st.uuids().map(str),
    st.uuids().map(lambda one: one.hex[:20]).filter(lambda one: sum(map(str.isdigit, one)) > 2),
    st.builds("DE{} {}".format, grouped("", 2), grouped(" ", 4, 4, 4, 4, 2)),
    digits(3, 9).map("https://example.org/items/{}".format),
    digits(3, 9).map("user{}@example.org".format),
)


def changed(token: str, place: int, by: int) -> str:
    """The token with another digit at one of its digits' places."""
    places = [at for at, letter in enumerate(token) if letter.isdigit()]
    at = places[place % len(places)]
    return f"{token[:at]}{(int(token[at]) + by) % 10}{token[at + 1 :]}"


@pytest.mark.parametrize("judge", JUDGES)
@settings(max_examples=60)
@given(TOKENS, st.integers(0, 60), st.integers(1, 9), st.sampled_from(TEMPLATES))
def test_no_identifier_with_another_digit_is_supported(
    judge: str, token: str, place: int, by: int, template: str
) -> None:
    """Whichever digit it is."""
    claim = judged(judge, template.format(changed(token, place, by)), template.format(token))

    assert claim.label is not Label.ENTAILED


def respelt(token: str) -> str:
    """The token with other case and separators, where its spelling leaves a choice."""
    if "." in token:
        return token.removeprefix("https://")
    return token.swapcase().replace(" ", "-" if token[0].isdigit() else "")


@pytest.mark.parametrize("judge", JUDGES)
@settings(max_examples=60)
@given(TOKENS, st.sampled_from(TEMPLATES))
def test_no_identifier_in_another_spelling_is_contradicted(
    judge: str, token: str, template: str
) -> None:
    """Case and separators are no part of it."""
    claim = judged(judge, template.format(respelt(token)), template.format(token))

    assert claim.label is not Label.CONTRADICTED
