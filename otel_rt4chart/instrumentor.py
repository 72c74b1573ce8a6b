"""`RT4ChartInstrumentor`: marks the spans of the traces that are to be verified."""

from __future__ import annotations

import os
import weakref
from collections import OrderedDict
from collections.abc import Callable, Collection, Sequence
from threading import Lock
from typing import Any

from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.instrumentation.instrumentor import (  # type: ignore[attr-defined]
    BaseInstrumentor,
)
from opentelemetry.sdk.trace import ReadableSpan, Span, SpanProcessor, TracerProvider

from otel_rt4chart import semconv
from otel_rt4chart.errors import SettingsError
from otel_rt4chart.guard import LOG, guard
from otel_rt4chart.sampling import is_sampled
from otel_rt4chart.settings import Settings

Route = Callable[[Sequence[ReadableSpan]], str | None]
OPEN_TRACES = 4096
PASSED_TO_ALL = {"meter_provider", "logger_provider"}


class RT4ChartInstrumentor(BaseInstrumentor):  # type: ignore[misc] # its package has no types
    """One line beside the instrumentation that is there: `RT4ChartInstrumentor().instrument()`.

    Arguments of `instrument`, all optional: `tracer_provider`, `mode` ("mark"), `sample_rate`
    (0 to 1), and `route`, a callable from the open spans of the trace to a name or None. What is
    not given comes from the environment. A wrong argument raises SettingsError; a wrong
    environment is logged and switches marking off, because it must not stop the application.
    """

    _marker: Marker | None = None

    def instrumentation_dependencies(self) -> Collection[str]:
        """None: it attaches to whatever writes spans."""
        return ()

    def _instrument(
        self,
        *,
        tracer_provider: object = None,
        mode: str | None = None,
        sample_rate: float | None = None,
        route: Route | None = None,
        **others: Any,  # noqa: ANN401 what is passed to every instrumentor
    ) -> None:
        # An argument that is not known must not seem to work: `redact` would be believed.
        if unknown := sorted(set(others) - PASSED_TO_ALL):
            raise SettingsError(
                "instrument: expected tracer_provider, mode, sample_rate or route, "
                f"got {', '.join(unknown)}"
            )
        try:
            environment = Settings.from_environment()
        except SettingsError as error:
            LOG.error("marking is off: %s", error)
            return
        settings = Settings(
            mode=environment.mode if mode is None else mode,
            sample_rate=environment.sample_rate if sample_rate is None else sample_rate,
            salt=environment.salt,
        )
        if route is not None and not callable(route):
            raise SettingsError(f"route: expected a callable, got {type(route).__name__}")
        provider = tracer_provider or trace.get_tracer_provider()
        if not isinstance(provider, TracerProvider):
            LOG.warning(
                "marking is off: expected an SDK TracerProvider, got %s; "
                "call instrument() after setting one",
                type(provider).__name__,
            )
            return
        self._marker = Marker(settings, route)
        provider.add_span_processor(self._marker)

    def _uninstrument(self, **_: Any) -> None:  # noqa: ANN401 the base class's signature
        if self._marker is not None:
            # The SDK cannot take a processor out again, so it is told to do nothing.
            self._marker.is_on = False
            self._marker = None


class Marker(SpanProcessor):
    """Writes the decision on a trace's first span here and on every OpenInference span.

    The decision is a hash of the trace id, so that each process makes the same one. It adds four
    small attributes when a span starts, touches no ended span, and keeps a bounded table.
    """

    def __init__(self, settings: Settings, route: Route | None) -> None:
        """On until it is switched off."""
        self.is_on = True
        self._settings = settings
        self._route = route
        self._first: OrderedDict[int, Span] = OrderedDict()
        self._lock = Lock()
        if hasattr(os, "register_at_fork"):
            ours = weakref.WeakMethod(self._forked)
            os.register_at_fork(after_in_child=lambda: _call(ours))

    def _forked(self) -> None:
        """In the child nobody releases a lock that another thread held at the fork."""
        self._lock = Lock()

    def on_start(self, span: Span, parent_context: Context | None = None) -> None:
        """Mark the span if it is the trace's first here or one that we will read."""
        if not self.is_on:
            return
        with guard("marking a span"):
            first = self._first_of(span)
            attributes = span.attributes or {}
            if first is span or semconv.SPAN_KIND in attributes:
                span.set_attributes(self._marks(span, first))

    def on_end(self, span: ReadableSpan) -> None:
        """Forget the trace when its first span ends."""
        with guard("forgetting a trace"):
            context = span.get_span_context()
            if context is not None:
                with self._lock:
                    first = self._first.get(context.trace_id)
                    if first is not None and first.get_span_context() == context:
                        del self._first[context.trace_id]

    def _marks(self, span: Span, first: Span) -> dict[str, str | bool | float]:
        settings = self._settings
        trace_id = trace.format_trace_id(span.get_span_context().trace_id)
        sampled = is_sampled(trace_id, settings.sample_rate, settings.salt)
        marks: dict[str, str | bool | float] = {
            semconv.SAMPLED: sampled,
            semconv.SAMPLE_RATE: settings.sample_rate,
            semconv.DECISION: "sampled" if sampled else "not_sampled",
        }
        if self._route is not None and semconv.ROUTE not in (span.attributes or {}):
            spans = [first] if first is span else [first, span]
            # A route that cannot be had must not cost the mark.
            with guard("the route callable"):
                name = self._route(spans)
                if name:
                    marks[semconv.ROUTE] = str(name)
        return marks

    def _first_of(self, span: Span) -> Span:
        trace_id = span.get_span_context().trace_id
        with self._lock:
            first = self._first.setdefault(trace_id, span)
            if len(self._first) > OPEN_TRACES:
                self._first.popitem(last=False)
            return first


def _call(method: weakref.WeakMethod[Callable[[], None]]) -> None:
    alive = method()
    if alive is not None:
        alive()
