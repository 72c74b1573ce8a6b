"""The inline mode: verifies answers in a background thread of the application's process."""

from otel_rt4chart.inline.verifier import InlineVerifier

__all__ = ["InlineVerifier"]
