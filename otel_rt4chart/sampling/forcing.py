"""`force`: the application asks for the answer it is making to be verified."""

from __future__ import annotations

from opentelemetry import trace

from otel_rt4chart.core import semconv
from otel_rt4chart.core.guard import guard


def force() -> None:
    """Have the current span's trace verified whatever the rate; nothing happens without a span."""
    with guard("forcing a verification"):
        trace.get_current_span().set_attribute(semconv.FORCE, True)
