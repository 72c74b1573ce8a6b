"""Keeps the values of spans small enough to be stored, and counts and logs what is shortened.

The database reads and merges whole values: its memory grows with the largest, not with their
number. A limit on the size of a request does not help, because a large text packs into few bytes.
"""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace

from otel_rt4chart.spans.model.record import Attributes, SpanRecord
from rt4chart_collector.core.instruments import SHORTENED
from rt4chart_collector.core.logs import LogThrottle
from rt4chart_collector.core.metrics import ServiceMetrics
from rt4chart_collector.ingest.otlp.limit_span import (
    DROPPED,
    has_long_key,
    has_long_name,
    is_large,
    limit_resource,
    limit_span,
    most_bytes,
)

# 500,000 characters of passages, the most that are verified, take 3 MB where JSON escapes them.
VALUE_BYTES = 4 * 2**20
# A byte of a body becomes at most so many: as U+FFFD, in base64, or escaped in nested JSON.
GROWTH = 8

log = logging.getLogger(__name__)


class SpanLimiter:
    """Shortens what is too large in the spans of a request; any thread may call it.

    The result depends on each span alone: one that is sent again has the same content.
    """

    def __init__(
        self,
        metrics: ServiceMetrics,
        value_bytes: int = VALUE_BYTES,
        *,
        clock_s: Callable[[], float] = time.monotonic,
    ) -> None:
        """`value_bytes` limits a value, and four times as much a span."""
        self._metrics = metrics
        self._value_bytes = value_bytes
        self._clock_s = clock_s
        self._throttle = LogThrottle()

    def limit(self, spans: Sequence[SpanRecord], body_bytes: int) -> tuple[SpanRecord, ...]:
        """The spans, which were decoded from a body of this size, within the limits."""
        counts: Counter[str] = Counter()
        # Most requests are so small that no value in them can be too large.
        has_values = body_bytes * GROWTH > self._value_bytes
        shared = {id(span.resource): span.resource for span in spans}
        resources = {
            key: self._limit_resource(resource, counts)
            for key, resource in shared.items()
            if has_long_key(resource) or (has_values and most_bytes(resource) > self._value_bytes)
        }
        limited = []
        for span in spans:
            if has_long_name(span) or (has_values and is_large(span, self._value_bytes)):
                kept, lost = limit_span(span, self._value_bytes)
                counts += lost
            else:
                kept = span
            if (found := resources.get(id(span.resource))) is not None:
                kept = _with_resource(kept, *found)
            limited.append(kept)
        if counts:
            self._report(counts)
        return tuple(limited)

    def _limit_resource(
        self, resource: Attributes, counts: Counter[str]
    ) -> tuple[Attributes, Counter[str]]:
        limited, lost = limit_resource(resource, self._value_bytes)
        counts += lost
        return limited, lost

    def _report(self, counts: Counter[str]) -> None:
        for reason, number in counts.items():
            self._metrics.add(SHORTENED, reason, number=number)
        if self._throttle.is_due(self._clock_s()):
            log.warning(
                "%d values of spans were too large and are stored shortened, %d items were dropped "
                "(RT4CHART_ATTRIBUTE_MIB; rt4chart_attributes_shortened_total counts them)",
                counts.total() - counts[DROPPED],
                counts[DROPPED],
            )


def _with_resource(span: SpanRecord, resource: Attributes, lost: Counter[str]) -> SpanRecord:
    return replace(
        span,
        resource=resource,
        shortened_attributes=span.shortened_attributes + lost.total() - lost[DROPPED],
        dropped_attributes=span.dropped_attributes + lost[DROPPED],
    )
