"""What to go back to: the value that was replaced when a rise began, and how it did. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from otel_rt4chart.verify.core.rates import AnswerSums, claim_rate
from otel_rt4chart.verify.rates.difference import rate_difference
from rt4chart_collector.core.alerts.facts import MeasuredRate
from rt4chart_collector.incident.changes import ChangeTime, DatedChange
from rt4chart_collector.store.rates.ticks import ATTRIBUTE_COLUMNS, Bin, Tick, answer_sums
from rt4chart_collector.store.rates.trends import AttributeTraffic

# The rise of a value's share of the answers that makes it the usual one.
MOST_ANSWERS = 0.5


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
    """The change to undo: the nearest that replaced a value when the rise began.

    What a team can put back is a release, a prompt version or a model.
    """
    return next(
        (
            one
            for one in changes
            if one.change.replaced
            and one.change.new.attribute in ATTRIBUTE_COLUMNS
            and _came_then(one)
        ),
        None,
    )


def _came_then(one: DatedChange) -> bool:
    """True for a new value, and for one that some answers had before and most have since."""
    if one.time in (ChangeTime.WITH, ChangeTime.AFTER):
        return one.time is ChangeTime.WITH
    return one.change.new.change >= MOST_ANSWERS


def roll_back(
    change: DatedChange,
    *,
    traffic: Sequence[AttributeTraffic],
    before: Iterable[Bin],
    risen: Sequence[Tick],
) -> RollBack:
    """What is known of the replaced value.

    `before` are its answers in the week before the rise, `risen` the ticks since then.
    """
    new, to = change.change.new, change.change.replaced
    usual = answer_sums(before)
    own = [tick for tick in risen if getattr(tick, new.attribute) == to]
    since, whole = (answer_sums(bin_ for tick in one for bin_ in tick.bins) for one in (own, risen))
    lasts = [row.last_ns for row in traffic if (row.attribute, row.value) == (new.attribute, to)]
    return RollBack(
        attribute=new.attribute,
        of=new.value,
        to=to,
        last_ns=max(lasts, default=0),
        before=_measured(usual),
        since=_measured(since),
        is_better=rate_difference(claim_rate(usual), claim_rate(whole)).is_rise,
    )


def _measured(sums: AnswerSums) -> MeasuredRate:
    rate = claim_rate(sums)
    return MeasuredRate(
        rate=rate.value, low=rate.low, high=rate.high, claims=sums.claims, answers=sums.answers
    )
