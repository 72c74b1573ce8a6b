"""What to go back to: the value that was replaced when a rise began, and how it did. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from otel_rt4chart.verify.core.rates import Measure, Rate, claim_rate
from otel_rt4chart.verify.rates.difference import rate_difference
from rt4chart_collector.core.alerts.facts import MeasuredRate
from rt4chart_collector.incident.changes import ChangeTime, DatedChange
from rt4chart_collector.store.rates.claim_rates import RateSlice
from rt4chart_collector.store.rates.ticks import Tick, answer_sums
from rt4chart_collector.store.rates.trends import AttributeTraffic

# What a team can put back, in the order in which it is proposed.
REVERTIBLE = ("release", "prompt_version", "model")


@dataclass(frozen=True, slots=True)
class RollBack:
    """The value `to` of an attribute that was replaced by `of`.

    `last_ns` is the last tick with it, `before` its rate in the week before the rise, `since` its
    own rate since then, both without claims where there are none. `is_better` if its rate before is
    lower than the risen one, beyond what chance explains.
    """

    attribute: str
    of: str
    to: str
    last_ns: int
    before: MeasuredRate
    since: MeasuredRate
    is_better: bool


def roll_back_change(changes: Sequence[DatedChange]) -> DatedChange | None:
    """The change to undo: the nearest that replaced a value and did not come after the rise."""
    return next(
        (
            one
            for one in changes
            if one.change.replaced
            and one.change.new.attribute in REVERTIBLE
            and one.time is not ChangeTime.AFTER
        ),
        None,
    )


def roll_back(
    change: DatedChange,
    *,
    traffic: Sequence[AttributeTraffic],
    before: Sequence[RateSlice],
    risen: Sequence[Tick],
    measure: Measure,
) -> RollBack:
    """What is known of the replaced value.

    `before` are the rates of the attribute's values before the rise, `risen` the ticks since then.
    """
    new, to = change.change.new, change.change.replaced
    usual, known = Rate(None, None, None), MeasuredRate()
    for one in before:
        if one.key == to:
            usual, sums = one.rate_of(measure), one.sums_of(measure)
            known = measured(usual, sums.claims, sums.answers)
    own = rate_of_ticks([tick for tick in risen if getattr(tick, new.attribute) == to])
    whole = answer_sums(bin_ for tick in risen for bin_ in tick.bins)
    lasts = [row.last_ns for row in traffic if (row.attribute, row.value) == (new.attribute, to)]
    return RollBack(
        attribute=new.attribute,
        of=new.value,
        to=to,
        last_ns=max(lasts, default=0),
        before=known,
        since=own,
        is_better=rate_difference(usual, claim_rate(whole)).is_rise,
    )


def measured(rate: Rate, claims: int, answers: int) -> MeasuredRate:
    """A rate with its numbers."""
    return MeasuredRate(
        rate=rate.value, low=rate.low, high=rate.high, claims=claims, answers=answers
    )


def rate_of_ticks(ticks: Sequence[Tick]) -> MeasuredRate:
    """The rate of all answers of these ticks."""
    sums = answer_sums(bin_ for tick in ticks for bin_ in tick.bins)
    return measured(claim_rate(sums), sums.claims, sums.answers)
