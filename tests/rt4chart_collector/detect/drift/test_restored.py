"""A detector that was stored and restored finds what one finds that never stopped."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from otel_rt4chart.core.errors import InputError
from rt4chart_collector.detect.drift.baseline import ModelVersion
from rt4chart_collector.detect.drift.detector import (
    DriftDetector,
    by_time,
    create_detector,
    restore_detector,
)
from rt4chart_collector.detect.drift.finding import DriftFinding
from rt4chart_collector.detect.drift.hour_sums import HoursCheck, HourSums
from rt4chart_collector.detect.drift.plain_values import mapping_from_plain, to_plain
from rt4chart_collector.detect.drift.policy import RULES, DriftPolicy
from rt4chart_collector.store.rates.ticks import Bin, Tick
from tests.rt4chart_collector.detect.drift.routes import BINS, DAY, drawn, seeded, tick


class Kept:
    """Stored hours, as JSON."""

    def __init__(self) -> None:
        self.hours: dict[int, str] = {}
        self.reads = 0

    def read(self, check: HoursCheck) -> Mapping[ModelVersion, Mapping[int, HourSums]]:
        """The hours that the check is of."""
        self.reads += 1
        found: dict[ModelVersion, dict[int, HourSums]] = {}
        for hour, told in self.hours.items():
            if check.first <= hour < check.end:
                for version, sums in mapping_from_plain(
                    ModelVersion, HourSums, json.loads(told)
                ).items():
                    found.setdefault(version, {})[hour] = sums
        return found


def restarted(detector: DriftDetector, policy: DriftPolicy, kept: Kept) -> DriftDetector:
    """The detector after its state went through JSON, and its past hours into the store."""
    since = max(kept.hours, default=-1) + 1
    for hour, sums in detector.history.hours_since(since).items():
        kept.hours[hour] = json.dumps(to_plain(sums))
    told = json.dumps(to_plain(detector.state()))
    return restore_detector(policy, detector.history.verifier, json.loads(told), kept.read)


def findings(
    ticks: Sequence[Tick], policy: DriftPolicy, stops: Sequence[int], accepts: Sequence[int] = ()
) -> list[DriftFinding]:
    """The findings with a restart before each of these times; a fork tries each tick first."""
    detector, kept, found = create_detector(policy, "v"), Kept(), []
    for number, group in enumerate(by_time(ticks)):
        if number in stops:
            detector = restarted(detector, policy, kept)
        if number in accepts:
            detector.accept(group[0].start_ns)
        found.append(detector.fork().update(group))
        assert detector.update(group) == found[-1]
    return found


@pytest.mark.parametrize("rule", RULES)
@settings(max_examples=40)
@given(
    series=st.lists(
        st.tuples(st.integers(1, 400), BINS, st.sampled_from("12"), st.sampled_from("mn")),
        min_size=1,
        max_size=25,
    ),
    stops=st.lists(st.integers(0, 30), max_size=8),
    accepts=st.lists(st.integers(0, 30), max_size=2),
)
def test_restarts_change_no_finding(
    rule: str,
    series: list[tuple[int, list[Bin], str, str]],
    stops: list[int],
    accepts: list[int],
) -> None:
    """Whatever the answers, the gaps between them, the versions and the times of the restarts."""
    policy = DriftPolicy(rule=rule, least_claims=5)  # type: ignore[arg-type]
    at, ticks = 0, []
    for gap, bins, version, model in series:
        at += gap
        ticks.append(tick(at, tuple(bins), version, model))

    assert findings(ticks, policy, stops, accepts) == findings(ticks, policy, (), accepts)


@settings(max_examples=6)
@given(seed=st.integers(0, 10**6), stops=st.sets(st.integers(0, 20 * DAY), max_size=12))
def test_alarms_are_the_same_with_restarts(seed: int, stops: set[int]) -> None:
    """A route with a rise on the sixteenth day, that lasts for two days."""
    random = seeded(seed)
    ticks = [
        tick(at, drawn(random, 3, 0.5 if 16 <= at / DAY < 18 else 0.1), str(at // (9 * DAY)))
        for at in range(0, 20 * DAY, 4)
    ]

    stopped = findings(ticks, DriftPolicy(), [stop // 4 for stop in stops])

    assert stopped == findings(ticks, DriftPolicy(), ())
    assert {one.state for one in stopped} >= {"cold", "page"}


def test_past_hours_are_read_when_a_new_baseline_needs_them() -> None:
    """A start reads none of them."""
    ticks = [tick(at, drawn(seeded(at), 20, 0.1)) for at in range(5 * DAY)]
    policy, kept = DriftPolicy(), Kept()
    detector = create_detector(policy, "v")
    groups = list(by_time(ticks))
    for group in groups[: 4 * DAY + 40]:
        detector.update(group)

    detector = restarted(detector, policy, kept)
    for group in groups[4 * DAY + 40 : -1]:
        detector.update(group)
    detector = restarted(detector, policy, kept)
    before = kept.reads
    detector.update([tick(5 * DAY, drawn(seeded(1), 20, 0.1))])

    assert (before, kept.reads) == (0, 1)


@pytest.mark.parametrize("lost", ["an hour", "an answer"])
def test_other_hours_than_those_that_were_kept_are_refused(lost: str) -> None:
    """The route is then read as a whole."""
    policy, kept = DriftPolicy(), Kept()
    detector = create_detector(policy, "v")
    for at in range(0, 3 * DAY, 3):
        detector.update([tick(at, drawn(seeded(at), 5, 0.1))])
    detector = restarted(detector, policy, kept)
    hour = min(kept.hours)
    if lost == "an hour":
        del kept.hours[hour]
    else:
        kept.hours[hour] = kept.hours[hour + 1].replace("20", "19")

    with pytest.raises(InputError, match="expected the hours that were kept"):
        detector.update([tick(4 * DAY, drawn(seeded(1), 5, 0.1))])


@pytest.mark.parametrize("plain", [None, [], {}, [[]], ["a"] * 8, [None] * 8])
def test_what_is_no_state_is_refused(plain: object) -> None:
    """Nothing is guessed from it."""
    for rule in RULES:
        with pytest.raises(InputError, match="expected a stored"):
            restore_detector(DriftPolicy(rule=rule), "v", plain, Kept().read)
