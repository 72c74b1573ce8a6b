"""Rates by route, and what a policy refuses."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_rt4chart.core.errors import SettingsError
from otel_rt4chart.sampling import Policy

RATES = {"support/*": 0.5, "support/refunds/*": 0.2, "support/refunds/eu": 0.9, "checkout": 0.0}
routes = st.text("ab/*", max_size=6)


@pytest.mark.parametrize(
    ("route", "rate"),
    [
        ("support/refunds/eu", 0.9),
        ("support/refunds/us", 0.2),
        ("support/chat", 0.5),
        ("support/", 0.5),
        ("support", 0.1),
        ("checkout", 0.0),
        ("checkout/card", 0.1),
        ("", 0.1),
    ],
)
def test_the_nearest_rate_holds(route: str, rate: float) -> None:
    """A route's own, else the longest pattern's, else the default."""
    assert Policy(rate=0.1, route_rates=RATES).rate_of(route) == rate


@given(routes, st.dictionaries(routes, st.floats(0, 1)))
def test_a_rate_comes_from_a_pattern_that_fits_and_is_the_longest(
    route: str, rates: dict[str, float]
) -> None:
    """Against a plain search over all beginnings of the route."""
    beginnings = [f"{route[:end]}*" for end in range(len(route), -1, -1)]

    expected = next((rates[one] for one in [route, *beginnings] if one in rates), 0.25)

    assert Policy(rate=0.25, route_rates=rates).rate_of(route) == expected


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"rate": 1.5}, "from 0 to 1, got 1.5"),
        ({"route_rates": {"a": float("nan")}}, "from 0 to 1, got nan"),
        ({"per_minute": 0}, "per_minute: expected 1 or more"),
        ({"per_day": -1}, "per_day: expected 1 or more"),
    ],
)
def test_what_cannot_be_meant_is_refused(given: dict[str, object], message: str) -> None:
    """The error says what came."""
    with pytest.raises(SettingsError, match=message):
        Policy(**given)  # type: ignore[arg-type]
