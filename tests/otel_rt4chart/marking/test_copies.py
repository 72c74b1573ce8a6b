from __future__ import annotations

import pytest
from opentelemetry.attributes import BoundedAttributes
from opentelemetry.sdk.trace import ReadableSpan

from otel_rt4chart.marking.copies import with_added


def test_what_is_added_stands_beside_what_was_there() -> None:
    """On the copy alone, which counts what was dropped and is as immutable as the span's own."""
    given = BoundedAttributes(maxlen=2, attributes={"a": 1, "b": "two", "c": (3.0,)})
    span = ReadableSpan("ask", attributes=given)

    copied = with_added(span, {"rt4chart.sampled": True})

    assert dict(copied.attributes or {}) == {"b": "two", "c": (3.0,), "rt4chart.sampled": True}
    assert (copied.dropped_attributes, span.dropped_attributes) == (1, 1)
    assert dict(span.attributes or {}) == {"b": "two", "c": (3.0,)}
    with pytest.raises(TypeError, match="immutable"):
        copied._attributes["b"] = "three"  # type: ignore[index]
