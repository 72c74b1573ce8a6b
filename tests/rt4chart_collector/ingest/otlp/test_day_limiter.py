"""The days on which spans may start: all of the retention, and a few others."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_rt4chart.spans.model.record import SpanRecord
from rt4chart_collector.core.instruments import SPANS_REFUSED
from rt4chart_collector.core.metrics import ServiceMetrics
from rt4chart_collector.ingest.otlp.day_limiter import (
    DAY_NS,
    DAY_S,
    FREE_PAST_DAYS,
    OTHER_DAYS,
    PAST_DAYS,
    PAST_DAYS_PER_S,
    DayLimiter,
)
from rt4chart_collector.ingest.otlp.refusal import Fault, RefusedError
from tests.rt4chart_collector.pipeline.line import spans_from

SPAN = spans_from(1)[0]
TODAY = 20_000  # days since 1970
KEPT = 30


def on(*days: int) -> tuple[SpanRecord, ...]:
    """A span on each of these days."""
    return tuple(replace(SPAN, start_ns=day * DAY_NS + 1) for day in days)


def limiter(metrics: ServiceMetrics, now_s: list[float] | None = None) -> DayLimiter:
    """A limiter at noon of that day."""
    clock = now_s or [TODAY * DAY_S + 43_200.0]
    return DayLimiter(metrics, KEPT, clock_s=lambda: clock[0])


def test_every_day_of_the_retention_is_taken() -> None:
    """Also one more on each side, for clocks in other zones; however many requests there are."""
    spans = on(*range(TODAY - KEPT - 1, TODAY + 2))
    metrics = ServiceMetrics()
    found = limiter(metrics)

    assert [found.admit(spans) for _ in range(3)] == [spans] * 3
    assert metrics.total(SPANS_REFUSED) == 0


def test_wrong_clocks_are_few_days() -> None:
    """Ten years behind, a century ahead: the spans are stored as they are."""
    spans = on(1, TODAY - 3_652, TODAY + 36_524)

    assert limiter(ServiceMetrics()).admit(spans) == spans


def test_thousands_of_days_are_refused_and_counted() -> None:
    """What is within the retention stays; the others take turns of an hour."""
    metrics, now = ServiceMetrics(), [TODAY * DAY_S + 43_200.0]
    found = limiter(metrics, now)
    odd = range(1, 4_001)

    kept = found.admit(on(TODAY, *odd))
    again = found.admit(on(TODAY, *odd))
    now[0] += 3_601
    later = found.admit(on(*range(5_000, 5_000 + OTHER_DAYS)))

    assert kept == again == on(TODAY, *range(1, OTHER_DAYS + 1))
    assert len(later) == OTHER_DAYS
    assert metrics.counts(SPANS_REFUSED)["too_many_days",] == 2 * (4_000 - OTHER_DAYS)


@given(st.lists(st.lists(st.integers(0, 50_000), max_size=100), max_size=20))
def test_no_order_of_requests_makes_more_days(requests: list[list[int]]) -> None:
    """Within an hour."""
    now = [TODAY * DAY_S + 43_200.0]
    found = limiter(ServiceMetrics(), now)
    days: set[int] = set()
    for request in requests:
        now[0] += 10
        days |= {span.start_ns // DAY_NS for span in found.admit(on(*request))}

    assert len(days - set(range(TODAY - KEPT - 1, TODAY + 2))) <= OTHER_DAYS


def test_many_past_days_at_once_are_sent_again_later() -> None:
    """Each is a part on the disk; what starts today is taken meanwhile."""
    metrics, now = ServiceMetrics(), [TODAY * DAY_S + 43_200.0]
    found = limiter(metrics, now)
    month, recent = on(*range(TODAY - KEPT, TODAY - 1)), on(TODAY - 1, TODAY, TODAY + 1)
    requests = PAST_DAYS // (len(month) - FREE_PAST_DAYS)
    for _ in range(requests):
        found.admit(month)

    with pytest.raises(RefusedError, match="at most 16 days before yesterday a second") as refused:
        found.admit(month)
    assert found.admit(recent) == recent
    assert [len(found.admit(month[:2])) for _ in range(100)] == [2] * 100
    assert refused.value.fault is Fault.BUSY
    assert refused.value.retry_s in (1, 2)
    assert metrics.counts(SPANS_REFUSED)["past_days",] == len(month)
    now[0] += refused.value.retry_s
    assert found.admit(month) == month


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(-5, 60)), max_size=60))
def test_past_days_are_bounded_over_time(requests: list[tuple[int, int]]) -> None:
    """Whatever the order, also where the clock is set back; who waits as told is taken."""
    start = TODAY * DAY_S + 43_200.0
    now = [start]
    found = limiter(ServiceMetrics(), now)
    taken, passed = 0, 0
    for number, seconds in requests:
        now[0] += seconds
        passed += max(0, seconds)
        days = range(TODAY - 2 - number % KEPT, TODAY - 2)
        try:
            taken += max(0, len(found.admit(on(*days))) - FREE_PAST_DAYS)
        except RefusedError as error:
            wait_s = error.retry_s or 0
            now[0] += wait_s
            passed += wait_s
            taken += max(0, len(found.admit(on(*days))) - FREE_PAST_DAYS)

        assert taken <= PAST_DAYS + passed * PAST_DAYS_PER_S
