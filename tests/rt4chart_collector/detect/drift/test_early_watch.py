"""What is found on a route that has no baseline yet."""

from __future__ import annotations

from functools import cache

from hypothesis import given
from hypothesis import strategies as st

from rt4chart_collector.detect.drift.baseline import WARM_CLAIMS
from rt4chart_collector.detect.drift.detector import create_detector, replay
from rt4chart_collector.detect.drift.early_watch import EarlyWatch
from rt4chart_collector.detect.drift.finding import DriftFinding
from rt4chart_collector.detect.drift.policy import TICK_NS, DriftPolicy
from rt4chart_collector.detect.drift.shares import shares_of
from rt4chart_collector.store.rates.ticks import Bin, RouteTicks, Tick
from tests.rt4chart_collector.detect.drift.routes import START_NS, tick

POLICY = DriftPolicy()
ROSE, FELL, END = 40, 80, 140


def answers(at: int, wrong: int, number: int = 4) -> Tick:
    """So many answers of two claims each, of which some have one wrong."""
    return tick(at, (Bin(2, 0, number - wrong, 1.0), Bin(2, 1, wrong, 1.0)))


@cache
def new_route() -> RouteTicks:
    """An answer in eight has a wrong claim; for over three hours, three in four."""
    ticks = [answers(at, 3 if ROSE <= at < FELL else at % 2) for at in range(END)]
    return RouteTicks("s", "r", "v", tuple(ticks))


@cache
def found() -> list[DriftFinding]:
    """What is found on it: it has 1,120 claims at the end."""
    return replay(new_route(), POLICY, since_ns=0)


def test_a_large_rise_of_a_new_route_is_paged_and_ends() -> None:
    """Compared with the time before it, which alone is the baseline that the alert shows."""
    paged = [one for one in found() if one.state == "page"]
    first, last = paged[0], paged[-1]

    assert sum(bin_.decided * bin_.answers for t in new_route().ticks for bin_ in t.bins) < (
        WARM_CLAIMS
    )
    assert START_NS + ROSE * TICK_NS < first.tick_ns <= START_NS + (ROSE + 12) * TICK_NS
    assert first.page >= first.page_at > 3
    assert first.baseline is not None
    assert first.baseline.rate < 0.1
    assert "of the 2,000 decided claims are known" in first.reason
    assert "compared with those before" in first.reason
    assert START_NS + FELL * TICK_NS < last.tick_ns < START_NS + (FELL + 18) * TICK_NS
    assert [one.state for one in found()][-1] == "cold"


def test_the_rise_is_in_no_baseline_afterwards() -> None:
    """Neither while it lasts nor later: no hour of it counts."""
    shown = [one.baseline for one in found() if one.baseline]

    assert max(one.rate for one in shown) < 0.1


def test_a_rise_that_a_person_accepts_is_the_usual_rate() -> None:
    """The same rate raises no second alert."""
    detector = create_detector(POLICY)
    ticks = new_route().ticks
    before = [detector.update([one]) for one in ticks[:60]]
    detector.accept(ticks[59].start_ns)
    after = [detector.update([one]) for one in ticks[60:FELL]]

    assert before[-1].state == "page"
    assert {one.state for one in after} == {"cold"}


def test_few_answers_say_nothing() -> None:
    """However bad they are, and however good those before were."""
    watch = EarlyWatch(POLICY)
    for at in range(30):
        watch = watch.update(START_NS + at * TICK_NS, [answers(at, 0)])
    # Two hours later: the window goes back to twenty answers.
    watch = watch.update(START_NS + 54 * TICK_NS, [answers(54, 4)])

    assert watch.rise is None
    assert watch.z > 0
    assert EarlyWatch(DriftPolicy(routes=50)).z_at > watch.z_at


@given(st.lists(st.tuples(st.integers(0, 4), st.sampled_from([1.0, 0.5])), max_size=60))
def test_what_is_usual_and_what_is_recent_are_the_ticks(counts: list[tuple[int, float]]) -> None:
    """Without a rise, the sums are those of all ticks; a copy goes on as the watch does."""
    ticks = [tick(at, (Bin(5, wrong, 3, rate),)) for at, (wrong, rate) in enumerate(counts)]
    watch = EarlyWatch(POLICY)
    for one in ticks:
        watch = watch.update(one.start_ns, [one])

    whole = shares_of(bin_ for one in ticks for bin_ in one.bins)
    if watch.rise is None:
        assert watch.usual.answers == sum(sums.answers for _, sums in watch.recent)
        assert watch.usual.answers == whole.answers
        assert abs(watch.usual.weight - whole.weight) < 1e-6
