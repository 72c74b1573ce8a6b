"""How many bytes a span takes in the database."""

from __future__ import annotations

from otel_rt4chart.spans.model.record import Attributes, SpanRecord
from rt4chart_collector.store.answers.spans import text_of


def stored_bytes(span: SpanRecord) -> int:
    """The texts of a span but its own ids and its resource, in UTF-8."""
    texts = [span.name, span.parent_span_id, span.status_message, span.trace_state]
    texts += [span.scope_name, span.scope_version, *_texts(span.attributes)]
    for event in span.events:
        texts += [event.name, *_texts(event.attributes)]
    for link in span.links:
        texts += [link.trace_id, link.span_id, link.trace_state, *_texts(link.attributes)]
    return sum(len(text.encode()) for text in texts)


def _texts(attributes: Attributes) -> list[str]:
    return [text for key, value in attributes.items() for text in (key, text_of(value))]
