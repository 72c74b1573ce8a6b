"""Emission: a verdict as a carrier span, an evaluation event and metrics."""

from otel_rt4chart.emit.emitter import Emitter

__all__ = ["Emitter"]
