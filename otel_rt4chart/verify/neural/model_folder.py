"""The files of an exported model: where they are, what config.json says, and a hash over them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from otel_rt4chart.core.errors import SettingsError
from otel_rt4chart.core.extras import missing_packages

MODELS = ("model.onnx", "onnx/model.onnx", "model_quantized.onnx", "onnx/model_quantized.onnx")
LONGEST = 512
# What `rt4chart judge get` writes beside a model: where it is from, and how it is to be read.
RECORD = "rt4chart.json"
_BLOCK = 1 << 20
# The files of the embedded models, in the format of sha256sum; `training/run.py` writes it.
HASHES = Path(__file__).with_name("models.sha256")
# These models count positions from the padding token's id on, so two of them are not usable.
_OFFSET_POSITIONS = ("roberta", "xlm-roberta", "xlm-roberta-xl", "camembert", "mpnet")
_SCALED_AT_RUN_TIME = b"DynamicQuantizeLinear"
_EXPORT = "save it beside the model with AutoTokenizer.from_pretrained(NAME).save_pretrained(DIR)"


@dataclass(frozen=True, slots=True)
class ModelFolder:
    """An exported model; `config` is empty where there is no config.json, so is `record`.

    `record` has the labels of the logits, and the template of the texts, where config.json does not
    say them.
    """

    name: str
    model: Path
    tokenizer: Path
    config: Mapping[str, object]
    record: Mapping[str, object] = field(default_factory=dict)

    @property
    def positions(self) -> int:
        """The most tokens that the config lets the model take, 512 where it says nothing."""
        most = self.config.get("max_position_embeddings")
        if not isinstance(most, int) or most < 1:
            return LONGEST
        return most - 2 if self.config.get("model_type") in _OFFSET_POSITIONS else most

    @property
    def labels(self) -> str:
        """The labels of the logits that the record names, as the setting writes them."""
        return str(self.record.get("labels", ""))

    @property
    def template(self) -> str:
        """The text with {premise} and {claim} that the model reads instead of a pair, or ""."""
        return str(self.record.get("template", ""))


@dataclass(frozen=True, slots=True)
class Identity:
    """`digest` identifies a model; with `is_scaled_by_batch` a batch changes a pair's numbers."""

    digest: str
    is_scaled_by_batch: bool


def find_model(path: Path) -> ModelFolder:
    """The model at a folder, or at the .onnx file itself; SettingsError says what is missing."""
    model = path if path.is_file() else _model_in(path)
    for folder in (model.parent, model.parent.parent):
        if (folder / "tokenizer.json").is_file():
            config = _config(folder / "config.json") or _config(model.parent / "config.json")
            tokenizer, record = folder / "tokenizer.json", _config(folder / RECORD)
            return ModelFolder(folder.resolve().name, model, tokenizer, config, record)
    raise SettingsError(f"{model.parent}: expected tokenizer.json, found none; {_EXPORT}")


def identify(folder: ModelFolder, *options: str) -> Identity:
    """The hash over the model, its weights, the tokenizer and the options that decide a verdict."""
    found = hashlib.blake2b(digest_size=6)
    for option in options:
        found.update(f"{len(option)}:{option}".encode())
    is_scaled, tail = False, b""
    for file in (folder.tokenizer, folder.model, *_weights(folder.model)):
        for block in _blocks(file):
            found.update(block)
            is_scaled = is_scaled or _SCALED_AT_RUN_TIME in tail + block
            tail = block[-len(_SCALED_AT_RUN_TIME) :]
    return Identity(found.hexdigest(), is_scaled)


def _model_in(folder: Path) -> Path:
    if not folder.is_dir():
        raise SettingsError(f"{folder}: expected a folder or an .onnx file, found nothing there")
    for name in MODELS:
        if (folder / name).is_file():
            return folder / name
    others = sorted(str(one.relative_to(folder)) for one in folder.rglob("*.onnx"))
    found = ", ".join(others[:5]) or "no .onnx file"
    fix = f"; name the file itself: {folder / others[0]}" if others else ""
    raise SettingsError(f"{folder}: expected {' or '.join(MODELS)}, found {found}{fix}")


def _weights(model: Path) -> list[Path]:
    """The weights that exporters store beside a large model: model.onnx_data, model.onnx.data."""
    kept = (one for one in model.parent.iterdir() if one.name.startswith(model.name))
    return sorted(one for one in kept if one.name[len(model.name) + 1 :].startswith("data"))


def _config(file: Path) -> dict[str, object]:
    if not file.is_file():
        return {}
    try:
        read = json.loads(file.read_text("utf-8"))
    except ValueError as error:
        raise SettingsError(f"{file}: expected JSON, got {error}; fetch the file again") from error
    if not isinstance(read, dict):
        raise SettingsError(f"{file}: expected a JSON object, got a {type(read).__name__}")
    return read


def _blocks(file: Path) -> Iterator[bytes]:
    try:
        with file.open("rb") as opened:
            while block := opened.read(_BLOCK):
                yield block
    except OSError as error:
        raise SettingsError(f"cannot read {file}: {error.strerror}") from error


def model_folder() -> Path:
    """The folder of the embedded models; SettingsError says how to install what is missing."""
    missing = missing_packages("local")
    if missing:
        raise SettingsError(
            f"the embedded models need the package {', '.join(missing)}: "
            "pip install ./otel-rt4chart/models './otel-rt4chart[local]'"
        )
    import rt4chart_models

    return check_files(rt4chart_models.folder())


@cache
def check_files(folder: Path, hashes: Path = HASHES) -> Path:
    """The folder, once a process its files were compared with their hashes; SettingsError."""
    for line in hashes.read_text("utf-8").splitlines():
        expected, name = line.split()
        file = folder / name
        # A missing file has an error of its own where it is loaded.
        if not file.is_file():
            continue
        with file.open("rb") as opened:
            found = hashlib.file_digest(opened, "sha256").hexdigest()
        if found != expected:
            raise SettingsError(
                f"{file}: expected the file with the SHA-256 {expected}, found {found}; install "
                "the models again: pip install --force-reinstall ./otel-rt4chart/models"
            )
    return folder
