"""What the detector makes of a mix of questions that changes, and of a day's cycle."""

from __future__ import annotations

import math
from functools import cache

from rt4chart_collector.detect.drift.detector import replay
from rt4chart_collector.detect.drift.policy import TICK_NS, DriftPolicy
from rt4chart_collector.store.rates.ticks import Bin, RouteTicks, Tick
from tests.rt4chart_collector.detect.drift.routes import DAY, START_NS, drawn, seeded, tick

CHANGE, END = 10 * DAY, 11 * DAY
RATES = {"how": 0.03, "why": 0.13}


@cache
def asked(why_after: int, worse: float = 0.0, kinds: bool = True) -> RouteTicks:
    """Ten days of twelve "how" and five "why" a tick; then another mix, or worse answers."""
    random = seeded(5)

    def bins(at: int) -> tuple[Bin, ...]:
        why = why_after if at >= CHANGE else 5
        more = worse if at >= CHANGE else 0.0
        return tuple(
            Bin(one.decided, one.counted, one.answers, 1.0, kind if kinds else "")
            for kind, answers in (("how", 17 - why), ("why", why))
            for one in drawn(random, answers, RATES[kind] + more)
        )

    return RouteTicks("shop", "support", "v", tuple(tick(at, bins(at)) for at in range(END)))


def paged(ticks: RouteTicks, since: int = CHANGE) -> int:
    """The number of ticks that page from then on."""
    found = replay(ticks, DriftPolicy(), since_ns=START_NS + since * TICK_NS)
    return sum(one.state == "page" for one in found)


def test_another_mix_of_questions_is_no_rise() -> None:
    """Twice as many of the kind with the high rate: four points more, and no alert."""
    assert paged(asked(12)) == 0


def test_where_kinds_are_not_known_another_mix_looks_like_a_rise() -> None:
    """The same answers."""
    assert paged(asked(12, kinds=False)) > 0


def test_worse_answers_are_found_whatever_the_mix() -> None:
    """With the mix as it was, with more of the difficult kind, and with fewer."""
    for why in (5, 12, 1):
        assert paged(asked(why, worse=0.05)) > DAY / 2


def test_a_kind_that_was_never_asked_is_found_where_its_rate_is_beyond_all_others() -> None:
    """But not where it could be like one of those that are known."""

    def unseen(rate: float) -> RouteTicks:
        random, calm = seeded(6), asked(5).ticks[:CHANGE]
        new = [
            Tick(
                START_NS + at * TICK_NS,
                "m",
                "1",
                "",
                tuple(Bin(b.decided, b.counted, b.answers, 1.0, "new") for b in made),
            )
            for at in range(CHANGE, END)
            for made in (drawn(random, 17, rate),)
        ]
        return RouteTicks("shop", "support", "v", (*calm, *new))

    assert paged(unseen(0.06)) == 0
    assert paged(unseen(0.45)) > DAY / 2


def test_a_cycle_of_the_day_is_no_rise() -> None:
    """Rates that are a third higher in the afternoon page on no day; a rise is still found."""
    random = seeded(8)

    def rate(at: int) -> float:
        return 0.06 * (1 + 0.35 * math.sin(2 * math.pi * at / DAY))

    calm = [tick(at, drawn(random, 17, rate(at))) for at in range(END)]
    risen = [tick(at, drawn(random, 17, rate(at) + 0.06)) for at in range(CHANGE, END)]

    assert paged(RouteTicks("s", "r", "v", tuple(calm)), since=3 * DAY) == 0
    assert paged(RouteTicks("s", "r", "v", (*calm[:CHANGE], *risen))) > DAY / 2
