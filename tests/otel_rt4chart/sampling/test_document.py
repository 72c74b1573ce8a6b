"""What a document of rates says, and what is none."""

from __future__ import annotations

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_rt4chart.core.errors import InputError
from otel_rt4chart.sampling import Policy
from otel_rt4chart.sampling.policy import RatesDocument, parse_rates_document


def test_a_document_is_read_whole() -> None:
    """Rates, routes and the time until which they hold."""
    text = b'{"rate": 0.1, "routes": {"support/*": 1}, "expires": "1970-01-02T00:00:00Z"}'

    assert parse_rates_document(text) == RatesDocument(0.1, {"support/*": 1.0}, 86_400.0)
    assert parse_rates_document(b"{}") == RatesDocument(expires=math.inf)


def test_what_it_leaves_out_stays_the_policy_s_own() -> None:
    """Bounds, salt and rules always do."""
    own = Policy(rate=0.2, route_rates={"a": 1.0}, salt="s", per_day=5)

    assert RatesDocument(rate=0.0).apply_to(own) == Policy(0.0, {"a": 1.0}, "s", per_day=5)
    assert RatesDocument(routes={}).apply_to(own) == Policy(0.2, {}, "s", per_day=5)
    assert RatesDocument().apply_to(own) == own


def test_a_raised_route_has_that_rate_at_least() -> None:
    """Over its own rate, a pattern's or the default; no route is lowered, no other one touched."""
    told = parse_rates_document(b'{"raised": {"a": 0.5, "b/c": 0.5, "d": 0.5}}')
    policy = told.apply_to(Policy(rate=0.1, route_rates={"a": 1.0, "b/*": 0.2}))

    assert [policy.rate_of(route) for route in ("a", "b/c", "b/x", "d", "e")] == [
        *(1.0, 0.5, 0.2, 0.5, 0.1)
    ]


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"\xff",
        b"[" * 100_000,
        b"[]",
        b"0.5",
        b'{"rates": 0.5}',
        b'{"rate": "0.5"}',
        b'{"rate": true}',
        b'{"rate": 1.1}',
        b'{"rate": NaN}',
        b'{"rate": 1e999}',
        b'{"routes": [0.5]}',
        b'{"routes": {"a": null}}',
        b'{"raised": [0.5]}',
        b'{"raised": {"a": 2}}',
        b'{"expires": 1}',
        b'{"expires": "tomorrow"}',
        b'{"expires": "2026-01-31T12:00:00"}',
    ],
)
def test_what_is_no_document_is_refused(text: bytes) -> None:
    """With what was expected."""
    with pytest.raises(InputError, match="expected"):
        parse_rates_document(text)


@given(st.dictionaries(st.text(max_size=3), st.text("secret", min_size=6)))
def test_the_error_quotes_nothing(whole: dict[str, str]) -> None:
    """Whatever answers at the address may say what is no log's business."""
    with pytest.raises(InputError) as caught:
        parse_rates_document(json.dumps({"mine": 1, **whole}).encode())

    expected = "expected an object with rate, routes, raised and expires, got other keys"
    assert str(caught.value) == expected
