"""What the detector finds on a route, from its ticks alone."""

from __future__ import annotations

from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from otel_rt4chart.core.errors import InputError
from rt4chart_collector.detect.drift.detector import by_time, create_detector, replay
from rt4chart_collector.detect.drift.finding import DriftFinding
from rt4chart_collector.detect.drift.policy import DAY_NS, HOUR_NS, TICK_NS, DriftPolicy
from rt4chart_collector.store.rates.ticks import Bin, RouteTicks
from tests.rt4chart_collector.detect.drift.routes import (
    DAY,
    START_NS,
    drawn,
    route,
    seeded,
    shuffled,
    tick,
)

POLICY = DriftPolicy()
ROSE, FELL = 6 * DAY, 7 * DAY


@cache
def risen() -> RouteTicks:
    """Six calm days, one at 14%, two calm ones."""
    return route(9, lambda at: 0.14 if ROSE <= at < FELL else 0.06, seed=11)


@cache
def found() -> list[DriftFinding]:
    """What is found on it."""
    return replay(risen(), POLICY, since_ns=0)


def states(findings: list[DriftFinding]) -> list[str]:
    """The states, each once as long as it lasts; warnings taken for calm."""
    seen: list[str] = []
    for one in findings:
        state = "calm" if one.state == "warn" else one.state
        if not seen or seen[-1] != state:
            seen.append(state)
    return seen


def test_a_rise_is_paged_once_and_ends_when_the_rate_is_back() -> None:
    """Cold, calm, one alarm that begins and ends near the truth, calm again with fresh evidence."""
    assert states(found()) == ["cold", "calm", "page", "calm"]
    paged = [one for one in found() if one.state == "page"]
    first, last = paged[0], paged[-1]
    assert 0 <= first.tick_ns - (START_NS + ROSE * TICK_NS) <= 90 * 60 * 10**9
    assert abs(first.began_ns - (START_NS + ROSE * TICK_NS)) <= 3 * HOUR_NS
    assert first.page >= first.page_at
    assert first.baseline is not None
    assert first.baseline.rate == pytest.approx(0.06, abs=0.005)
    assert 0 <= last.tick_ns - (START_NS + FELL * TICK_NS) <= 8 * HOUR_NS
    after = found()[found().index(last) + 1]
    assert (after.warn, after.page, after.began_ns) == (0.0, 0.0, 0)


def test_the_alarmed_day_is_not_in_the_baseline() -> None:
    """The baseline of the day after is that of the calm days."""
    last = found()[-1].baseline

    assert last is not None
    assert last.rate == pytest.approx(0.06, abs=0.004)


def test_cold_routes_say_why_and_page_nobody() -> None:
    """However bad the first claims are."""
    few = RouteTicks("s", "r", "v", tuple(tick(at, (Bin(5, 5, 10, 1.0),)) for at in range(12)))

    findings = replay(few, POLICY, since_ns=0)

    assert {one.state for one in findings} == {"cold"}
    assert "no baseline" in findings[0].reason
    assert {one.detectable for one in findings} == {None}


@given(st.integers(0, 2**32), st.floats(0, 1, exclude_max=True))
@settings(max_examples=3, deadline=None)
def test_a_replay_is_the_same_step_by_step_in_any_order_and_from_a_copy(
    seed: int, part: float
) -> None:
    """Shuffled ticks and bins, a watch fed one time after the other, and its copy agree."""
    watch, stepwise, ahead = create_detector(POLICY, "v"), [], []
    times = list(by_time(shuffled(risen(), seeded(seed)).ticks))
    at = int(part * len(times))
    for number, ticks in enumerate(times):
        if number == at:
            ahead.append(watch.fork().update(ticks))
        stepwise.append(watch.update(ticks))

    assert stepwise == found()
    assert ahead == [stepwise[at]]


def test_since_cuts_the_findings_and_not_the_past() -> None:
    """The findings after a time are those of the whole replay."""
    since = START_NS + ROSE * TICK_NS

    assert replay(risen(), POLICY, since_ns=since) == [o for o in found() if o.tick_ns >= since]


