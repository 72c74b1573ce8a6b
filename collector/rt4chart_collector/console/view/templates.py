"""The Jinja environment of the console and of the HTML report."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from rt4chart_collector.console.view.charts import figure_text
from rt4chart_collector.console.view.filters import FILTERS, finalize


def template_environment(folders: Sequence[Path]) -> Environment:
    """The templates in these folders; values are escaped, and an undefined one is an error."""
    environment = Environment(
        loader=FileSystemLoader(list(dict.fromkeys(str(folder) for folder in folders))),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=finalize,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    environment.filters.update(FILTERS, figure_json=figure_text)
    return environment
