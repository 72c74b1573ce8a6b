"""The extras of the distribution, and which of their packages this environment lacks."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec

# The modules that show whether an extra is installed.
EXTRAS: Mapping[str, tuple[str, ...]] = {
    "openai": ("openai",),
    "collector": ("clickhouse_connect", "chdb", "starlette", "uvicorn", "opentelemetry.proto"),
    "clustering": ("sklearn", "numpy"),
    "local": ("onnxruntime", "tokenizers", "numpy", "rt4chart_models"),
    "hub": ("huggingface_hub",),
}


def missing_packages(extra: str) -> list[str]:
    """The modules of the extra that are not installed; nothing is imported."""
    return [name for name in EXTRAS.get(extra, ()) if not _is_installed(name)]


def _is_installed(name: str) -> bool:
    try:
        return find_spec(name) is not None
    except ModuleNotFoundError:  # of the package that the module is in
        return False
