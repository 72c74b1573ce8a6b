"""The batch side's settings, from the environment."""

from __future__ import annotations

import os
from collections.abc import Mapping

from rt4chart_collector.store.location import default_dsn


def dsn(environ: Mapping[str, str] = os.environ) -> str:
    """RT4CHART_DSN, else the embedded database in the user's data folder."""
    return environ.get("RT4CHART_DSN") or default_dsn(environ)
