"""Redaction of texts before they are judged, emitted or exported."""

from otel_rt4chart.redaction.redactor import Redactor, build_redactor

__all__ = ["Redactor", "build_redactor"]
