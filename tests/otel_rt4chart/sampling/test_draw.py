from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_rt4chart.core.errors import SettingsError
from otel_rt4chart.sampling import is_sampled, position

trace_ids = st.integers(1, 2**128 - 1).map(lambda number: f"{number:032x}")
rates = st.floats(0, 1)


@given(trace_ids, rates, rates, st.text(max_size=5))
def test_samples_are_nested(trace_id: str, one: float, other: float, salt: str) -> None:
    """What is sampled at a rate is sampled at every higher rate."""
    low, high = sorted((one, other))

    assert is_sampled(trace_id, low, salt) <= is_sampled(trace_id, high, salt)


@given(trace_ids, st.text(max_size=5))
def test_rate_one_takes_all_and_rate_zero_none(trace_id: str, salt: str) -> None:
    """The two ends of the range hold for every trace."""
    assert is_sampled(trace_id, 1, salt)
    assert not is_sampled(trace_id, 0, salt)


@pytest.mark.parametrize("rate", [0.01, 0.1, 0.5, 0.9])
def test_share_of_sampled_traces_is_the_rate(rate: float) -> None:
    """Over 20,000 ids the share lies within four standard errors of the rate."""
    size = 20_000

    taken = sum(is_sampled(f"{number:032x}", rate) for number in range(size))

    assert abs(taken / size - rate) < 4 * (rate * (1 - rate) / size) ** 0.5


def test_another_salt_draws_another_sample() -> None:
    """Two salts agree on about the square of the rate, not on the whole sample."""
    ids = [f"{number:032x}" for number in range(2000)]

    first = {i for i in ids if is_sampled(i, 0.5, "a")}
    second = {i for i in ids if is_sampled(i, 0.5, "b")}

    assert 350 < len(first & second) < 650


def test_decision_is_the_same_in_another_process() -> None:
    """A process with another hash seed places a trace at the same position."""
    trace_id = "0af7651916cd43dd8448eb211c80319c"
    code = f"from otel_rt4chart.sampling import position; print(position({trace_id!r}, 'v1'))"

    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert float(out.stdout) == position(trace_id, "v1")


@pytest.mark.parametrize("rate", [-0.1, 1.1, float("nan"), float("inf"), True, "0.5"])
def test_rate_outside_the_range_is_refused(rate: float) -> None:
    """What is no probability is an error that says what came."""
    with pytest.raises(SettingsError, match=r"from 0 to 1, got"):
        is_sampled("00", rate)
