"""The span processor of both modes; it runs on the threads of the application."""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

from opentelemetry import baggage
from opentelemetry.context import Context, get_current
from opentelemetry.sdk.trace import ReadableSpan, Span, SpanProcessor, TracerProvider

from otel_rt4chart.core import semconv
from otel_rt4chart.core.guard import LOG, guard
from otel_rt4chart.marking.exporter import SpanChange
from otel_rt4chart.marking.exporter_wrapping import WrappedExporters, remove_processor

# Most contexts have no baggage. This key makes the check four times as fast as the API.
BAGGAGE_CONTEXT_KEY: str | None = getattr(baggage, "_BAGGAGE_KEY", None)
BAGGAGE_KEYS = (semconv.ROUTE, semconv.FORCE)


class MarkingProcessor(SpanProcessor):
    """Wraps each exporter of the provider, including those that are added later.

    Where the baggage counts, it copies `rt4chart.route` and `rt4chart.force` from it to spans that
    start.
    """

    def __init__(
        self,
        provider: TracerProvider,
        change: SpanChange | None,
        *,
        marks: bool = False,
        hides: bool = False,
        baggage: bool = False,
    ) -> None:
        """Wraps the exporters at once if there is a `change`.

        `marks` and `hides` say that the change marks and that it redacts: exporters that cannot be
        wrapped are then logged. `baggage` says that the baggage counts.
        """
        self.is_on = True
        self._provider = provider
        # Looked up once, because it is compared at each span.
        self._processors: Any = getattr(provider, "_active_span_processor", None)
        if not hasattr(self._processors, "_span_processors"):
            self._processors = SimpleNamespace(_span_processors=())
        self._exporters = WrappedExporters(provider, change, hides=hides)
        self._has_warned = not marks
        self._reads_baggage = baggage
        self._wrap_new()

    def detach(self) -> None:
        """Restore the provider."""
        self.is_on = False
        self._exporters.detach()
        remove_processor(self._provider, self)

    def on_start(self, span: Span, parent_context: Context | None = None) -> None:
        """Compare the list of processors, and copy the baggage."""
        # The comparison is written out here and in `on_end`: a call would cost more than it does.
        # So would a guard, which is entered on errors.
        try:
            if self._processors._span_processors is not self._known_processors:
                self._wrap_new()
            if self._reads_baggage and self.is_on:
                context = get_current() if parent_context is None else parent_context
                if BAGGAGE_CONTEXT_KEY is None or BAGGAGE_CONTEXT_KEY in context:
                    copy_baggage(span, baggage.get_all(context))
        except Exception:  # the boundary to the application
            with guard("a starting span"):
                raise

    def on_end(self, span: ReadableSpan) -> None:
        """Check for exporters that were added while the span was open."""
        try:
            if self._processors._span_processors is not self._known_processors:
                self._wrap_new()
            if not self._has_warned:
                self._warn_without_exporter()
        except Exception:  # the boundary to the application
            with guard("an ended span"):
                raise

    def _wrap_new(self) -> None:
        if self.is_on:
            self._exporters.wrap_new()
            self._known_processors = self._exporters.known_processors

    def _warn_without_exporter(self) -> None:
        if not self.is_on:
            return
        self._has_warned = True
        if self._exporters.count == 0:
            LOG.warning(
                "spans are not marked: expected an exporter in the tracer provider, got none; the "
                "service samples by its own rate, or set RT4CHART_MODE=inline"
            )

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        """Nothing to flush."""
        return True


def copy_baggage(span: Span, entries: Mapping[str, object]) -> None:
    """Set our baggage entries as attributes of a span that does not have them."""
    for name in BAGGAGE_KEYS:
        value = entries.get(name)
        if value is not None and name not in (span.attributes or {}):
            span.set_attribute(name, _baggage_flag(value) if name == semconv.FORCE else str(value))


def _baggage_flag(value: object) -> bool:
    """A flag from baggage, which other processes send as text."""
    return str(value).strip().lower() in ("true", "1")
