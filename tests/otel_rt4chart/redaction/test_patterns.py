from __future__ import annotations

import time

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from otel_rt4chart.core.errors import SettingsError
from otel_rt4chart.redaction.patterns import BUILT_IN, patterns_from

LONGEST_S = 0.6


def found(text: str) -> list[tuple[str, str]]:
    """What the built-in patterns find one after the other, by name."""
    places = []
    for one in BUILT_IN:
        for start, end in one.find_ranges(text):
            places.append((one.name, text[start:end]))
            text = text[:start] + "_" * (end - start) + text[end:]
    return places


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("write to bob.s@ex-ample.co.uk.", [("email", "bob.s@ex-ample.co.uk")]),
        ("call +49 171 1234567 now", [("phone", "+49 171 1234567")]),
        ("call +49 (171) 123-4567", [("phone", "+49 (171) 123-4567")]),
        ("call +49 (0)30-1234567 or", [("phone", "+49 (0)30-1234567")]),
        ("call 0049 30 1234567", [("phone", "0049 30 1234567")]),
        ("call (415) 555-2671", [("phone", "(415) 555-2671")]),
        ("call 415-555-2671", [("phone", "415-555-2671")]),
        ("06 12 34 56 78", [("phone", "06 12 34 56 78")]),
        ("card 4111 1111 1111 1111 12 left", [("card", "4111 1111 1111 1111")]),
        ("DE89 3704 0044 0532 0130 00 EUR", [("iban", "DE89 3704 0044 0532 0130 00")]),
        ("GB82WEST12345698765432", [("iban", "GB82WEST12345698765432")]),
        ("from 192.168.1.10 and 2001:db8::1", [("ip", "192.168.1.10"), ("ip", "2001:db8::1")]),
        ("host:192.168.1.10, mailto:10.0.0.7", [("ip", "192.168.1.10"), ("ip", "10.0.0.7")]),
        ('{"192.168.1.10": 1}', [("ip", "192.168.1.10")]),
        ("::ffff:192.168.1.10", [("ip", "::ffff:192.168.1.10")]),
        ("我的地址是192.168.1.10吗", [("ip", "192.168.1.10")]),
        ("电话是+49 30 1234567。", [("phone", "+49 30 1234567")]),
        ("電話030-1234567です", [("phone", "030-1234567")]),
        ("我的账号是DE89370400440532013000。", [("iban", "DE89370400440532013000")]),
        ("iban_DE89370400440532013000", [("iban", "DE89370400440532013000")]),
        ("key_ghp_" + "aB3" * 12, [("secret", "ghp_" + "aB3" * 12)]),
    ],
)
def test_what_tells_a_person_is_found(text: str, expected: list[tuple[str, str]]) -> None:
    """Whole, and without the words beside it."""
    assert found(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "on 2024-01-15 10:30, or 01.02.2024 10.30",
        "1,000,000 in 2024 2025 2026, and 14 days",
        "4111 1111 1111 1112 has a wrong check digit, 0000000000000000 is none",
        "XX12 ABCD EFGH IJKL has a wrong check digit",
        "version 1.2.3, std::vector, 10:30:45, order 1234567890",
    ],
)
def test_dates_and_amounts_are_left(text: str) -> None:
    """What they say is what is verified."""
    assert found(text) == []


def test_patterns_are_chosen_by_name_or_given() -> None:
    """Names choose among the built-in ones; anything else is an expression."""
    assert [one.name for one in patterns_from(" ip, email")] == ["email", "ip"]
    (own,) = patterns_from(r"ACME-\d+")
    assert list(own.find_ranges("see ACME-12 and ACME-3")) == [(4, 11), (16, 22)]


def test_a_wrong_expression_names_its_variable() -> None:
    """It stops the start, not a request."""
    with pytest.raises(SettingsError, match=r"RT4CHART_REDACT_PATTERN: .* unterminated"):
        patterns_from("(a")


@pytest.mark.parametrize("told", ["emails", "email, phones", "e-mail,phone", r"email, ACME-\d+"])
def test_a_misspelt_name_is_refused(told: str) -> None:
    """As an expression it would find nothing, and nothing would be redacted."""
    with pytest.raises(SettingsError, match=r"RT4CHART_REDACT_PATTERN: expected names of email"):
        patterns_from(told)


def test_a_word_is_an_expression_in_brackets() -> None:
    """As the refusal of a bare word says."""
    (own,) = patterns_from("(?:Zeppelin)")

    assert list(own.find_ranges("a Zeppelin")) == [(2, 10)]


def test_an_expression_that_finds_nothing_at_all_ends() -> None:
    """A match of no characters is no place."""
    (own,) = patterns_from("x*")

    assert list(own.find_ranges("axxb")) == [(1, 3)]


UNITS = st.text("0123456789+()/.,-_ :@%aAZ", min_size=1, max_size=24)


@settings(max_examples=25)
@given(UNITS)
@example("001234567890123456789a ")
@example("1" * 30 + "x +")
@example("+1 (1) 1 (1) 1 (1) 1 a")
@example("0-01-01-01-01a")
@example("a" * 60 + "@" + "b.c-" * 60)
@example("AB12 CD34 EF56 ")
@example("1 ")
def test_hostile_texts_take_time_in_proportion(unit: str) -> None:
    """Whatever is repeated, each pattern is through with a long text soon (CPU time, with room)."""
    text = (unit * 20_000)[:20_000]

    started = time.process_time()
    for one in BUILT_IN:
        list(one.find_ranges(text))

    assert time.process_time() - started < LONGEST_S
