"""What a package adds to the console: an entry of the navigation with its pages."""

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
    """One entry of the navigation; the entry points of "rt4chart.console" name values of this.

    `routes` gives the pages; a sync endpoint is run in a thread, bounded in time. `templates` is a
    folder whose files' names begin with the section's. An empty title has no entry.
    """

    title: str
    path: str
    routes: Callable[[Console], Sequence[BaseRoute]]
    templates: Path = TEMPLATES
    order: int = 50
    static: Path | None = None
