"""The batch side's settings, from the environment."""

from __future__ import annotations

import os
from collections.abc import Mapping

from otel_rt4chart.errors import SettingsError
from rt4chart_collector.store.location import default_dsn

EMBEDDERS = ("hashing", "local")


def dsn(environ: Mapping[str, str] = os.environ) -> str:
    """RT4CHART_DSN, else the embedded database in the user's data folder."""
    return environ.get("RT4CHART_DSN") or default_dsn(environ)


def embedder(environ: Mapping[str, str] = os.environ) -> str:
    """RT4CHART_EMBEDDER: what lays failures beside each other, by words or by meaning."""
    name = environ.get("RT4CHART_EMBEDDER", "").strip() or EMBEDDERS[0]
    if name not in EMBEDDERS:
        raise SettingsError(
            f"RT4CHART_EMBEDDER: expected one of {', '.join(EMBEDDERS)}, got {name!r}"
        )
    return name
