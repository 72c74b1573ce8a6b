"""Prices of models, in a table that the user can replace."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from otel_rt4chart.core.errors import SettingsError


class Price(NamedTuple):
    """US dollars for a million tokens; `cached` are input tokens from the provider's cache."""

    input: float
    cached: float
    output: float

    def of(self, input_tokens: int, cached_tokens: int, output_tokens: int) -> float:
        """The cost of a call in US dollars; `cached_tokens` are part of `input_tokens`."""
        fresh = max(0, input_tokens - cached_tokens)
        return (
            fresh * self.input + cached_tokens * self.cached + output_tokens * self.output
        ) / 1e6


# OpenAI's list prices as of 2025-08 (openai.com/api/pricing); set your own where they differ.
PRICES: Mapping[str, Price] = {
    "gpt-4o-mini": Price(0.15, 0.075, 0.60),
    "gpt-4o": Price(2.50, 1.25, 10.00),
    "gpt-4.1": Price(2.00, 0.50, 8.00),
    "gpt-4.1-mini": Price(0.40, 0.10, 1.60),
    "gpt-4.1-nano": Price(0.10, 0.025, 0.40),
    "text-embedding-3-small": Price(0.02, 0.02, 0.0),
    "text-embedding-3-large": Price(0.13, 0.13, 0.0),
    "text-embedding-ada-002": Price(0.10, 0.10, 0.0),
}


def parse_prices(text: str) -> dict[str, Price]:
    """Parse a price list `MODEL=INPUT/CACHED/OUTPUT, …` in US dollars for a million tokens.

    SettingsError for a malformed entry.
    """
    found: dict[str, Price] = {}
    for entry in filter(None, map(str.strip, text.split(","))):
        model, _, figures = entry.rpartition("=")
        try:
            price = Price(*(float(figure) for figure in figures.split("/")))
        except (TypeError, ValueError):
            price = None
        if not model or price is None or not all(0 <= figure < 1e6 for figure in price):
            raise SettingsError(
                "RT4CHART_JUDGE_PRICES: expected MODEL=INPUT/CACHED/OUTPUT in US dollars for a "
                f"million tokens, such as gpt-4o-mini=0.15/0.075/0.60, got {entry!r}"
            )
        found[model.strip()] = price
    return found
