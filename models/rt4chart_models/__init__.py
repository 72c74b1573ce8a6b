"""The embedded models of otel-rt4chart, as files: nothing here runs them or fetches anything."""

from __future__ import annotations

from pathlib import Path

__all__ = ["folder"]


def folder() -> Path:
    """Where encoder.onnx, judge.onnx and the tokenizer.json of both lie."""
    return Path(__file__).parent
