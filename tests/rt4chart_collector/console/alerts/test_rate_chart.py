"""Where the chart of an incident draws what."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from otel_rt4chart.verify.core.rates import Rate
from rt4chart_collector.console.alerts.rate_chart import (
    CHARACTER,
    NARROW,
    RateChart,
    rate_chart,
)
from rt4chart_collector.core.alerts.facts import (
    AttributeChange,
    AttributeValue,
    DriftFacts,
    MeasuredRate,
)
from rt4chart_collector.incident.changes import ChangeTime, DatedChange, FirstSeen
from rt4chart_collector.incident.onset_range import OnsetRange
from rt4chart_collector.incident.read_incident import RouteIncident
from rt4chart_collector.incident.span import IncidentSpan, RateStep
from rt4chart_collector.store.answers.passage_use import PassageUse
from tests.rt4chart_collector.incident.rises import HOUR, MINUTE

BEGIN = 4_000_000_200 * 10**9
SPAN = IncidentSpan(BEGIN, BEGIN + 24 * HOUR)


def step(hour: int, rate: float, claims: int = 20) -> RateStep:
    """An hour."""
    begin = BEGIN + hour * HOUR
    return RateStep(begin, begin + HOUR, Rate(rate, rate / 2, min(rate + 0.2, 1)), claims, claims)


INCIDENT = RouteIncident(
    facts=DriftFacts(
        before=MeasuredRate(rate=0.02, low=0.01, high=0.03, claims=9000, answers=9000),
        after=MeasuredRate(rate=0.3, low=0.2, high=0.4, claims=200, answers=200),
    ),
    since_ns=BEGIN + 12 * HOUR,
    end_ns=0,
    span=SPAN,
    anchor_ns=BEGIN + 12 * HOUR,
    steps=tuple(step(hour, 0.3 if hour >= 12 else 0.02) for hour in range(24)),
    began=OnsetRange(BEGIN + 11 * HOUR, BEGIN + 12 * HOUR),
    changes=(),
    steady=(),
    uncompared=(),
    seen=(),
    passages=PassageUse(0, 0, 0, 0, 0),
    roll_back=None,
    evidence=None,
)


def with_releases(minutes: list[int], *, near: int = 0) -> RouteIncident:
    """The incident with releases at these minutes; one of them came when the rise began."""
    seen = tuple(
        FirstSeen(BEGIN + minute * MINUTE, "release", f"2026.11.23-build.{number}")
        for number, minute in enumerate(sorted(minutes))
    )
    one = seen[near % len(seen)]
    change = AttributeChange(AttributeValue("release", one.value), "0")
    dated = DatedChange(change, one.at_ns, ChangeTime.WITH)
    return replace(INCIDENT, seen=seen, changes=(dated,))


def boxes(chart: RateChart) -> list[tuple[float, float, float, float]]:
    """Where the labels above the plot are on the narrowest screen: left, right, top, bottom."""
    found = []
    for sign in chart.signs:
        x, half = sign.x / 100 * NARROW, (12 + 7 * len(sign.text)) / 2
        found.append((x - half, x + half, sign.y - 8, sign.y + 8))
    for text in filter(None, (chart.label, chart.fired, chart.ended)):
        x, width = text.x / 100 * NARROW, len(text.text) * CHARACTER
        left = x if text.anchor == "start" else x - width
        found.append((left, left + width, text.y - 11, text.y + 3))
    return found


@given(
    st.lists(st.integers(0, 24 * 60 - 1), min_size=1, max_size=60),
    st.integers(0, 24 * 60),
    st.integers(0, 24 * 60),
    st.integers(0, 59),
)
def test_no_label_overlaps_another_one_or_leaves_a_phone(
    minutes: list[int], fired: int, lasted: int, near: int
) -> None:
    """However many releases a day has, and wherever the alert fired and ended."""
    end_ns = BEGIN + min(fired + lasted, 24 * 60) * MINUTE
    incident = replace(with_releases(minutes, near=near), end_ns=end_ns)
    chart = rate_chart(incident, fired_ns=BEGIN + fired * MINUTE)

    found = boxes(chart)
    for one, other in combinations(found, 2):
        is_beside = one[1] <= other[0] or other[1] <= one[0]
        is_above = one[3] <= other[2] or other[3] <= one[2]
        assert is_beside or is_above, (one, other)
    assert all(left >= -12 and right <= NARROW + 12 for left, right, _, _ in found)
    assert max(bottom for _, _, _, bottom in found) <= chart.top


@given(st.lists(st.integers(0, 24 * 60 - 1), min_size=1, max_size=60))
def test_every_release_has_its_line_at_its_time_and_its_number(minutes: list[int]) -> None:
    """Those whose numbers would overlap have one sign with both ends."""
    chart = rate_chart(with_releases(minutes), fired_ns=BEGIN)

    places = [round(minute / (24 * 60) * 100, 2) for minute in sorted(minutes)]
    assert [mark.x for mark in chart.marks] == places
    numbered = set()
    for sign in chart.signs:
        first, _, last = sign.text.partition("–")
        numbered |= set(range(int(first), int(last or first) + 1))
    assert numbered == set(range(1, len(minutes) + 1))


def test_the_rise_is_drawn_at_its_time() -> None:
    """The line goes up between two steps, where the later one begins, and is level in both."""
    chart = rate_chart(INCIDENT, fired_ns=BEGIN + 14 * HOUR)
    before, after = chart.steps[11:13]

    assert after.x == chart.since == 50.0
    assert after.rise == before.y
    assert before.y > after.y
    assert before.x + before.width <= after.x + 0.01


def test_a_gap_is_no_rise() -> None:
    """Where hours without claims are between two steps, no line joins them."""
    steps = (step(1, 0.02), step(5, 0.3))
    chart = rate_chart(replace(INCIDENT, steps=steps), fired_ns=BEGIN)

    assert [one.rise for one in chart.steps] == [None, None]


def test_wide_intervals_do_not_shrink_the_rates() -> None:
    """The scale is that of the rates and of the alert's intervals; what is higher is cut."""
    wide = tuple(replace(one, rate=Rate(one.rate.value, 0.0, 0.95)) for one in INCIDENT.steps)
    chart = rate_chart(replace(INCIDENT, steps=wide), fired_ns=BEGIN)

    highest = min(one.y for one in chart.steps)
    assert highest < chart.top + 0.45 * (chart.bottom - chart.top)
    assert all(chart.top <= one.high <= one.y <= one.low <= chart.bottom for one in chart.steps)


def test_numbers_of_claims_stand_where_they_fit() -> None:
    """Each bar has its height all the same."""
    few = rate_chart(replace(INCIDENT, steps=INCIDENT.steps[:3]), fired_ns=BEGIN)
    many = replace(INCIDENT, steps=tuple(step(hour, 0.1, 12_345) for hour in range(24)))

    assert [one.number for one in few.steps] == [""] * 3
    six = IncidentSpan(BEGIN, BEGIN + 6 * HOUR)
    short = replace(INCIDENT, span=six, steps=INCIDENT.steps[:6])
    assert [one.number for one in rate_chart(short, fired_ns=BEGIN).steps] == ["20"] * 6
    assert {one.number for one in rate_chart(many, fired_ns=BEGIN).steps} == {""}
    assert all(one.bar > 0 for one in few.steps)


def test_without_a_usual_rate_no_band_is_drawn() -> None:
    """Nor does anything else break where the alert has no figures."""
    chart = rate_chart(replace(INCIDENT, facts=DriftFacts(), steps=()), fired_ns=0)

    assert chart.usual is None
    assert chart.steps == ()
    assert chart.most_claims == 0
