"""How much of a rise is another mix of questions, and how much is quality."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rt4chart_collector.core.alerts.facts import AttributeValue
from rt4chart_collector.detect.drift.policy import TICK_NS
from rt4chart_collector.detect.drift.pooling import Estimate
from rt4chart_collector.detect.drift.rise_parts import rise_parts
from rt4chart_collector.detect.drift.usual_pattern import UsualPattern
from rt4chart_collector.store.rates.ticks import Bin, Tick
from tests.rt4chart_collector.detect.drift.routes import BASELINE, START_NS

# Two thirds of the questions are "how", at 3%; a third is "why", at 12%.
KINDS = {"how": Estimate(0.5, 0.02), "why": Estimate(2.0, 0.05)}
BASE = replace(
    BASELINE,
    pattern=UsualPattern(KINDS, Estimate(1.0, 0.7)),
    mix={"how": 2 / 3, "why": 1 / 3},
)


def after(how: int, why: int, *, worse: int = 0, times: int = 10) -> list[Tick]:
    """Ticks of so many answers of a hundred claims at their usual rates, or worse."""
    bins = (Bin(100, 3 + worse, how, 1.0, "how"), Bin(100, 12 + worse, why, 1.0, "why"))
    kept = tuple(bin_ for bin_ in bins if bin_.answers)
    return [Tick(START_NS + at * TICK_NS, "m", "1", "", kept) for at in range(times)]


def test_a_rise_by_the_mix_and_by_quality_has_both_parts() -> None:
    """A third became two thirds: three points; another two for each kind are quality."""
    parts = rise_parts(BASE, after(10, 20, worse=2))

    assert parts is not None
    assert parts.points == pytest.approx(0.05)
    assert parts.mix.points == pytest.approx(0.03)
    assert 0.02 < parts.mix.low < 0.03 < parts.mix.high < 0.04
    assert parts.quality.points == pytest.approx(0.02)
    assert parts.quality.low < 0.02 < parts.quality.high
    assert parts.time == pytest.approx(0.0)
    assert parts.kinds == (
        AttributeValue("kind of question", "how", 2 / 3, 1 / 3),
        AttributeValue("kind of question", "why", 1 / 3, 2 / 3),
    )


def test_a_part_that_may_be_chance_is_not_told() -> None:
    """The usual mix with worse answers, few answers, or kinds that were never seen."""
    unseen = [replace(t, bins=(Bin(100, 12, 9, 1.0, "task"),)) for t in after(1, 1)]

    assert rise_parts(BASE, after(20, 10, worse=5)) is None
    assert rise_parts(BASE, after(1, 2, times=1)) is None
    assert rise_parts(BASE, unseen) is None
    assert rise_parts(BASE, []) is None


def test_the_time_is_a_part_of_its_own() -> None:
    """An hour in which rates are usually a quarter higher."""
    hour = START_NS // (12 * TICK_NS)
    pattern = UsualPattern(KINDS, Estimate(1.0, 0.7), hours={hour % 24: 1.25})

    parts = rise_parts(replace(BASE, pattern=pattern), after(10, 20))

    assert parts is not None
    assert parts.time == pytest.approx(0.06 * 0.25)
    assert parts.mix.points == pytest.approx(0.03 * 1.25)


@given(st.integers(0, 30), st.integers(0, 30), st.integers(0, 50))
def test_parts_add_up(how: int, why: int, worse: int) -> None:
    """To the whole difference; each lies inside of its interval."""
    parts = rise_parts(BASE, after(how, why, worse=worse))

    if parts is not None:
        whole = parts.mix.points + parts.quality.points + parts.time
        assert whole == pytest.approx(parts.points)
        for part in (parts.mix, parts.quality):
            assert part.low <= part.points <= part.high
        assert parts.mix.low * parts.mix.high > 0
