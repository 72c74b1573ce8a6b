from __future__ import annotations

import pytest

from otel_rt4chart.core.errors import SettingsError
from otel_rt4chart.verify.llm.prices import PRICES, Price, parse_prices


def test_a_call_costs_its_fresh_cached_and_output_tokens() -> None:
    """Cached input tokens are part of the input tokens."""
    assert PRICES["gpt-4o-mini"].of(1_000_000, 400_000, 100_000) == pytest.approx(
        0.6 * 0.15 + 0.4 * 0.075 + 0.1 * 0.6
    )


def test_prices_are_read_as_a_list() -> None:
    """A model's name may hold an equals sign or a slash."""
    assert parse_prices("a/b=1=0.5/0.1/2, c=0/0/0 ,") == {
        "a/b=1": Price(0.5, 0.1, 2.0),
        "c": Price(0.0, 0.0, 0.0),
    }


@pytest.mark.parametrize("wrong", ["gpt", "gpt=1", "gpt=1/2", "gpt=a/b/c", "gpt=-1/0/0", "=1/1/1"])
def test_what_is_no_price_is_an_error_with_an_example(wrong: str) -> None:
    """It says what was expected and what came."""
    with pytest.raises(SettingsError, match=r"expected MODEL=INPUT/CACHED/OUTPUT"):
        parse_prices(wrong)
