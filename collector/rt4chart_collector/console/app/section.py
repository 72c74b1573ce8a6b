"""A section of the console, which any installed package can add."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

if TYPE_CHECKING:
    from rt4chart_collector.console.app.console import Console

TEMPLATES = Path(__file__).parent / "templates"
Handler: TypeAlias = "Callable[[Console, Request], Response]"


@dataclass(frozen=True, slots=True)
class Section:
    """A navigation entry with its pages, named by an entry point of "rt4chart.console".

    `routes` returns the pages; a sync endpoint runs in a thread with a time limit. `templates` is
    the section's own folder; its pages also find the shared templates. The templates of all
    sections share one namespace, so file names start with the section's name. A section with an
    empty title has no navigation entry. `finder` is the path of a page that finds others for the
    palette (`?q=`): a JSON list of `text`, `note` and `url`. `reading_forms` are the paths whose
    forms change nothing: whoever may read may send them.
    """

    title: str
    path: str
    routes: Callable[[Console], Sequence[BaseRoute]]
    templates: Path
    order: int = 50
    static: Path | None = None
    reading_forms: frozenset[str] = frozenset()
    finder: str = ""


def page_routes(*pages: tuple[str, str, Handler]) -> Callable[[Console], Sequence[BaseRoute]]:
    """The `routes` of a section from (method, path, handler) of each of its pages."""

    def routes(console: Console) -> Sequence[BaseRoute]:
        return [
            Route(path, partial(handler, console), methods=[method])
            for method, path, handler in pages
        ]

    return routes
