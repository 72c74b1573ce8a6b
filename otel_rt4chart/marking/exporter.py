"""An exporter around the application's own: spans pass through it, marked or redacted."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult

from otel_rt4chart.core.guard import guard
from otel_rt4chart.marking.span_copies import rewritten, textless
from otel_rt4chart.redaction import Redactor
from otel_rt4chart.spans.reading.sdk import is_ours

Change = Callable[[Sequence[ReadableSpan]], Sequence[ReadableSpan]]


class MarkingExporter(SpanExporter):
    """Gives the spans, changed, to `inner`; what the inner exporter does is what this one does.

    Where changing fails, the spans go on as they came: none is lost, none is late by our fault. If
    it was to take texts out of them they go on without any.
    """

    def __init__(self, inner: SpanExporter, change: Change, *, hides: bool = False) -> None:
        """`change` gives as many spans as it gets, in their order, and changes none in place.

        `hides` says that it redacts.
        """
        self.inner = inner
        self.is_on = True
        self._change = change
        self._hides = hides
        # The SDK looks at the signature of `shutdown`, which differs between exporters; one that
        # is not of the SDK's class may lack what only the SDK's classes promise.
        self.shutdown = getattr(inner, "shutdown", self.shutdown)  # type: ignore[method-assign]
        self.force_flush = getattr(inner, "force_flush", self.force_flush)  # type: ignore[method-assign]

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Called by a span processor: in its thread, or in the application's if it has none."""
        return self.inner.export(self._changed(spans) if self.is_on else spans)

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        """Where the inner exporter has none: it holds nothing back that we know of."""
        return True

    def _changed(self, spans: Sequence[ReadableSpan]) -> Sequence[ReadableSpan]:
        with guard("marking spans"):
            changed = self._change(spans)
            if len(changed) == len(spans) and all(isinstance(s, ReadableSpan) for s in changed):
                return changed
        return _hidden(spans) if self._hides else spans


def _hidden(spans: Sequence[ReadableSpan]) -> list[ReadableSpan]:
    """Copies without texts; what even that fails on does not leave."""
    found: list[ReadableSpan] = []
    for span in spans:
        with guard("hiding the texts of a span"):
            found.append(textless(span))
    return found


def changes(mark: Change, redactor: Redactor) -> Change:
    """The spans marked, then redacted; a span that cannot be redacted goes on without its texts."""

    def change(spans: Sequence[ReadableSpan]) -> Sequence[ReadableSpan]:
        marked: Sequence[ReadableSpan] = spans
        with guard("marking spans"):
            marked = mark(spans)
        return [_redacted(span, redactor) for span in marked] if redactor.is_on else marked

    return change


def unmarked(spans: Sequence[ReadableSpan]) -> Sequence[ReadableSpan]:
    """The spans as they are, where they are only redacted."""
    return spans


def _redacted(span: ReadableSpan, redactor: Redactor) -> ReadableSpan:
    if is_ours(span):
        return span  # a verdict of ours: what it quotes was redacted before it was judged
    with guard("redacting a span"):
        return rewritten(span, redactor.attributes, redactor.text)
    return textless(span)
