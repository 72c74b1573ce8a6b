"""The fixed bound and the rise in a window."""

from __future__ import annotations

import pytest

from rt4chart_collector.detect.drift.detector import replay
from rt4chart_collector.detect.drift.policy import DAY_NS, TICK_NS, DriftPolicy
from rt4chart_collector.store.rates.ticks import Bin, RouteTicks
from tests.rt4chart_collector.detect.drift.routes import DAY, START_NS, drawn, seeded, tick

ROSE = 2 * DAY


def made(answers: int = 40) -> RouteTicks:
    """Two days at about 6%, six hours at about 16%, six at 6% again."""
    random = seeded(9)
    ticks = tuple(
        tick(at, drawn(random, answers, 0.16 if ROSE <= at < ROSE + 72 else 0.06))
        for at in range(ROSE + 144)
    )
    return RouteTicks("s", "r", "v", ticks)


@pytest.mark.parametrize(
    "policy",
    [DriftPolicy(rule="threshold", threshold=0.12), DriftPolicy(rule="window", points=0.05)],
)
def test_a_rule_pages_over_its_bound_and_ends_below_it(policy: DriftPolicy) -> None:
    """Both page during the rise and not after it, and say what they measured and their bound."""
    findings = replay(made(), policy, since_ns=START_NS + DAY_NS)

    paged = [one for one in findings if one.state == "page"]
    first = (paged[0].tick_ns - START_NS) // TICK_NS
    last = (paged[-1].tick_ns - START_NS) // TICK_NS
    assert ROSE <= first <= ROSE + 12
    assert ROSE + 71 <= last <= ROSE + 84
    assert len(paged) == last - first + 1
    assert (
        paged[0].page
        >= paged[0].page_at
        == (policy.threshold if policy.rule == "threshold" else 0.05)
    )
    assert findings[-1].began_ns == 0
    assert findings[-1].state == "calm"


def test_the_window_needs_a_baseline_and_the_threshold_does_not() -> None:
    """On a route without a past only the fixed bound pages."""
    bad = RouteTicks("s", "r", "v", tuple(tick(at, (Bin(5, 5, 8, 1.0),)) for at in range(9)))

    window = replay(bad, DriftPolicy(rule="window"), since_ns=0)
    threshold = replay(bad, DriftPolicy(rule="threshold"), since_ns=0)

    assert {one.state for one in window} == {"cold"}
    assert threshold[-1].state == "page"


def test_too_few_claims_page_nobody() -> None:
    """Fewer claims in the window than asked for are no rate."""
    few = RouteTicks("s", "r", "v", (tick(0, (Bin(5, 5, 19, 1.0),)),))

    assert replay(few, DriftPolicy(rule="threshold"), since_ns=0)[0].state == "calm"
