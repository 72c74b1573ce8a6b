"""A section of the console, which any installed package can add."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from starlette.routing import BaseRoute

if TYPE_CHECKING:
    from rt4chart_collector.console.app.console import Console

TEMPLATES = Path(__file__).parent / "templates"


@dataclass(frozen=True, slots=True)
class Section:
    """A navigation entry with its pages, named by an entry point of "rt4chart.console".

    `routes` returns the pages; a sync endpoint runs in a thread with a time limit. `templates` is
    the section's own folder; its pages also find the shared templates. The templates of all
    sections share one namespace, so file names start with the section's name. A section with an
    empty title has no navigation entry.
    """

    title: str
    path: str
    routes: Callable[[Console], Sequence[BaseRoute]]
    templates: Path
    order: int = 50
    static: Path | None = None
