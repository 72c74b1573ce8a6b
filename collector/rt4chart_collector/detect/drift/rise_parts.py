"""How much of a rise is another mix of questions or another time, and how much is quality. Pure."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from rt4chart_collector.core.alerts.facts import AttributeValue, PointsRange, RiseParts
from rt4chart_collector.detect.drift.baseline import LEAST_DEAD_BAND, Baseline
from rt4chart_collector.detect.drift.policy import HOUR_NS
from rt4chart_collector.detect.drift.shares import Shares, shares_of, total
from rt4chart_collector.store.rates.ticks import Tick, bins_by_kind

Z_95 = 1.96
MAX_KINDS = 3


@dataclass(frozen=True, slots=True)
class _Group:
    """Answers to one kind of question in one tick, and their usual share by kind and by time."""

    kind: str
    sums: Shares
    of_time: float
    usual: float


def rise_parts(baseline: Baseline, ticks: Sequence[Tick]) -> RiseParts | None:
    """The parts of the difference between these answers' mean share and the usual one.

    None unless the 95% interval of the part of the mix excludes zero, and that part is half a point
    or more. Its interval contains the errors of the kinds' usual rates and of the mix that came,
    that of quality also those of the rates before and after.
    """
    groups = list(_groups(baseline, ticks))
    whole = total(group.sums for group in groups)
    if not whole.weight:
        return None
    of_time = sum(group.sums.weight * group.of_time for group in groups) / whole.weight
    usual = sum(group.sums.weight * group.usual for group in groups) / whole.weight
    now = _mix_of(groups)
    known = sum(
        (baseline.share * baseline.pattern.kind(kind).error * (now.get(kind, 0.0) - before)) ** 2
        for kind, before in ({**dict.fromkeys(now, 0.0), **baseline.mix}).items()
    )
    drawn = sum(group.sums.weight * (group.usual - usual) ** 2 for group in groups) / whole.weight
    mix_error = math.sqrt(known + drawn / whole.size)
    mix = _range(usual - of_time, mix_error)
    if mix.low * mix.high <= 0 or abs(mix.points) < LEAST_DEAD_BAND:
        return None
    quality = _range(whole.mean - usual, math.hypot(mix_error, whole.error, baseline.error))
    return RiseParts(
        points=whole.mean - baseline.share,
        mix=mix,
        quality=quality,
        time=of_time - baseline.share,
        kinds=_changed_kinds(baseline.mix, now),
    )


def _groups(baseline: Baseline, ticks: Iterable[Tick]) -> Iterable[_Group]:
    for tick in ticks:
        of_time = baseline.share * baseline.pattern.time(tick.start_ns // HOUR_NS)
        for kind, bins in bins_by_kind(tick.bins).items():
            usual = baseline.usual(kind, tick.start_ns)
            yield _Group(kind, shares_of(bins), of_time, usual)


def _mix_of(groups: Iterable[_Group]) -> dict[str, float]:
    weights: defaultdict[str, float] = defaultdict(float)
    for group in groups:
        weights[group.kind] += group.sums.weight
    whole = sum(weights.values())
    return {kind: weight / whole for kind, weight in weights.items()}


def _range(points: float, error: float) -> PointsRange:
    return PointsRange(points, points - Z_95 * error, points + Z_95 * error)


def _changed_kinds(
    before: Mapping[str, float], now: Mapping[str, float]
) -> tuple[AttributeValue, ...]:
    """The kinds of question whose share of the answers changed the most."""
    changed = [
        AttributeValue("kind of question", kind, before.get(kind, 0.0), now.get(kind, 0.0))
        for kind in {*before, *now}
    ]
    changed.sort(key=lambda value: (-abs(value.change), value.value))
    return tuple(changed[:MAX_KINDS])
