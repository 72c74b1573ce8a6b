"""When a rise began."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from rt4chart_collector.detect.monitor.drift_alerts import onset
from rt4chart_collector.store.rates.ticks import TICK_NS, Bin, Tick


def tick(at: int, unfaithful: int, answers: int = 10) -> Tick:
    """Answers of one claim each."""
    bins = (Bin(1, 1, unfaithful, 1.0), Bin(1, 0, answers - unfaithful, 1.0))
    return Tick(at * TICK_NS, "m", "1", "r", tuple(one for one in bins if one.answers))


def test_the_tick_that_parts_before_from_after() -> None:
    """Though the detector's own beginning is early, for a little chance went before."""
    calm = [tick(at, at % 2) for at in range(20)]
    risen = [tick(20 + at, 5) for at in range(6)]

    assert onset([*calm, *risen], 0.05, since_ns=3 * TICK_NS) == 20 * TICK_NS


def test_ticks_before_the_detectors_beginning_do_not_count() -> None:
    """An earlier rise was another one."""
    ticks = [tick(0, 9), tick(1, 0), tick(2, 0), tick(3, 6), tick(4, 6)]

    assert onset(ticks, 0.05, since_ns=TICK_NS) == 3 * TICK_NS


def test_without_a_rise_the_detectors_beginning_stays() -> None:
    """And without any answer."""
    assert onset([tick(1, 0), tick(2, 0)], 0.05, since_ns=TICK_NS) == TICK_NS
    assert onset([], 0.05, since_ns=TICK_NS) == TICK_NS


@given(st.lists(st.integers(0, 10), max_size=30), st.floats(0.0, 0.9))
def test_it_is_never_before_the_detectors_beginning(counts: list[int], usual: float) -> None:
    """Whatever the ticks: that time, or a tick's start behind it."""
    ticks = [tick(at, count) for at, count in enumerate(counts)]

    found = onset(ticks, usual, since_ns=2 * TICK_NS)

    assert found in {2 * TICK_NS, *(one.start_ns for one in ticks[3:])}
