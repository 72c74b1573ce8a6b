"""Bounds the number of days on which spans start: each day of an insert is a part on the disk."""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable, Sequence
from threading import Lock

from otel_rt4chart.spans.model.record import SpanRecord
from rt4chart_collector.core.instruments import SPANS_REFUSED
from rt4chart_collector.core.logs import LogThrottle
from rt4chart_collector.core.metrics import ServiceMetrics
from rt4chart_collector.ingest.otlp.refusal import busy

# Measured: a part of a day takes about 9 ms of a processor, and merges as much again.
OTHER_DAYS, HOUR_S = 64, 3600.0
MOST_DAYS = 400
# Days before yesterday, of all requests: room for a span on each day of a year, and then at most a
# third of a processor. Spans that are sent again in the order of time have few in each request.
FREE_PAST_DAYS, PAST_DAYS, PAST_DAYS_PER_S = 2, 512, 16
DAY_NS, DAY_S = 24 * 3600 * 10**9, 24 * 3600
REASON = (
    f"expected spans that start within the retention, or on at most {OTHER_DAYS} other days an "
    "hour; look at the clock of the sender"
)
PAST_REASON = (
    f"expected spans of at most {PAST_DAYS_PER_S} days before yesterday a second beside "
    f"{FREE_PAST_DAYS} in each request, got those of more days in this request and others"
)

log = logging.getLogger(__name__)


class DayLimiter:
    """Takes spans of all days within the retention, and of a few others; any thread may call it.

    A wrong clock, or a few, make few days; a span on each of 40,000 days in a request of 400 kB
    would keep all other inserts waiting for minutes.
    """

    def __init__(
        self,
        metrics: ServiceMetrics,
        days: int = MOST_DAYS,
        *,
        clock_s: Callable[[], float] = time.time,
    ) -> None:
        """`days` is how long spans are kept; `clock_s` returns seconds since 1970."""
        self._metrics = metrics
        self._days = min(days, MOST_DAYS)
        self._clock_s = clock_s
        self._lock = Lock()
        self._others: dict[int, float] = {}
        self._past_days, self._past_at_s = float(PAST_DAYS), 0.0
        self._throttle = LogThrottle()

    def admit(self, spans: Sequence[SpanRecord]) -> tuple[SpanRecord, ...]:
        """The spans without those on too many other days, which are counted and logged.

        RefusedError, to send them again later, where other requests have just had spans on many
        days before yesterday.
        """
        now_s = self._clock_s()
        today = int(now_s // DAY_S)
        # A day before and one after, for the clocks of others and their zones.
        usual = range(today - self._days - 1, today + 2)
        days = {span.start_ns // DAY_NS for span in spans}
        refused = self._refused(sorted(days.difference(usual)), now_s)
        past = len(days.difference(refused, range(today - 1, today + 2)))
        self._spend(max(0, past - FREE_PAST_DAYS), len(spans), now_s)
        if not refused:
            return tuple(spans)
        kept = tuple(span for span in spans if span.start_ns // DAY_NS not in refused)
        self._report(len(spans) - len(kept), now_s)
        return kept

    def _refused(self, days: Sequence[int], now_s: float) -> set[int]:
        """Those of these days for which there is no room; the others count for an hour."""
        with self._lock:
            for day, seen_s in list(self._others.items()):
                if now_s - seen_s >= HOUR_S:
                    del self._others[day]
            refused = set()
            for day in days:
                if day not in self._others and len(self._others) >= OTHER_DAYS:
                    refused.add(day)
                else:
                    self._others[day] = now_s
            return refused

    def _spend(self, past: int, spans: int, now_s: float) -> None:
        """Make place for the parts of so many days; RefusedError while there is none."""
        with self._lock:
            # A clock that is set back refills nothing.
            refilled = max(0.0, now_s - self._past_at_s) * PAST_DAYS_PER_S
            left = min(float(PAST_DAYS), self._past_days + refilled)
            missing = past - left
            self._past_days, self._past_at_s = left - past * (missing <= 0), now_s
        if missing > 0:
            self._metrics.add(SPANS_REFUSED, "past_days", number=spans)
            raise busy(PAST_REASON, math.ceil(missing / PAST_DAYS_PER_S))

    def _report(self, number: int, now_s: float) -> None:
        self._metrics.add(SPANS_REFUSED, "too_many_days", number=number)
        if self._throttle.is_due(now_s):
            log.warning("%d spans were not taken: %s", number, REASON)
