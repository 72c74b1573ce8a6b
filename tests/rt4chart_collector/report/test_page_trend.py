"""The picture of a rate over time."""

from __future__ import annotations

import re
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from otel_rt4chart.verify.core.rates import AnswerSums
from rt4chart_collector.report.page import HEIGHT, WIDTH, trend_chart
from rt4chart_collector.store.rates.claim_rates import RatePoint, RateSlice, WeightedCounts

STEP_S = 3600
STEP = STEP_S * 10**9
NUMBERS = re.compile(r'(?:points|cx|cy|x1|y1|x2|y2)="([^"]*)"')


def point(at: int, unfaithful: int, decided: int = 40) -> RatePoint:
    """A step in which each claim is an answer of its own."""
    sums = AnswerSums(
        decided, decided, decided, unfaithful, decided, unfaithful, unfaithful, decided
    )
    faithful = decided - unfaithful
    counts = WeightedCounts(0, unfaithful, 0, 0)
    one = RateSlice(
        service="s",
        route="r",
        key="",
        answers=decided,
        unverified=0,
        entailed=faithful,
        contradicted=0,
        baseless=unfaithful,
        undecided=0,
        sums=sums,
        unfaithful_answers=unfaithful,
        answer_sums=sums,
        weighted=counts,
        misleading=0,
        misleading_sums=replace(sums, wx=0, wwxx=0, wwxm=0),
        either_sums=sums,
        statuses={},
        citing_answers=0,
        miscited_answers=0,
    )
    return RatePoint(at * STEP, one)


def drawn(points: list[RatePoint]) -> str:
    """The picture of ten steps."""
    return str(trend_chart(points, since_ns=0, until_ns=10 * STEP, step_s=STEP_S))


@given(st.dictionaries(st.integers(0, 9), st.integers(0, 40), min_size=2))
def test_everything_lies_inside_the_picture(shares: dict[int, int]) -> None:
    """Whatever the rates are and whichever steps are there."""
    picture = drawn([point(at, share) for at, share in sorted(shares.items())])

    numbers = [float(n) for text in NUMBERS.findall(picture) for n in re.split("[ ,]", text)]
    assert len(numbers) >= 2 * len(shares)
    assert [n for n in numbers if not 0 <= n <= max(WIDTH, HEIGHT)] == []


def test_steps_without_answers_are_gaps() -> None:
    """Two runs are two lines; a step that stands alone is a dot with its interval."""
    picture = drawn([point(0, 2), point(1, 3), point(4, 5), point(6, 1), point(7, 1)])

    assert picture.count("<polyline") == picture.count("<polygon") == 2
    assert picture.count("<circle") == picture.count("whisker") == 1


def test_a_picture_is_told_in_words() -> None:
    """For those who do not see it."""
    picture = drawn([point(0, 4), point(1, 8), point(2, 2)])

    assert "10.0% at the start, 5.0% at the end, between 5.0% and 20.0%" in picture


def test_one_step_is_no_trend() -> None:
    """Nor are steps without a decided claim."""
    assert drawn([]) == drawn([point(3, 1)]) == drawn([point(3, 1), point(4, 0, 0)]) == ""
