"""An exporter around the application's own: spans pass through it, some with marks."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult

from otel_rt4chart.guard import guard

Change = Callable[[Sequence[ReadableSpan]], Sequence[ReadableSpan]]


class MarkingExporter(SpanExporter):
    """Gives the spans, changed, to `inner`; what the inner exporter does is what this one does.

    Where changing fails, the spans go on as they came: none is lost, none is late by our fault.
    """

    def __init__(self, inner: SpanExporter, change: Change) -> None:
        """`change` gives as many spans as it gets, in their order, and changes none in place."""
        self.inner = inner
        self.is_on = True
        self._change = change
        # The SDK looks at the signature of `shutdown`, which differs between exporters.
        self.shutdown = inner.shutdown  # type: ignore[method-assign]
        self.force_flush = inner.force_flush  # type: ignore[method-assign]

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Called by a span processor: in its thread, or in the application's if it has none."""
        return self.inner.export(self._changed(spans) if self.is_on else spans)

    def _changed(self, spans: Sequence[ReadableSpan]) -> Sequence[ReadableSpan]:
        with guard("marking spans"):
            changed = self._change(spans)
            if len(changed) == len(spans) and all(isinstance(s, ReadableSpan) for s in changed):
                return changed
        return spans
