"""How the usual rate of a route differs by kind of question, hour of the day and day of the week.

A change of the mix of questions, or of the hour, is then no rise: each answer is compared with what
is usual for its kind at its time. All factors are pooled (`pooling.py`), so where kinds or hours do
not differ beyond chance, or little is known, they are 1.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from rt4chart_collector.detect.drift.hour_sums import Hours
from rt4chart_collector.detect.drift.policy import DAY_NS, HOUR_NS
from rt4chart_collector.detect.drift.pooling import (
    Estimate,
    Measurement,
    Pooled,
    pooled,
    spread,
    weighted_mean,
)
from rt4chart_collector.detect.drift.shares import Shares, total

DAY_HOURS, WEEK_DAYS = DAY_NS // HOUR_NS, 7
# Days of the week are compared where so many days repeat one: with three whole weeks.
LEAST_REPEATED_DAYS = 14
# The factor of what is like all others.
ONE = Estimate()
# No factor is further from 1: an estimate from a few answers must not hide a rise.
LARGEST_FACTOR = 5.0


@dataclass(frozen=True, slots=True)
class UsualPattern:
    """Factors of the usual share; a new one has none.

    `kinds` are those of kinds of questions, with errors, and `other_kind` that of all others.
    `level` is the factor of all times that makes the mean 1.
    """

    kinds: Mapping[str, Estimate] = field(default_factory=dict)
    other_kind: Estimate = ONE
    hours: Mapping[int, float] = field(default_factory=dict)
    weekdays: Mapping[int, float] = field(default_factory=dict)
    level: float = 1.0

    def kind(self, kind: str) -> Estimate:
        """The factor of answers to this kind of question."""
        return self.kinds.get(kind, self.other_kind)

    def time(self, hour: int) -> float:
        """The factor of an hour, counted since 1970 in UTC."""
        of_day = self.hours.get(hour % DAY_HOURS, 1.0)
        return self.level * of_day * self.weekdays.get(hour // DAY_HOURS % WEEK_DAYS, 1.0)


@dataclass(frozen=True, slots=True)
class FittedPattern:
    """A pattern, and the variance between days that remains, relative to the rate squared.

    `free` are the degrees of freedom of that variance.
    """

    pattern: UsualPattern
    between_days: float
    free: float


@dataclass(frozen=True, slots=True)
class _Cell:
    """Answers of one hour, all or of one kind, and their weight times the factors so far."""

    hour: int
    kind: str
    sums: Shares
    expected: float


Key = TypeVar("Key", int, str)


def fit_pattern(hours: Hours, *, level_since: int) -> FittedPattern:
    """The pattern of these hours, of which at least one is not before the hour `level_since`.

    Its mean is 1 over the answers of the hours from then on, and so is that of the kinds' factors.
    The days before that are compared with their own level: a rate that changed weeks ago is no
    difference between days.
    """
    plain = [_Cell(hour, "", sums.whole, sums.whole.weight) for hour, sums in hours.items()]
    noise = spread([list(_measured(plain, _day).values())]).variance
    by_kind = [
        _Cell(hour, kind, sums, sums.weight)
        for hour, found in hours.items()
        for kind, sums in found.kinds.items()
    ]
    kinds = pooled(_measured(by_kind, lambda cell: cell.kind, noise))
    pattern, cells = _of_kinds(kinds, hours, level_since)
    of_day = pooled(_measured(cells, lambda cell: cell.hour % DAY_HOURS, noise))
    pattern = replace(pattern, hours={name: _limited(one) for name, one in of_day.groups.items()})
    of_week = _pooled_weekdays(_measured(_at_their_times(cells, pattern), _day))
    pattern = replace(
        pattern, weekdays={name: _limited(one) for name, one in of_week.groups.items()}
    )
    return _fitted(_at_their_times(cells, pattern), pattern, level_since, of_week.parameters)


def _fitted(
    cells: Sequence[_Cell], pattern: UsualPattern, level_since: int, parameters: float
) -> FittedPattern:
    """The pattern with a mean of 1, and the variance between days that it leaves."""
    recent = [cell for cell in cells if cell.hour >= level_since]
    earlier = [cell for cell in cells if cell.hour < level_since]
    halves = [list(_measured(half, _day).values()) for half in (recent, earlier) if half]
    days = spread(halves, fitted=len(halves) + parameters)
    return FittedPattern(replace(pattern, level=_level(recent)), days.variance, days.free)


def _of_kinds(
    kinds: Pooled[str], hours: Hours, level_since: int
) -> tuple[UsualPattern, list[_Cell]]:
    """The factors of the kinds, with a mean of 1, and a cell for each hour by them."""
    factors = {kind: replace(one, value=_limited(one)) for kind, one in kinds.groups.items()}
    cells = _cells(hours, UsualPattern(factors, kinds.unknown))
    scale = _level([cell for cell in cells if cell.hour >= level_since])
    scaled = {kind: Estimate(one.value * scale, one.error * scale) for kind, one in factors.items()}
    pattern = UsualPattern(scaled, Estimate(1.0, kinds.unknown.error))
    return pattern, _cells(hours, pattern)


def _level(cells: Sequence[_Cell]) -> float:
    """The factor that makes what is expected of these answers their number."""
    return sum(cell.sums.weight for cell in cells) / sum(cell.expected for cell in cells)


def _cells(hours: Hours, pattern: UsualPattern) -> list[_Cell]:
    """A cell for each hour, by the factors of the kinds."""
    if not pattern.kinds:
        return [_Cell(hour, "", sums.whole, pattern.other_kind.value * sums.whole.weight)
                for hour, sums in hours.items()]  # fmt: skip
    values = {kind: one.value for kind, one in pattern.kinds.items()}
    other = pattern.other_kind.value
    return [
        _Cell(
            hour,
            "",
            sums.whole,
            sum(shares.weight * values.get(kind, other) for kind, shares in sums.kinds.items()),
        )
        for hour, sums in hours.items()
    ]


def _at_their_times(cells: Sequence[_Cell], pattern: UsualPattern) -> list[_Cell]:
    """The cells with the factors of their times, too."""
    return [
        _Cell(cell.hour, cell.kind, cell.sums, cell.expected * pattern.time(cell.hour))
        for cell in cells
    ]


def _day(cell: _Cell) -> int:
    return cell.hour // DAY_HOURS


def _measured(
    cells: Sequence[_Cell], key: Callable[[_Cell], Key], noise: float = 0.0
) -> dict[Key, Measurement]:
    """The share of each group of cells as a multiple of what is expected; of all it is 1.

    `noise` is the variance between days, by which a group errs that is known on few of them.
    """
    groups: defaultdict[Key, list[_Cell]] = defaultdict(list)
    for cell in cells:
        groups[key(cell)].append(cell)
    each = {
        name: (total(cell.sums for cell in group), sum(cell.expected for cell in group))
        for name, group in groups.items()
    }
    whole = total(sums for sums, _ in each.values())
    level = whole.likely_mean * whole.weight / sum(expected for _, expected in each.values())
    likely = whole.likely_variance
    found = {}
    for name, (sums, expected) in each.items():
        usual = level * expected / sums.weight
        variance = max(likely, sums.likely_variance) / sums.size / usual**2
        days = len({_day(cell) for cell in groups[name]}) if noise else 1
        found[name] = Measurement(sums.mean / usual, variance + noise / days)
    return found


def _pooled_weekdays(days: Mapping[int, Measurement]) -> Pooled[int]:
    """The factors of the days of the week; none before there are three weeks."""
    groups: defaultdict[int, list[Measurement]] = defaultdict(list)
    for day, one in days.items():
        groups[day % WEEK_DAYS].append(one)
    if len(days) - len(groups) < LEAST_REPEATED_DAYS:
        return Pooled()
    noise = spread(list(groups.values())).variance
    return pooled({weekday: weighted_mean(group, noise) for weekday, group in groups.items()})


def _limited(one: Estimate) -> float:
    return min(max(one.value, 1 / LARGEST_FACTOR), LARGEST_FACTOR)
