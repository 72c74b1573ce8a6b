"""The embedded models, each loaded once in a process."""

from __future__ import annotations

from functools import cache

from otel_rt4chart.verify.neural.cross_encoder import MODEL, CrossEncoder
from otel_rt4chart.verify.neural.local_embedder import LocalEmbedder
from otel_rt4chart.verify.neural.model_folder import model_folder

__all__ = [
    "LOCAL_EMBEDDER",
    "build_embedder",
    "installed_model_ids",
    "model_folder",
]

LOCAL_EMBEDDER = "local"  # the name of the embedded encoder among embedding models


@cache
def build_embedder(threads: int = 0) -> LocalEmbedder:
    """The embedded encoder; `threads` 0 means all cores, at most 4; SettingsError if missing."""
    return LocalEmbedder(model_folder(), threads=threads)


def installed_model_ids() -> list[str]:
    """The ids of the installed models."""
    folder = model_folder()
    has_judge = (folder / MODEL).is_file()
    return [build_embedder().id, *([CrossEncoder(folder).id] if has_judge else [])]
