"""The names of judges, known without an import of the judges."""

from __future__ import annotations

JUDGE_NAMES = ("local", "rules", "openai", "single", "cascade")
# Published detectors, which `rt4chart bench` alone compares; they judge whole answers.
RIVAL_NAMES = ("heuristic", "selfcheck-prompt", "selfcheck-nli", "metaqa", "ragas", "deepeval")
_IN_PROCESS = ("local", "rules", "heuristic")
# Each is followed by the path of an exported model.
ONNX_PREFIX = "onnx:"  # a classifier of premise and claim
SPANS_PREFIX = "onnx-spans:"  # a detector of unsupported words
ON_DISK = f"{ONNX_PREFIX}PATH, {SPANS_PREFIX}PATH"


def is_onnx(name: str) -> bool:
    """True for a classifier on disk, which judges claim by claim."""
    return name.startswith(ONNX_PREFIX) and name != ONNX_PREFIX


def is_spans(name: str) -> bool:
    """True for a detector on disk, which reads whole answers."""
    return name.startswith(SPANS_PREFIX) and name != SPANS_PREFIX


def is_on_disk(name: str) -> bool:
    """True for a model on disk of either kind."""
    return is_onnx(name) or is_spans(name)


def calls_model(name: str) -> bool:
    """True for a judge behind an endpoint, for which `--model` can be named."""
    return name not in _IN_PROCESS and not is_on_disk(name)
