"""The days on which spans may start: all of the retention, and a few others."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from otel_rt4chart.spans.model.record import SpanRecord
from rt4chart_collector.core.instruments import SPANS_REFUSED
from rt4chart_collector.core.metrics import ServiceMetrics
from rt4chart_collector.ingest.otlp.day_limiter import DAY_NS, DAY_S, OTHER_DAYS, DayLimiter
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
    found = limiter(ServiceMetrics())
    days: set[int] = set()
    for request in requests:
        days |= {span.start_ns // DAY_NS for span in found.admit(on(*request))}

    assert len(days - set(range(TODAY - KEPT - 1, TODAY + 2))) <= OTHER_DAYS
