"""The span processor of both modes: what it does on the application's threads, and no more."""

from __future__ import annotations

from collections.abc import Mapping

from opentelemetry import baggage
from opentelemetry.context import Context, get_current
from opentelemetry.sdk.trace import ReadableSpan, Span, SpanProcessor, TracerProvider

from otel_rt4chart.core import semconv
from otel_rt4chart.core.guard import LOG, guard
from otel_rt4chart.marking.attach import Attached, remove
from otel_rt4chart.marking.exporter import Change

# Where a context has no baggage, as most have none, this look costs a quarter of the API's.
BAGGAGE: str | None = getattr(baggage, "_BAGGAGE_KEY", None)
CARRIED = (semconv.ROUTE, semconv.FORCE)


class Marker(SpanProcessor):
    """Writes the route and the wish that stand in the baggage on spans that start.

    It also sees to it that our exporter stands around each exporter of the provider, those that
    are added after it too.
    """

    def __init__(
        self,
        provider: TracerProvider,
        change: Change | None,
        *,
        marks: bool = False,
        hides: bool = False,
    ) -> None:
        """Attaches at once, unless there is no `change`.

        `marks` and `hides` say that it marks and that it redacts, so that it is told where an
        exporter is out of our reach.
        """
        self.is_on = True
        self._provider = provider
        # Compared at each span, so not looked up there.
        self._multi = getattr(provider, "_active_span_processor", None)
        self._attached = Attached(provider, change, hides=hides)
        self._is_told = not marks
        self._attached.look()

    def detach(self) -> None:
        """Leave the provider as it was."""
        self.is_on = False
        self._attached.detach()
        remove(self._provider, self)

    def on_start(self, span: Span, parent_context: Context | None = None) -> None:
        """A comparison, and a look into the baggage."""
        if not self.is_on:
            return
        # The guard costs more than what it guards here: it is entered where something is wrong.
        try:
            if getattr(self._multi, "_span_processors", ()) is not self._attached.known:
                self._attached.look()
            context = get_current() if parent_context is None else parent_context
            if BAGGAGE is None or BAGGAGE in context:
                carry(span, baggage.get_all(context))
        except Exception:  # the border to the application
            with guard("a starting span"):
                raise

    def on_end(self, span: ReadableSpan) -> None:
        """Nothing is done to an ended span; an exporter may have been added while it was open."""
        if not self.is_on:
            return
        try:
            if getattr(self._multi, "_span_processors", ()) is not self._attached.known:
                self._attached.look()
            if not self._is_told:
                self._tell()
        except Exception:  # the border to the application
            with guard("an ended span"):
                raise

    def _tell(self) -> None:
        self._is_told = True
        if self._attached.count == 0:
            LOG.warning(
                "no span is marked: the tracer provider has no exporter that we can find; the "
                "service samples by its own rate then, or use RT4CHART_MODE=inline"
            )

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        """There is nothing to flush."""
        return True


def carry(span: Span, given: Mapping[str, object]) -> None:
    """Write what the baggage says of us on a span that has not got it."""
    for name in CARRIED:
        value = given.get(name)
        if value is not None and name not in (span.attributes or {}):
            span.set_attribute(name, _flag(value) if name == semconv.FORCE else str(value))


def _flag(value: object) -> bool:
    """Baggage comes as text from other processes."""
    return str(value).strip().lower() in ("true", "1")
