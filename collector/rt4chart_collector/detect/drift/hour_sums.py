"""What is kept of a route's hour: the sums of its answers, and of each kind of question."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import groupby

from otel_rt4chart.verify.core.rates import AnswerSums
from rt4chart_collector.detect.drift.shares import Shares, shares_of, total
from rt4chart_collector.store.rates.ticks import Bin, answer_sums


@dataclass(frozen=True, slots=True)
class HourSums:
    """The sums over the answers of an hour that have decided claims and a sample rate.

    `whole` are the shares of all answers, `kinds` those of each kind of question.
    """

    claims: AnswerSums
    whole: Shares
    kinds: Mapping[str, Shares]

    def plus(self, other: HourSums) -> HourSums:
        """The sums over both."""
        kinds = dict(self.kinds)
        for kind, shares in other.kinds.items():
            kinds[kind] = kinds[kind].plus(shares) if kind in kinds else shares
        return HourSums(
            total_sums((self.claims, other.claims)), self.whole.plus(other.whole), kinds
        )


Hours = Mapping[int, HourSums]


@dataclass(frozen=True, slots=True)
class HoursCheck:
    """What tells whether stored hours are those that were kept: their number and their answers.

    They are those from the hour `first` on and before the hour `end`.
    """

    first: int
    end: int
    hours: int
    answers: int


def hour_sums(bins: Iterable[Bin]) -> HourSums:
    """The sums over the answers in these bins; they do not depend on the order of the bins."""
    counted = sorted(
        (b for b in bins if b.decided > 0 and b.answers > 0 and b.sample_rate > 0), key=_order
    )
    kinds = {kind: shares_of(list(group)) for kind, group in groupby(counted, key=lambda b: b.kind)}
    return HourSums(answer_sums(counted), total(kinds.values()), kinds)


def total_sums(sums: Iterable[AnswerSums]) -> AnswerSums:
    """The sums over all of these answers."""
    rows = [(o.answers, o.claims, o.wm, o.wx, o.wwm, o.wwxx, o.wwxm, o.wwmm) for o in sums]
    return AnswerSums(*map(sum, zip(*rows, strict=True))) if rows else answer_sums(())


def _order(bin_: Bin) -> tuple[str, int, int, float, int]:
    return bin_.kind, bin_.decided, bin_.counted, bin_.sample_rate, bin_.answers
