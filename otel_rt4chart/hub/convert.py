"""Makes an ONNX file of a model's weights with torch in another interpreter, and checks it."""

from __future__ import annotations

import json
import math
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from otel_rt4chart.core.errors import HubError, JudgeError, SettingsError
from otel_rt4chart.core.strict_json import strict_json
from otel_rt4chart.core.text import one_line
from otel_rt4chart.hub.catalogue import CatalogueModel
from otel_rt4chart.verify.neural.runtime import ModelInput, ModelSource, Runtime

EXPORT = Path(__file__).with_name("export.py")
CHECK = "check.json"  # what the exporting side computed for a sample, to be computed again here
_TOLERANCE = 1e-3
_MINUTES = 30
_NEEDED = ("torch", "transformers", "sentencepiece", "onnx")
_FIND_MISSING = (
    "import sys; from importlib.util import find_spec; "
    "print(*(name for name in sys.argv[1:] if find_spec(name) is None))"
)
_ADVICE = (
    "python -m venv convert && convert/bin/pip install torch transformers sentencepiece protobuf "
    "onnx, then run the command with --convert-with convert/bin/python"
)


def check_architecture(config: Path, model: CatalogueModel) -> None:
    """HubError where config.json is of another kind of model than the catalogue says."""
    try:
        read = strict_json(config.read_text("utf-8"))
        found = list(read.get("architectures") or ["none"])  # type: ignore[attr-defined]
    except (ValueError, AttributeError, TypeError) as error:
        told = one_line(str(error), 200)
        raise HubError(f"{model.repo}, config.json: expected JSON, got {told}") from error
    if model.architecture not in found:
        got = one_line(", ".join(map(str, found)), 200)
        raise HubError(
            f"{model.repo}: expected the architecture {model.architecture}, got {got}: this "
            "revision is another kind of model; choose another one with --revision"
        )


def check_interpreter(model: CatalogueModel, python: str) -> None:
    """HubError where `python` cannot convert a model, before its weights are downloaded."""
    if not python:
        raise HubError(
            f"{model.repo} has no ONNX file with a tokenizer.json, so its weights must be "
            f"converted, which needs {' '.join(_NEEDED)}: {_ADVICE}"
        )
    missing = _run(python, ["-c", _FIND_MISSING, *_NEEDED]).strip()
    if missing:
        raise HubError(
            f"--convert-with {python}: expected an interpreter with {' '.join(_NEEDED)}, it lacks "
            f"{missing}: {_ADVICE}"
        )


def convert(model: CatalogueModel, source: Path, made: Path, python: str) -> Mapping[str, str]:
    """Export the weights in `source` to `made`; the versions of the packages that did it.

    HubError where that fails, or where the ONNX file computes other numbers than torch did.
    """
    made.mkdir(parents=True)
    _run(python, [str(EXPORT), model.export, str(source), str(made), model.template])
    return _check_export(model, made)


def _run(python: str, arguments: Sequence[str]) -> str:
    """What the interpreter prints; HubError with the last line of its errors where it fails."""
    try:
        ran = subprocess.run(  # noqa: S603 the operator names the interpreter
            [python, *arguments], capture_output=True, text=True, timeout=_MINUTES * 60, check=False
        )
    except OSError as error:
        raise HubError(
            f"--convert-with {python}: expected a Python interpreter, got {error.strerror}"
        ) from error
    except subprocess.TimeoutExpired as error:
        raise HubError(f"--convert-with {python}: it took over {_MINUTES} minutes") from error
    if ran.returncode:
        last = (ran.stderr.strip().splitlines() or ["no message"])[-1]
        raise HubError(
            f"--convert-with {python}: the conversion failed: {last[:300]}; try other versions of "
            "torch and transformers"
        )
    return ran.stdout


def _check_export(model: CatalogueModel, made: Path) -> Mapping[str, str]:
    """Compute the samples again; the versions that the exporting side reports."""
    check = made / CHECK
    try:
        told: dict[str, Any] = json.loads(check.read_text("utf-8"))
        runtime = Runtime(
            ModelSource(
                owner="a converted model",
                model=made / "model.onnx",
                tokenizer=made / "tokenizer.json",
                outputs=("logits",),
                remedy="convert it with other versions of torch and transformers",
            )
        )
        samples = told["samples"]
        encoded = [runtime.encode(*sample["texts"]) for sample in samples]
        found = _logits(runtime, [ModelInput(one.ids, one.type_ids) for one in encoded], model.kind)
    except (OSError, ValueError, KeyError, TypeError, SettingsError, JudgeError) as error:
        raise HubError(f"{model.repo}: the converted model cannot be used: {error}") from error
    for sample, one, logits in zip(samples, encoded, found, strict=True):
        if list(one.ids) != sample["ids"] or not _are_close(logits, sample["logits"]):
            raise HubError(
                f"{model.repo}: expected the converted model to compute what torch does, "
                f"{sample['logits'][:4]} for the tokens {sample['ids'][:8]}, got {logits[:4]} for "
                f"{list(one.ids)[:8]}: convert it with other versions of torch and transformers"
            )
    check.unlink()
    return dict(told["versions"])


def _logits(runtime: Runtime, inputs: Sequence[ModelInput], kind: str) -> list[list[float]]:
    """The numbers for each input; those of pairs in one batch, so that the short one is padded."""
    if kind == "spans":
        tables = [runtime.run_tokens(one) for one in inputs]
        return [[number for row in rows for number in row] for rows in tables]
    return runtime.run(inputs)[0]


def _are_close(found: Sequence[float], expected: Sequence[float]) -> bool:
    return len(found) == len(expected) and all(
        math.isclose(one, other, rel_tol=_TOLERANCE, abs_tol=_TOLERANCE)
        for one, other in zip(found, expected, strict=True)
    )
