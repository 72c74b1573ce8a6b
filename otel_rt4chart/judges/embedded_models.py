"""The embedded models, each opened once a process."""

from __future__ import annotations

from functools import cache

from otel_rt4chart.verify.neural.cross_encoder import MODEL, CrossEncoder
from otel_rt4chart.verify.neural.local_embedder import LocalEmbedder
from otel_rt4chart.verify.neural.model_folder import PACKAGES, missing_packages, model_folder

__all__ = ["NAME", "PACKAGES", "build_embedder", "ids", "missing_packages", "model_folder"]

NAME = "local"  # of the embedded encoder, where an embedding model is named


@cache
def build_embedder(threads: int = 0) -> LocalEmbedder:
    """The embedded encoder; `threads` 0 is all cores, 4 at most. SettingsError says what lacks."""
    return LocalEmbedder(model_folder(), threads=threads)


def ids() -> list[str]:
    """Those of the models that are installed."""
    folder = model_folder()
    has_judge = (folder / MODEL).is_file()
    return [build_embedder().id, *([CrossEncoder(folder).id] if has_judge else [])]
