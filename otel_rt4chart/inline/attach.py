"""The inline verifier's place among a provider's processors: before those that export."""

from __future__ import annotations

from opentelemetry.sdk.trace import SpanProcessor, TracerProvider


def attach_first(provider: TracerProvider, processor: SpanProcessor) -> None:
    """Add a processor, in front where the SDK lets it (1.44 and 1.45 do).

    Flushing and shutting down go through them in order: only what is emitted before the exporters'
    turn is exported by it.
    """
    provider.add_span_processor(processor)
    multi = getattr(provider, "_active_span_processor", None)
    known = getattr(multi, "_span_processors", ())
    lock = getattr(multi, "_lock", None)
    if isinstance(known, tuple) and processor in known and lock is not None:
        with lock:
            others = [one for one in multi._span_processors if one is not processor]  # type: ignore[union-attr]
            multi._span_processors = (processor, *others)  # type: ignore[union-attr]
