"""The inline mode: verifies answers in a background thread of the application's process."""

from otel_rt4chart.inline.verifier import InlineVerifier, OnVerdict
from otel_rt4chart.spans.model.verdict import Decision, Verdict

__all__ = ["Decision", "InlineVerifier", "OnVerdict", "Verdict"]
