"""Dates and times of day."""

from __future__ import annotations

import pytest

from otel_rt4chart.verify.language.dates import (
    Moment,
    contradicts,
    is_supported_by,
    is_supported_in,
    moments,
)


def only(text: str) -> Moment:
    """The one date of a text."""
    (moment,) = moments(text)
    return moment


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("on April 24, 1990", (1990, 4, 24, None, None)),
        ("on 24 April 1990", (1990, 4, 24, None, None)),
        ("on the 3rd of May", (None, 5, 3, None, None)),
        ("in april 1990", (1990, 4, None, None, None)),
        ("on 1990-04-24", (1990, 4, 24, None, None)),
        ("since 1990", (1990, None, None, None, None)),
        ("on Mondays", (None, None, None, 1, None)),
        ("at 5 p.m.", (None, None, None, None, 1020)),
        ("at 17:40", (None, None, None, None, 1060)),
    ],
)
def test_a_date_has_the_parts_that_are_told(text: str, parts: tuple[int | None, ...]) -> None:
    """Year, month, day, weekday and minutes, None where untold."""
    assert only(text).parts == parts


@pytest.mark.parametrize("text", ["They may leave.", "They march on.", "It costs $1990."])
def test_words_and_amounts_that_look_like_dates_are_none(text: str) -> None:
    """`may`, `march` and an amount of money."""
    assert moments(text) == ()


def test_a_fuller_date_bears_a_shorter_one_out_and_not_the_other_way() -> None:
    """`in 1990` follows from `April 24, 1990`."""
    full, short = only("April 24, 1990"), only("in 1990")

    assert is_supported_by(short, full)
    assert not is_supported_by(full, short)


def test_dates_that_share_a_part_with_other_values_contradict() -> None:
    """Another day of the same month does, a weekday beside a year does not."""
    assert contradicts(only("April 24, 1990"), only("April 25, 1990"))
    assert not contradicts(only("in 1990"), only("on Monday"))


def test_a_month_may_be_borne_out_by_one_date_and_its_year_by_another() -> None:
    """But a day must stand in one date."""
    context = frozenset({only("on 3 May").parts, only("in 1990").parts})

    assert is_supported_in(only("in May 1990"), context)
    assert not is_supported_in(only("4 May 1990"), context)


def test_a_day_without_its_year_and_the_year_elsewhere_bear_out_both() -> None:
    """`April 9th` in an article of 2011; a day told with another year does not."""
    claimed = only("9 April 2011")

    assert is_supported_in(claimed, frozenset({only("April 9th").parts, only("in 2011").parts}))
    assert not is_supported_in(
        claimed, frozenset({only("9 April 2010").parts, only("in 2011").parts})
    )


def test_a_span_of_years_is_two_years() -> None:
    """`1491-1510`; a number behind a year and a hyphen is none."""
    assert [one.year for one in moments("It dates from 1491-1510.")] == [1491, 1510]
    assert moments("Part 1991-7 is sold out.") == ()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("It closes at 8 pm.", "8 pm"),
        ("It closes at 8pm. Then it opens.", "8pm"),
        ("It closes at 8 p.m.", "8 p.m."),
        ("It closes at 8:30 a.m. daily.", "8:30 a.m."),
    ],
)
def test_a_time_of_day_has_only_the_dots_of_its_abbreviation(text: str, said: str) -> None:
    """The dot that ends the sentence is not part of it."""
    first = only(text)
    assert text[first.start : first.end] == said


def test_listed_days_share_the_month_behind_them() -> None:
    """`On 3, 4 and 5 May` are three dates."""
    found = moments("Closed on the 1st and 2nd of November, and on 3, 4 and 5 May 2024.")

    assert [(one.year, one.month, one.day) for one in found] == [
        (None, 11, 1), (None, 11, 2), (2024, 5, 3), (2024, 5, 4), (2024, 5, 5),
    ]  # fmt: skip


def test_a_number_that_is_no_day_is_no_date() -> None:
    """`10 users and 3 offices on 5 May` is one date."""
    assert [one.day for one in moments("We have 10 users, 40 and 3 May.")] == [3]
