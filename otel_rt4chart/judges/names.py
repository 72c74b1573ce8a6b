"""The names of judges, known without an import of the judges."""

from __future__ import annotations

JUDGE_NAMES = ("local", "rules", "openai", "single", "cascade")
ONNX_PREFIX = "onnx:"  # followed by the path of an exported model


def is_onnx(name: str) -> bool:
    """True for a model on disk."""
    return name.startswith(ONNX_PREFIX) and name != ONNX_PREFIX
