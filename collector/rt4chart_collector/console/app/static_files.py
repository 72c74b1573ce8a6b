"""Styles and scripts: our own, and plotly's from its installed package."""

from __future__ import annotations

import gzip
import hashlib
import re
from collections.abc import Sequence
from functools import cache
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

FOLDER = Path(__file__).parent / "static"
KINDS = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
PLOTLY = "plotly.js"
STYLE_ID = re.compile(r'document\.getElementById\("([0-9a-f]{40,128})"\)')


class StaticFiles:
    """The files of some folders by name; `url` changes with the content, so that it may be kept."""

    def __init__(self, folders: Sequence[Path]) -> None:
        """Later folders add names."""
        self._files = {
            path.name: path
            for folder in folders
            for path in sorted(folder.iterdir())
            if path.suffix in KINDS
        }

    def url(self, name: str) -> str:
        """Where a page finds the file."""
        mark = version("plotly") if name == PLOTLY else _digest(self._files[name])
        return f"/static/{name}?{mark}"

    def routes(self) -> list[Route]:
        """GET /static/NAME."""
        return [Route("/static/{name}", self._give, methods=["GET"])]

    def _give(self, request: Request) -> Response:
        name = request.path_params["name"]
        path = plotly_file() if name == PLOTLY else self._files.get(name)
        if path is None:
            raise HTTPException(404, "expected the name of a file of the console")
        headers = {"cache-control": "max-age=31536000, immutable", "vary": "Accept-Encoding"}
        if "gzip" in request.headers.get("accept-encoding", ""):
            headers["content-encoding"] = "gzip"
            return Response(_gzipped(path), headers=headers, media_type=KINDS[path.suffix])
        return Response(path.read_bytes(), headers=headers, media_type=KINDS[path.suffix])


@cache
def plotly_file() -> Path | None:
    """plotly.min.js of the package, which is not imported for it."""
    found = find_spec("plotly")
    if found is None or found.origin is None:
        return None
    return Path(found.origin).parent / "package_data/plotly.min.js"


@cache
def plotly_style_id() -> str:
    """The id of a style that plotly.js writes for maps, unless an element of that id is there.

    The policy forbids that style, and no page has such a map.
    """
    path = plotly_file()
    found = STYLE_ID.search(path.read_text()) if path else None
    return found.group(1) if found else "plotly-maps"


@cache
def _gzipped(path: Path) -> bytes:
    return gzip.compress(path.read_bytes(), 6, mtime=0)


@cache
def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()[:10]
