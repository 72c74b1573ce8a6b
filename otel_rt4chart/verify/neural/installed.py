"""The models that come with the package rt4chart-models: whether they are there, and where."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from otel_rt4chart.errors import SettingsError

PACKAGES = ("onnxruntime", "tokenizers", "numpy", "rt4chart_models")


def missing() -> list[str]:
    """The packages that the embedded models need and that are not installed."""
    return [name for name in PACKAGES if not _is_installed(name)]


def model_folder() -> Path:
    """Where the models lie; SettingsError says how to install what is missing."""
    lacking = missing()
    if lacking:
        raise SettingsError(
            f"the embedded models need the package {', '.join(lacking)}: "
            "pip install ./otel-rt4chart/models './otel-rt4chart[local]'"
        )
    import rt4chart_models

    return rt4chart_models.folder()


def _is_installed(name: str) -> bool:
    try:
        return find_spec(name) is not None
    except ValueError:  # what a test or an application put in its place has no spec
        return False
