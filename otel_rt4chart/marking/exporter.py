"""`MarkingExporter`: wraps an exporter of the application to mark or redact spans."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult

from otel_rt4chart.core.guard import guard
from otel_rt4chart.marking.span_copies import copy_rewritten, copy_without_texts
from otel_rt4chart.redaction import Redactor
from otel_rt4chart.spans.reading.sdk import is_verdict_span

SpanChange = Callable[[Sequence[ReadableSpan]], Sequence[ReadableSpan]]


class MarkingExporter(SpanExporter):
    """Passes changed spans to `inner`, and otherwise behaves like it.

    If the change fails, the original spans are exported, so that the application loses none. If the
    change redacts, they are exported without texts.
    """

    def __init__(self, inner: SpanExporter, change: SpanChange, *, hides: bool = False) -> None:
        """`change` returns as many spans as it receives, in order, and modifies none in place.

        `hides` says that it redacts.
        """
        self.inner = inner
        self.is_on = True
        self._change = change
        self._hides = hides
        # The SDK inspects the signature of `shutdown`, which differs between exporters. An exporter
        # that is no subclass of the SDK's class may lack both methods.
        self.shutdown = getattr(inner, "shutdown", self.shutdown)  # type: ignore[method-assign]
        self.force_flush = getattr(inner, "force_flush", self.force_flush)  # type: ignore[method-assign]

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Called on the thread of a span processor, or on the application's if it has none."""
        return self.inner.export(self._apply_change(spans) if self.is_on else spans)

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        """Used only if the inner exporter has no `force_flush`: there is nothing to flush."""
        return True

    def _apply_change(self, spans: Sequence[ReadableSpan]) -> Sequence[ReadableSpan]:
        with guard("marking spans"):
            changed = self._change(spans)
            if len(changed) == len(spans) and all(isinstance(s, ReadableSpan) for s in changed):
                return changed
        return _without_texts(spans) if self._hides else spans


def _without_texts(spans: Sequence[ReadableSpan]) -> list[ReadableSpan]:
    """Copies without texts; a span for which even this fails is not exported."""
    copies: list[ReadableSpan] = []
    for span in spans:
        with guard("hiding the texts of a span"):
            copies.append(copy_without_texts(span))
    return copies


def mark_and_redact(mark: SpanChange, redactor: Redactor) -> SpanChange:
    """Mark, then redact; a span that cannot be redacted is exported without texts."""

    def change(spans: Sequence[ReadableSpan]) -> Sequence[ReadableSpan]:
        marked: Sequence[ReadableSpan] = spans
        with guard("marking spans"):
            marked = mark(spans)
        return [_redact_span(span, redactor) for span in marked] if redactor.is_on else marked

    return change


def keep_unmarked(spans: Sequence[ReadableSpan]) -> Sequence[ReadableSpan]:
    """No marks, for providers whose spans are only redacted."""
    return spans


def _redact_span(span: ReadableSpan, redactor: Redactor) -> ReadableSpan:
    if is_verdict_span(span):
        return span  # our verdict: its texts were redacted before verification
    with guard("redacting a span"):
        return copy_rewritten(span, redactor.attributes, redactor.text)
    return copy_without_texts(span)
