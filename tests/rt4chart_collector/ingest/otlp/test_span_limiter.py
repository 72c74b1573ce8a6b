"""The limiter passes what is small, and counts and logs what it shortens."""

from __future__ import annotations

import logging
from collections import Counter
from dataclasses import replace

import pytest

from otel_rt4chart.spans.model.record import SpanEvent, SpanLink, SpanRecord
from otel_rt4chart.spans.model.shortening import is_shortened
from rt4chart_collector.core.instruments import SHORTENED
from rt4chart_collector.core.metrics import ServiceMetrics
from rt4chart_collector.ingest.otlp.span_limiter import SpanLimiter

SPAN = SpanRecord("1" * 32, "1" * 16, "answer", 1, 2, resource={"service.name": "shop"})
LIMIT, MUCH = 10_000, 10**9


def test_spans_within_the_limits_are_passed_as_they_are() -> None:
    """The same objects: nothing is copied, and the spans of a request keep one resource."""
    spans = (SPAN, replace(SPAN, attributes={"list": ("a",)}, name="n" * 1_000))

    limited = SpanLimiter(ServiceMetrics(), LIMIT).limit(spans, MUCH)

    assert [id(span) for span in limited] == [id(span) for span in spans]


@pytest.mark.parametrize(
    "span",
    [
        replace(SPAN, attributes={"k": "x" * 2 * LIMIT}),
        replace(SPAN, attributes={"k": ("x" * LIMIT, "y" * LIMIT)}),
        replace(SPAN, events=(SpanEvent("e", 1, {"k": "x" * 2 * LIMIT}),)),
        replace(SPAN, links=(SpanLink("1" * 32, "2" * 16, {}, "x" * 2 * LIMIT),)),
        replace(SPAN, status_message="x" * 2 * LIMIT),
        replace(SPAN, resource={"k": "x" * 2 * LIMIT}),
        replace(SPAN, name="x" * LIMIT),
        replace(SPAN, parent_span_id="x" * LIMIT),
        replace(SPAN, events=(SpanEvent("x" * LIMIT, 1),)),
        replace(SPAN, links=(SpanLink("x" * LIMIT, "2" * 16),)),
    ],
)
def test_each_place_for_a_large_text_is_found(span: SpanRecord) -> None:
    """The span says that one of its values was shortened; names count in small bodies too."""
    (limited,) = SpanLimiter(ServiceMetrics(), LIMIT).limit((span,), 3 * LIMIT)

    assert limited.shortened_attributes == 1


def test_resource_is_shortened_once_for_all_its_spans() -> None:
    """They share it afterwards as before; each says so."""
    metrics = ServiceMetrics()
    resource = {"service.name": "shop", "k": "x" * 2 * LIMIT, "n" * 5_000: "1"}
    spans = [replace(SPAN, span_id=f"{n:016x}", resource=resource) for n in range(3)]

    limited = SpanLimiter(metrics, LIMIT).limit(spans, MUCH)

    assert len({id(span.resource) for span in limited}) == 1
    assert is_shortened(limited[0].resource["k"])
    assert [(s.shortened_attributes, s.dropped_attributes) for s in limited] == [(1, 1)] * 3
    assert +Counter(metrics.counts(SHORTENED)) == {("value",): 1, ("dropped",): 1}


def test_shortened_values_are_counted_by_reason_and_logged_once_a_minute(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Without any of their text."""
    metrics, now = ServiceMetrics(), [0.0]
    limiter = SpanLimiter(metrics, LIMIT, clock_s=lambda: now[0])
    spans = [
        replace(SPAN, attributes={"secret": "x" * 2 * LIMIT}),
        replace(SPAN, attributes={f"k{n}": "x" * LIMIT for n in range(10)}),
        replace(SPAN, name="n" * LIMIT),
    ]
    with caplog.at_level(logging.WARNING):
        for now[0] in (0.0, 30.0, 61.0):
            limiter.limit(spans, MUCH)

    assert +Counter(metrics.counts(SHORTENED)) == {("value",): 3, ("span",): 30, ("name",): 3}
    assert [record.getMessage() for record in caplog.records] == [
        "12 values of spans were too large and are stored shortened, 0 items were dropped "
        "(RT4CHART_ATTRIBUTE_MIB; rt4chart_attributes_shortened_total counts them)"
    ] * 2
