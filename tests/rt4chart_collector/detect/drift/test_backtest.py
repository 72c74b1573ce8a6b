"""What the rules would have raised over stored ticks."""

from __future__ import annotations

from dataclasses import replace

from otel_rt4chart.verify.core.rates import Measure
from rt4chart_collector.detect.drift.backtest import Backtest, alarms_of, backtest
from rt4chart_collector.detect.drift.detector import replay
from rt4chart_collector.detect.drift.policy import DAY_NS, HOUR_NS, TICK_NS, DriftPolicy
from rt4chart_collector.store.rates.ticks import Bin, RouteTicks, Tick

BEGIN = 1_900_000_800 * 10**9 // HOUR_NS * HOUR_NS
RISE = BEGIN + 16 * DAY_NS
END = BEGIN + 20 * DAY_NS


def hour(number: int, unfaithful: int) -> Tick:
    """Forty answers of five claims, so many of them with two unfaithful ones."""
    bins = (Bin(5, 0, 40 - unfaithful, 1.0), Bin(5, 2, unfaithful, 1.0))
    return Tick(BEGIN + number * HOUR_NS, "m", "p", "r", bins)


def routes(*, back: int = 0) -> list[RouteTicks]:
    """A route that rises from 5% to 20% after sixteen days, and one that never does.

    `back` is after how many hours the first one is well again.
    """
    rise = 16 * 24
    bad = range(rise, rise + back if back else 20 * 24)
    rising = tuple(hour(n, 20 if n in bad else 4 + n % 3) for n in range(20 * 24))
    calm = tuple(hour(n, 4 + n % 3) for n in range(20 * 24))
    return [RouteTicks("shop", "bad", "v", rising), RouteTicks("shop", "good", "v", calm)]


def results(**more: int) -> dict[str, Backtest]:
    """Of each rule, from the tenth day on."""
    found = backtest(
        routes(**more), DriftPolicy(routes=2), since_ns=BEGIN + 10 * DAY_NS, until_ns=END
    )
    return {one.rule: one for one in found}


def test_a_rise_is_found_by_each_rule_and_the_calm_route_by_none() -> None:
    """With when it began, the rate before and after, and how many claims each is of."""
    found = results()

    assert list(found) == ["evidence", "threshold", "window"]
    for one in found.values():
        (alarm,) = one.alarms
        assert alarm.route == "bad"
        assert RISE - 2 * HOUR_NS <= alarm.began_ns <= alarm.paged_ns <= RISE + DAY_NS
        assert alarm.ended_ns == 0
        assert alarm.after.value is not None
        assert 0.15 < alarm.after.value <= 0.2
        assert alarm.after_claims > 3 * 24 * 200
        assert (one.routes, one.cold, round(one.route_months, 2)) == (2, 0, 0.67)
        assert round(one.per_route_month, 2) == 1.5
    before = found["evidence"].alarms[0].before
    assert before.low is not None
    assert before.high is not None
    assert before.low < 0.05 < before.high


def test_an_alarm_ends_where_the_rule_says_so() -> None:
    """What was after it is the rate until then."""
    found = results(back=30)

    assert found
    for one in found.values():
        (alarm,) = one.alarms
        assert RISE + 29 * HOUR_NS < alarm.ended_ns <= RISE + 60 * HOUR_NS


def test_an_alarm_is_a_span_of_findings_that_page() -> None:
    """Two spans are two alarms; it pages when the tick is over."""
    ticks = routes()[1]
    calm = replay(ticks, DriftPolicy(), since_ns=BEGIN + 19 * DAY_NS)
    states = ["calm", "page", "page", "warn", "page"]
    found = [
        replace(one, state=state, began_ns=one.tick_ns)  # type: ignore[arg-type]
        for one, state in zip(calm, states, strict=False)
    ]

    first, second = alarms_of("evidence", ticks, found)

    assert (first.paged_ns, first.ended_ns) == (
        calm[1].tick_ns + TICK_NS,
        calm[2].tick_ns + TICK_NS,
    )
    assert (second.began_ns, second.ended_ns) == (calm[4].tick_ns, 0)


def test_each_measure_is_replayed_apart() -> None:
    """A rise of misleading claims is an alarm of that measure only."""
    bad, good = routes()
    both = [replace(good, route="bad"), replace(bad, measure=Measure.MISLEADING)]

    found = list(
        backtest(both, DriftPolicy(), since_ns=BEGIN + 10 * DAY_NS, until_ns=END, only=["evidence"])
    )

    assert [(one.measure, len(one.alarms), one.routes) for one in found] == [
        (Measure.UNFAITHFUL, 0, 1),
        (Measure.MISLEADING, 1, 1),
    ]


def test_nothing_stored_is_nothing_found() -> None:
    """And no division by the time that there was not."""
    (one,) = backtest([], DriftPolicy(), since_ns=BEGIN, until_ns=END, only=["evidence"])

    assert (one.alarms, one.per_route_month) == ((), 0.0)
