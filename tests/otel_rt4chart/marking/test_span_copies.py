from __future__ import annotations

import pytest
from opentelemetry.attributes import BoundedAttributes
from opentelemetry.sdk.trace import ReadableSpan, SpanLimits, TracerProvider
from opentelemetry.trace import Link, Status, StatusCode

from otel_rt4chart.marking.span_copies import (
    copy_rewritten,
    copy_with_attributes,
    copy_without_texts,
)
from otel_rt4chart.redaction import build_redactor

MASK = build_redactor("mask")
WHO = "bob@example.com"


def test_what_is_added_stands_beside_what_was_there() -> None:
    """On the copy alone, which counts what was dropped and is as immutable as the span's own."""
    given = BoundedAttributes(maxlen=2, attributes={"a": 1, "b": "two", "c": (3.0,)})
    span = ReadableSpan("ask", attributes=given)

    copied = copy_with_attributes(span, {"rt4chart.sampled": True})

    assert dict(copied.attributes or {}) == {"b": "two", "c": (3.0,), "rt4chart.sampled": True}
    assert (copied.dropped_attributes, span.dropped_attributes) == (1, 1)
    assert dict(span.attributes or {}) == {"b": "two", "c": (3.0,)}
    with pytest.raises(TypeError):
        copied._attributes["b"] = "three"  # type: ignore[index]


def failed_span() -> ReadableSpan:
    """A span with somebody's address wherever a span holds texts."""
    provider = TracerProvider(shutdown_on_exit=False, span_limits=SpanLimits(max_links=1))
    tracer = provider.get_tracer("app")
    before = tracer.start_span("before").get_span_context()
    links = [Link(before), Link(before, {"input.value": WHO, "rank": 1})]
    span = tracer.start_span("answer", links=links, attributes={"output.value": WHO, "top_k": 3})
    span.add_event("exception", {"exception.message": WHO})
    span.set_status(Status(StatusCode.ERROR, f"ValueError: cannot parse {WHO}"))
    span.end()
    assert isinstance(span, ReadableSpan)
    return span


def test_each_text_of_a_span_is_rewritten() -> None:
    """Attributes, those of events and links, and the status; counts and the span itself stay."""
    span = failed_span()

    other = copy_rewritten(span, MASK.attributes, MASK.text)

    assert WHO not in other.to_json()
    assert other.status.description == "ValueError: cannot parse [email]"
    assert other.status.status_code is StatusCode.ERROR
    (link,) = other.links
    assert dict(link.attributes or {}) == {"input.value": "[email]", "rank": 1}
    assert (other.dropped_links, link.context) == (1, span.links[0].context)
    assert span.to_json().count(WHO) == 4


def test_a_status_without_a_description_stays() -> None:
    """There is nothing to rewrite, and nothing is made up."""
    span = TracerProvider(shutdown_on_exit=False).get_tracer("app").start_span("s")
    assert isinstance(span, ReadableSpan)

    assert copy_rewritten(span, MASK.attributes, MASK.text).status is span.status


def test_a_textless_copy_holds_numbers_and_flags() -> None:
    """What is exported of a span that could not be redacted."""
    other = copy_without_texts(failed_span())

    assert WHO not in other.to_json()
    assert dict(other.attributes or {}) == {"top_k": 3}
    assert other.status.status_code is StatusCode.ERROR
