"""The files of the embedded models are those that this version was made with."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from otel_rt4chart.core.errors import SettingsError
from otel_rt4chart.verify.neural.model_folder import HASHES, check_files, model_folder


def test_installed_models_are_the_listed_ones() -> None:
    """Each file that is loaded is in the list, and the installed ones are as listed."""
    names = {line.split()[1] for line in HASHES.read_text().splitlines()}

    assert names == {"encoder.onnx", "judge.onnx", "head.json", "tokenizer.json"}
    assert check_files(model_folder()) == model_folder()


def test_changed_model_is_not_loaded(tmp_path: Path) -> None:
    """The error names the file and both hashes, and how to repair it."""
    expected = hashlib.sha256(b"made").hexdigest()
    hashes = tmp_path / "models.sha256"
    hashes.write_text(f"{expected}  model.onnx\n{expected}  absent.onnx\n")
    (tmp_path / "model.onnx").write_bytes(b"changed")

    with pytest.raises(SettingsError, match=r"model\.onnx: expected .*install") as raised:
        check_files(tmp_path, hashes)

    assert expected in str(raised.value)
    (tmp_path / "model.onnx").write_bytes(b"made")
    assert check_files(tmp_path, hashes) == tmp_path
