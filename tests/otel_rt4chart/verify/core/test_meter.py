from __future__ import annotations

from otel_rt4chart.verify.core.meter import Budget, Meter


def test_a_budget_counts_what_is_under_way() -> None:
    """Calls side by side cannot together spend what each alone may."""
    meter = Meter(Budget(calls=2, tokens=100), calls=1, input_tokens=40, output_tokens=10)

    assert meter.refusal(1, 50) is None
    meter.reserved = 30
    assert meter.refusal(1, 50) == "over_budget: 100 tokens an answer"
    meter.calls = 2
    assert meter.refusal(1, 0) == "over_budget: 2 calls an answer"


def test_one_call_without_a_price_leaves_the_whole_cost_unknown() -> None:
    """A sum that lacks a part is not told as one."""
    meter = Meter()
    meter.charge(10, 0, 5, 0.25)
    assert meter.usage().cost_usd == 0.25

    meter.charge(10, 4, 5, None)

    assert meter.usage(1.5).cost_usd is None
    assert (meter.input_tokens, meter.cached_tokens, meter.output_tokens) == (20, 4, 10)
    assert meter.usage(1.5).milliseconds == 1.5
