"""The help desk's traffic: two weeks of normal answers, then a bad release on one route."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from rt4chart_collector.demo.helpdesk import Outcome, Role, WrittenAnswer

DAY_S, HOUR_S = 86_400.0, 3600.0
PLANTED = "support/refunds"
GOOD_RELEASE, BAD_RELEASE = "2.3.0", "2.4.0"
# More than the 2,000 claims that a baseline needs.
CALM_ANSWERS, CALM_DAYS, CALM_WRONG = 1_650, 12.5, 0.025
BAD_ANSWERS, BAD_HOURS, BAD_WRONG = 100, 6.0, 0.45
OTHER_ANSWERS, OTHER_WRONG = 240, 0.02


@dataclass(frozen=True, slots=True)
class PlannedAnswer:
    """A written answer with the time and the release of the application that gives it."""

    answer_id: str
    at_s: float
    release: str


def plan_traffic(
    answers: Mapping[str, WrittenAnswer], outcomes: Mapping[str, Outcome], *, now_s: float
) -> list[PlannedAnswer]:
    """The answers by time, drawn from the written ones, so that they repeat.

    Those on which the judge is wrong are left out: its errors would repeat with them, and look like
    errors of the application. `rt4chart demo` counts them instead.
    """
    chance = random.Random(11)  # noqa: S311 - a plan, no secret
    released, start = now_s - BAD_HOURS * HOUR_S, now_s - BAD_HOURS * HOUR_S - CALM_DAYS * DAY_S
    placed: list[tuple[str, float]] = []
    for route in sorted({one.route for one in answers.values()}):
        pool = _Pool([one for one in answers.values() if one.route == route], outcomes)
        if route == PLANTED:
            times = _times(chance, CALM_ANSWERS, start, released)
            placed += zip(pool.drawn(chance, CALM_WRONG, CALM_ANSWERS), times, strict=True)
            late = [released + (at + 0.5) / BAD_ANSWERS * BAD_HOURS * HOUR_S
                    for at in range(BAD_ANSWERS)]  # fmt: skip
            incident = pool.drawn(chance, BAD_WRONG, BAD_ANSWERS, wrong=pool.incident)
            placed += zip(incident, late, strict=True)
        else:
            times = _times(chance, OTHER_ANSWERS, start, now_s)
            placed += zip(pool.drawn(chance, OTHER_WRONG, OTHER_ANSWERS), times, strict=True)
    placed.sort(key=lambda answer: (answer[1], answer[0]))
    return [
        PlannedAnswer(name, at, GOOD_RELEASE if at < released else BAD_RELEASE)
        for name, at in placed
    ]


class _Pool:
    """The answers of one route, by how they are drawn."""

    def __init__(self, answers: Sequence[WrittenAnswer], outcomes: Mapping[str, Outcome]) -> None:
        right = [one for one in answers if not outcomes[one.id].is_wrong]
        self.good, self.wrong, self.incident = (
            [one.id for one in right if one.role is role]
            for role in (Role.FAITHFUL, Role.ERROR, Role.INCIDENT)
        )

    def drawn(
        self, chance: random.Random, share: float, count: int, wrong: Sequence[str] = ()
    ) -> Iterator[str]:
        """Answers with this share of wrong ones, evenly spread: by chance, other rises formed."""
        for at in range(count):
            is_wrong = math.floor((at + 1) * share) > math.floor(at * share)
            yield chance.choice((wrong or self.wrong) if is_wrong else self.good)


def _times(chance: random.Random, count: int, since: float, until: float) -> list[float]:
    """Random times in order, twice as frequent by day as at night, as real traffic is."""
    found: list[float] = []
    while len(found) < count:
        at = chance.uniform(since, until)
        if chance.random() < (3 + math.sin(2 * math.pi * at / DAY_S)) / 4:
            found.append(at)
    return sorted(found)
