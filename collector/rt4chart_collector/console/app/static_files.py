"""Style sheets and scripts: the console's own, and Plotly from its installed package."""

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
    """The files of some folders by name. URLs change with the content, so clients may cache it."""

    def __init__(self, folders: Sequence[Path]) -> None:
        """On equal names, a file of a later folder replaces that of an earlier one."""
        self._files = {
            path.name: path
            for folder in folders
            for path in sorted(folder.iterdir())
            if path.suffix in KINDS
        }

    def url(self, name: str) -> str:
        """The URL of a file."""
        mark = version("plotly") if name == PLOTLY else _digest(self._files[name])
        return f"/static/{name}?{mark}"

    def routes(self) -> list[Route]:
        """GET /static/NAME."""
        return [Route("/static/{name}", self._give, methods=["GET"])]

    def _give(self, request: Request) -> Response:
        name = request.path_params["name"]
        path = plotly_file() if name == PLOTLY else self._files.get(name)
        if path is None:
            raise HTTPException(404, "expected the name of a static file of the console")
        headers = {"cache-control": "max-age=31536000, immutable", "vary": "Accept-Encoding"}
        if "gzip" in request.headers.get("accept-encoding", ""):
            headers["content-encoding"] = "gzip"
            return Response(_gzipped(path), headers=headers, media_type=KINDS[path.suffix])
        return Response(path.read_bytes(), headers=headers, media_type=KINDS[path.suffix])


@cache
def plotly_file() -> Path | None:
    """plotly.min.js of the installed package, found without importing it."""
    found = find_spec("plotly")
    if found is None or found.origin is None:
        return None
    return Path(found.origin).parent / "package_data/plotly.min.js"


@cache
def plotly_style_id() -> str:
    """The id of the inline style that plotly.js adds for maps unless an element has that id.

    The content security policy forbids inline styles, and no page has a map.
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