def test_missing_empty_and_undecided_ticks_change_no_evidence() -> None:
    """A gap, ticks without answers and answers without decided claims leave the evidence alone."""
    bins = [drawn(seeded(at + 5000), 17, 0.06) for at in range(DAY)]
    later = {at + (DAY if at >= DAY // 2 else 0): bins[at] for at in range(DAY)}
    gap = tuple(tick(at, some) for at, some in later.items())
    filled = tuple(
        tick(at, later.get(at, (Bin(0, 0, 4, 1.0),) if at % 2 else ())) for at in range(2 * DAY)
    )

    with_gap = replay(RouteTicks("s", "r", "v", gap), POLICY, since_ns=0)
    with_empty = replay(RouteTicks("s", "r", "v", filled), POLICY, since_ns=0)

    shown = {one.tick_ns: (one.warn, one.page) for one in with_empty}
    assert [(one.warn, one.page) for one in with_gap] == [shown[one.tick_ns] for one in with_gap]


def test_a_watch_refuses_late_ticks() -> None:
    """Ticks of the past, or of two times at once, are an error that says what to do."""
    watch = create_detector(POLICY)
    watch.update([tick(1, ())])

    with pytest.raises(InputError, match="replay the route"):
        watch.update([tick(1, ())])
    with pytest.raises(InputError, match="one time"):
        watch.update([tick(2, ()), tick(3, ())])


def test_a_new_version_is_measured_against_the_former_one_until_it_is_warm() -> None:
    """A bad deploy pages at once, and says whose baseline it is measured against."""
    bad = route(
        4.5,
        lambda at: 0.06 if at < 4 * DAY else 0.14,
        version_at=lambda at: "1" if at < 4 * DAY else "2",
        seed=5,
    )

    findings = replay(bad, POLICY, since_ns=START_NS + 4 * DAY_NS)

    page = next(one for one in findings if one.state == "page")
    assert page.tick_ns - START_NS - 4 * DAY_NS <= 90 * 60 * 10**9
    assert page.baseline is not None
    assert page.baseline.prompt_version == "1"
    assert page.reason == ("Too little is known of this version yet; it is measured against m 1.")


def test_a_new_version_that_is_no_worse_gets_its_own_baseline() -> None:
    """Once it has two thousand claims it is measured against itself."""
    better = route(
        5, lambda at: 0.06 if at < 4 * DAY else 0.04, version_at=lambda at: "12"[at >= 4 * DAY]
    )

    last = replay(better, POLICY, since_ns=START_NS + 4 * DAY_NS)[-1]

    assert last.baseline is not None
    assert last.baseline.prompt_version == "2"
    assert last.baseline.rate == pytest.approx(0.04, abs=0.01)


def test_where_no_version_gets_warm_all_together_are_the_baseline() -> None:
    """Versions that change every hour do not leave a route without an alarm."""
    hourly = route(
        3.5, lambda at: 0.06 if at < 3 * DAY else 0.16, version_at=lambda at: str(at // 12), seed=9
    )

    findings = replay(hourly, POLICY, since_ns=START_NS + DAY_NS)

    assert states(findings) == ["calm", "page"]
    assert findings[-1].reason.endswith("it is measured against all versions together.")


def test_what_a_person_accepts_is_the_new_usual() -> None:
    """The alarm ends there, and the baseline begins with the rise."""
    stays = route(5, lambda at: 0.06 if at < 4 * DAY else 0.14, seed=7)
    accepted = START_NS + 4 * DAY_NS + 12 * HOUR_NS

    findings = replay(stays, POLICY, since_ns=0, accepted_ns=[accepted])

    assert states(findings)[-2:] == ["page", "calm"]
    assert {o.state for o in findings if o.tick_ns >= accepted} <= {"calm", "warn"}
    last = findings[-1].baseline
    assert last is not None
    assert last.rate == pytest.approx(0.14, abs=0.02)


def test_after_that_a_further_rise_alarms_again() -> None:
    """Measured against the rate that was accepted."""
    twice = route(6, lambda at: 0.06 if at < 4 * DAY else 0.14 if at < 5.5 * DAY else 0.4, seed=7)
    accepted = START_NS + 4 * DAY_NS + 12 * HOUR_NS

    findings = replay(twice, POLICY, since_ns=0, accepted_ns=[accepted])

    assert states([o for o in findings if o.tick_ns >= accepted]) == ["calm", "page"]
    assert findings[-1].began_ns >= START_NS + 5.25 * DAY_NS


def test_what_nobody_was_alarmed_of_cannot_be_accepted() -> None:
    """A calm route keeps its baseline."""
    watched = replay(risen(), POLICY, since_ns=0, accepted_ns=[START_NS + 5 * DAY_NS])

    assert watched == found()


def test_an_alarm_that_nobody_ends_becomes_the_usual_after_some_days() -> None:
    """With `settle_days` of one, the second day is measured against the first."""
    stays = route(5.5, lambda at: 0.06 if at < 4 * DAY else 0.14, seed=8)

    findings = replay(stays, DriftPolicy(settle_days=1), since_ns=0)

    assert findings[-1].state in {"calm", "warn"}
    last = findings[-1].baseline
    assert last is not None
    assert last.rate == pytest.approx(0.14, abs=0.02)


def test_more_routes_and_fewer_allowed_alarms_ask_for_more_evidence() -> None:
    """The bound is the logarithm of ticks a month, times routes, over allowed alarms."""
    assert DriftPolicy().page_at == pytest.approx(9.064, abs=1e-3)
    assert DriftPolicy(routes=50, false_alarms_per_month=2).page_at == pytest.approx(
        12.283, abs=1e-3
    )
    assert DriftPolicy().warn_at == pytest.approx(7.609, abs=1e-3)


@pytest.mark.parametrize("answers", [1, 4, 17])
def test_a_calm_route_seldom_warns(answers: int) -> None:
    """However thin its traffic: in thin traffic evidence needs long to go."""
    random = seeded(answers)
    ticks = tuple(
        tick(at, drawn(random, answers, 0.06)) for at in range(16 * DAY) if answers > 1 or at % 4
    )
    calm = RouteTicks("s", "r", "v", ticks)

    seen = [one.state for one in replay(calm, POLICY, since_ns=START_NS + 9 * DAY_NS)]

    assert seen.count("warn") < 0.05 * len(seen)
    assert "page" not in seen


@pytest.mark.parametrize(("answers", "rare"), [(1, 0), (4, 1)])
def test_a_route_where_counted_claims_are_rare_does_not_warn(answers: int, rare: int) -> None:
    """With none in a month, or with one each third day, as misleading ones often are."""
    ticks = tuple(
        tick(at, (Bin(5, rare, 1, 1.0), Bin(5, 0, answers, 1.0)))
        if at % (3 * DAY) == 0
        else tick(at, (Bin(5, 0, answers, 1.0),))
        for at in range(30 * DAY)
        if answers > 1 or at % 4 == 0
    )

    found = replay(RouteTicks("s", "r", "v", ticks), POLICY, since_ns=START_NS)

    assert {one.state for one in found} == {"cold", "calm"}


@pytest.mark.parametrize(
    ("name", "value"), [("routes", 0), ("false_alarms_per_month", -1), ("points", 3.0)]
)
def test_a_policy_that_cannot_be_meant_is_refused(name: str, value: float) -> None:
    """The error names the field and what came."""
    with pytest.raises(InputError, match=f"{name} .*{value}"):
        DriftPolicy(**{name: value})  # type: ignore[arg-type]


def test_varied_sampling_rates_do_not_alarm() -> None:
    """A rate of sampling that goes up and down changes how much is known, not what."""
    random = seeded(6)
    ticks = tuple(
        tick(at, drawn(random, 34 if at // 50 % 2 else 8, 0.06, 0.4 if at // 50 % 2 else 0.1))
        for at in range(6 * DAY)
    )

    findings = replay(RouteTicks("s", "r", "v", ticks), POLICY, since_ns=0)

    assert "page" not in states(findings)
    assert findings[-1].traffic_per_hour == pytest.approx(80 * 12, rel=0.1)
