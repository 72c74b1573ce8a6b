"""The record beside a model: where it is from, the hash of each file, and how it is read."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from otel_rt4chart.core.errors import HubError
from otel_rt4chart.verify.neural.model_folder import RECORD


@dataclass(frozen=True, slots=True)
class ModelSourceRecord:
    """A repository at a commit, and the SHA-256 of each file that was taken from it."""

    repo: str
    commit: str
    files: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class ModelRecord:
    """What `judge get` did. `files` are those in the folder, `sources` where they are from.

    `converted` has the versions of the packages that made the ONNX file; empty for one that the hub
    has.
    """

    name: str
    kind: str
    licence: str
    labels: str
    template: str
    sources: tuple[ModelSourceRecord, ...]
    files: Mapping[str, str]
    converted: Mapping[str, str]


def write_record(folder: Path, record: ModelRecord) -> None:
    """Write the record into the model's folder."""
    text = json.dumps(asdict(record), indent=2, ensure_ascii=False) + "\n"
    (folder / RECORD).write_text(text, encoding="utf-8")


def read_record(folder: Path) -> ModelRecord | None:
    """The record of the model in this folder; None where there is none."""
    file = folder / RECORD
    if not file.is_file():
        return None
    try:
        read: dict[str, Any] = json.loads(file.read_text("utf-8"))
        sources = tuple(ModelSourceRecord(**one) for one in read.pop("sources"))
        return ModelRecord(sources=sources, **read)
    except (ValueError, KeyError, TypeError) as error:
        raise HubError(
            f"{file}: expected the record of a fetched model, got {type(error).__name__} "
            f"({error}): delete {folder} and fetch the model again"
        ) from error


def check_files(folder: Path, record: ModelRecord) -> None:
    """HubError where a file of the model is missing or has other bytes than were recorded."""
    for name, expected in record.files.items():
        file = folder / name
        if not file.is_file():
            found = "no file"
        elif (hashed := sha256_of(file)) != expected:
            found = f"a file with {hashed}"
        else:
            continue
        raise HubError(
            f"{file}: expected the SHA-256 {expected}, found {found}: fetch the model again with "
            "--replace"
        )


def sha256_of(file: Path) -> str:
    """The hash of the file's bytes."""
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


def git_blob_of(file: Path) -> str:
    """The id that git gives to the file's bytes."""
    # Git's own name of a content, no protection: whoever forges one controls the hub.
    found = hashlib.sha1(b"blob %d\0" % file.stat().st_size, usedforsecurity=False)
    with file.open("rb") as opened:
        while block := opened.read(1 << 20):
            found.update(block)
    return found.hexdigest()
