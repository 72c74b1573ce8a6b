"""Routes for the tests of drift, made from a seed: five claims an answer, five minutes a tick."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from random import Random

from hypothesis import strategies as st

from rt4chart_collector.detect.drift.baseline import Baseline
from rt4chart_collector.detect.drift.policy import DAY_NS, TICK_NS
from rt4chart_collector.store.rates.ticks import Bin, RouteTicks, Tick

START_NS = 1_767_225_600 * 10**9
DAY = DAY_NS // TICK_NS
BASELINE = Baseline(
    model="m",
    prompt_version="1",
    verifier="v",
    since_ns=0,
    until_ns=0,
    answers=60_000,
    claims=300_000,
    rate=0.06,
    design_effect=1.8,
    share=0.06,
    variance=0.0203,
    error=0.001,
    between_day_sd=0.002,
    dead_band=0.005,
    days_known=13,
)
# Any answers that are counted, to any kind of question.
BINS = st.lists(
    st.builds(
        lambda decided, part, answers, rate, kind: Bin(
            decided, min(part, decided), answers, rate, kind
        ),
        st.integers(1, 6),
        st.integers(0, 6),
        st.integers(1, 9),
        st.sampled_from([1.0, 0.5, 0.1]),
        st.sampled_from(["", "how", "why", "task"]),
    ),
    min_size=1,
    max_size=12,
)


def seeded(seed: int) -> Random:
    """The same numbers each time."""
    return Random(seed)  # noqa: S311 - a simulation


def tick(at: int, bins: tuple[Bin, ...], version: str = "1", model: str = "m") -> Tick:
    """The tick of this number."""
    return Tick(START_NS + at * TICK_NS, model, version, "", bins)


def drawn(random: Random, answers: int, rate: float, sample_rate: float = 1.0) -> tuple[Bin, ...]:
    """Answers whose claims are beta-binomial with a correlation of 0.2."""
    counts: Counter[int] = Counter()
    for _ in range(answers):
        share = random.betavariate(rate * 4, (1 - rate) * 4)
        counts[sum(random.random() < share for _ in range(5))] += 1
    return tuple(Bin(5, wrong, n, sample_rate) for wrong, n in sorted(counts.items()))


def route(
    days: float,
    rate_at: Callable[[int], float],
    *,
    answers: int = 17,
    seed: int = 1,
    version_at: Callable[[int], str] = lambda at: "1",
) -> RouteTicks:
    """A route of so many answers a tick; rate and prompt version by the number of the tick."""
    random = seeded(seed)
    ticks = tuple(
        tick(at, drawn(random, answers, rate_at(at)), version_at(at))
        for at in range(int(days * DAY))
    )
    return RouteTicks("shop", "support", "v", ticks)


def shuffled(found: RouteTicks, random: Random) -> RouteTicks:
    """The same ticks and bins in another order."""
    ticks = [replace(t, bins=tuple(random.sample(t.bins, len(t.bins)))) for t in found.ticks]
    return replace(found, ticks=tuple(random.sample(ticks, len(ticks))))
