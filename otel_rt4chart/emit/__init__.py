"""Emission of verdicts as carrier spans, evaluation events and metrics."""

from otel_rt4chart.emit.emitter import Emitter

__all__ = ["Emitter"]
