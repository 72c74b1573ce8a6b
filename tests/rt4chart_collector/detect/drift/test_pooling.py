"""How groups differ beyond chance, and what is taken of each group's own mean."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rt4chart_collector.detect.drift.pooling import (
    Estimate,
    Measurement,
    Pooled,
    pooled,
    spread,
    weighted_mean,
)

MEASURED = st.dictionaries(
    st.text("abcdef", min_size=1, max_size=1),
    st.builds(Measurement, st.floats(0.0, 4.0), st.floats(0.001, 2.0)),
    max_size=6,
)


def test_groups_that_differ_no_more_than_their_errors_are_alike() -> None:
    """Each is taken to be 1."""
    alike = {"a": Measurement(0.8, 0.02), "b": Measurement(1.2, 0.02), "c": Measurement(1.0, 0.02)}

    assert pooled(alike) == Pooled()
    assert pooled({"a": Measurement(3.0, 0.001)}) == Pooled()
    assert Pooled().unknown == Estimate(1.0, 0.0)


def test_a_group_of_which_much_is_known_keeps_its_value() -> None:
    """One of which little is known is taken to be like the others, and may be like any of them."""
    found = pooled(
        {"a": Measurement(0.5, 1e-6), "b": Measurement(1.5, 1e-6), "c": Measurement(3.0, 9.0)}
    )

    assert found.groups["a"].value == pytest.approx(0.5, abs=0.001)
    assert found.groups["b"].value == pytest.approx(1.5, abs=0.001)
    assert 1.0 < found.groups["c"].value < 1.2
    assert found.groups["c"].error == pytest.approx(found.unknown.error, rel=0.05)
    assert found.unknown.value == 1.0
    assert found.parameters == pytest.approx(4 / 3, abs=0.05)


def test_values_of_a_group_are_compared_with_their_own_mean() -> None:
    """Two groups far apart: their values do not vary; they do if they are one group."""
    low, high = [Measurement(1.0, 0.01)] * 4, [Measurement(3.0, 0.01)] * 4

    assert spread([low, high]).variance == 0.0
    assert spread([low, high]).is_chance
    assert spread([low + high]).variance == pytest.approx(8 / 7, abs=0.02)
    assert not spread([low + high]).is_chance
    assert spread([low + high], fitted=8).variance == 0.0


def test_the_mean_errs_by_what_its_values_vary() -> None:
    """Four values that are known exactly and vary by 1."""
    mean = weighted_mean([Measurement(value, 0.0) for value in (0.0, 2.0, 0.0, 2.0)], 1.0)

    assert mean == Measurement(1.0, 0.25)


@given(MEASURED)
def test_each_value_lies_between_its_own_and_one(measured: dict[str, Measurement]) -> None:
    """Its error is at most its own and at most that of a group that was not measured."""
    found = pooled(measured)

    for name, one in found.groups.items():
        own = measured[name]
        assert min(own.value, 1.0) - 1e-9 <= one.value <= max(own.value, 1.0) + 1e-9
        assert one.error <= min(math.sqrt(own.variance), found.unknown.error) + 1e-9
    assert 0.0 <= found.parameters <= max(len(measured) - 1, 0)
