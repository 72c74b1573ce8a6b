"""The time range of a page, from its address."""

from __future__ import annotations

from contextlib import suppress
from urllib.parse import urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.exceptions import HTTPException
from starlette.requests import Request

from rt4chart_collector.console.view.time_range import TimeRange, time_range

HOUR_NS = 3600 * 10**9
NOW = 1_800_000_000 * 10**9  # 2027-01-15T08:00:00Z


def asked(**query: str) -> TimeRange:
    """The range of an address with this query."""
    named = {"from" if name == "since_time" else name: value for name, value in query.items()}
    scope = {"type": "http", "query_string": urlencode(named).encode(), "headers": []}
    return time_range(Request(scope), NOW)


def test_a_range_ends_now_unless_it_has_times() -> None:
    """The last 24 hours without any, and one of the named ranges with `since`."""
    assert asked() == TimeRange(NOW - 24 * HOUR_NS, NOW, "24h")
    assert asked(since="1h") == TimeRange(NOW - HOUR_NS, NOW, "1h")


def test_a_range_is_between_two_times() -> None:
    """In UTC unless they have another zone; they win over `since`."""
    utc = asked(since_time="2027-01-15T06:00", to="2027-01-15T07:00Z", since="1h")
    berlin = asked(since_time="2027-01-15T07:00+01:00", to="2027-01-15T08:00+01:00")

    assert utc == TimeRange(NOW - 2 * HOUR_NS, NOW - HOUR_NS)
    assert berlin == utc


def test_one_time_is_enough() -> None:
    """Without an end the range ends now; without a begin it is as long as the default."""
    assert asked(since_time="2027-01-15T06:00") == TimeRange(NOW - 2 * HOUR_NS, NOW)
    assert asked(to="2027-01-15T07:00") == TimeRange(NOW - 25 * HOUR_NS, NOW - HOUR_NS)


@pytest.mark.parametrize(
    "query",
    [
        {"since_time": "yesterday"},
        {"since_time": "2027-01-15T07:00", "to": "2027-01-15T07:00"},
        {"since_time": "2027-01-16"},
        {"to": "1969-01-01"},
        {"to": "0001-01-01T00:00+23:59"},
        {"since_time": "2" * 41},
        {"since": "1y"},
    ],
)
def test_other_texts_are_refused(query: dict[str, str]) -> None:
    """With what was expected, also a begin that does not precede the end."""
    with pytest.raises(HTTPException, match="expected"):
        asked(**query)


@given(
    since_s=st.integers(1, 4_000_000_000),
    length_s=st.integers(1, 100_000_000),
)
def test_an_address_gives_its_range_again(since_s: int, length_s: int) -> None:
    """The parameters of a range between two times lead back to it."""
    found = TimeRange(since_s * 10**9, (since_s + length_s) * 10**9)
    query = {"since_time": found.query["from"], "to": found.query["to"]}

    assert asked(**query) == found


@given(st.text(max_size=40))
def test_no_text_makes_a_range_fail(text: str) -> None:
    """It is a range or a refusal, never another error."""
    with suppress(HTTPException):
        found = asked(since_time=text)
        assert found.since_ns < found.until_ns
