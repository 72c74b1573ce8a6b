"""A model hub on this machine: the few endpoints that the hub's client asks, with faults."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from tests.local_server import LocalServer

COMMIT = "c0ffee" + "0" * 34
# These are told with a SHA-256, as files in Git LFS are.
LARGE = (".onnx", ".onnx_data", ".safetensors", ".bin", ".model")


@dataclass
class Repository:
    """One revision of a repository: its files, and what is wrong with the hub's answers about it.

    `sent` replaces the bytes of a file, `told` what the hub says of it. A file in `cut` breaks off
    after so many bytes, and from then on there is the status `after_cut`, unless that is 0.
    """

    files: dict[str, bytes]
    commit: str = COMMIT
    licence: str = "mit"
    sent: dict[str, bytes] = field(default_factory=dict)
    told: dict[str, dict[str, Any]] = field(default_factory=dict)
    cut: dict[str, int] = field(default_factory=dict)
    after_cut: int = 503
    failing: set[str] = field(default_factory=set)

    def sibling(self, path: str) -> dict[str, Any]:
        """What the hub says of a file."""
        data = self.files[path]
        blob = hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()  # noqa: S324 git's name
        said: dict[str, Any] = {"rfilename": path, "size": len(data), "blobId": blob}
        if path.endswith(LARGE):
            digest = hashlib.sha256(data).hexdigest()
            said["lfs"] = {"sha256": digest, "size": len(data), "pointerSize": 134}
        return said | self.told.get(path, {})


def repository(folder: Path, **more: Any) -> Repository:  # noqa: ANN401
    """The files of a folder as a repository."""
    files = (file for file in folder.rglob("*") if file.is_file())
    return Repository(
        {file.relative_to(folder).as_posix(): file.read_bytes() for file in files}, **more
    )


class StandInHub(LocalServer):
    """Serves repositories by name; `asked` lists the paths and ranges of all requests."""

    def __init__(
        self, repositories: Mapping[str, Repository], error: tuple[int, str] = (0, "")
    ) -> None:
        """`error` is the status and error code with which every request is answered."""
        self.repositories, self.error = dict(repositories), error
        self.asked: list[tuple[str, str]] = []
        hub = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                hub.answer(self)

            def log_message(self, format: str, *args: object) -> None:
                """Write nothing."""

        super().__init__(ThreadingHTTPServer(("127.0.0.1", 0), Handler))

    @property
    def url(self) -> str:
        """The hub's address, for HF_ENDPOINT."""
        return f"http://{self.place}"

    def files_asked(self) -> list[str]:
        """The files that were downloaded, each as often as it was asked for."""
        return [
            path.split("/resolve/")[1].split("/", 1)[1]
            for path, _ in self.asked
            if "/resolve/" in path
        ]

    def answer(self, request: BaseHTTPRequestHandler) -> None:
        """Answer one request."""
        path = unquote(urlsplit(request.path).path)
        self.asked.append((path, request.headers.get("Range", "")))
        status, code = self.error
        if status:
            send(request, status, b"", {"X-Error-Code": code} if code else {})
        elif path.startswith("/api/models/"):
            self._describe(request, path.removeprefix("/api/models/"))
        else:
            self._send_file(request, path)

    def _describe(self, request: BaseHTTPRequestHandler, path: str) -> None:
        name, _, revision = path.partition("/revision/")
        found = self.repositories.get(name)
        if found is None:
            send(request, 401, b"{}", {"X-Error-Code": "RepoNotFound"})
        elif revision not in ("main", found.commit):
            send(request, 404, b"{}", {"X-Error-Code": "RevisionNotFound"})
        else:
            said = {
                "id": name,
                "sha": found.commit,
                "cardData": {"license": found.licence},
                "siblings": [found.sibling(file) for file in found.files],
            }
            send(request, 200, json.dumps(said).encode(), {})

    def _send_file(self, request: BaseHTTPRequestHandler, path: str) -> None:
        name, _, rest = path.removeprefix("/").partition("/resolve/")
        file = rest.partition("/")[2]
        found = self.repositories[name]
        if file in found.failing:
            send(request, found.after_cut, b"", {})
            return
        data = found.sent.get(file, found.files[file])
        start = int((request.headers.get("Range") or "bytes=0-").removeprefix("bytes=")[:-1])
        left = data[start:]
        more = {"Content-Range": f"bytes {start}-{len(data) - 1}/{len(data)}"} if start else {}
        if file not in found.cut:
            send(request, 206 if start else 200, left, more)
            return
        if found.after_cut:
            found.failing.add(file)
        kept = left[: found.cut.pop(file)]
        send(request, 206 if start else 200, kept, {**more, "Content-Length": str(len(left))})
        request.close_connection = True


def send(
    request: BaseHTTPRequestHandler, status: int, body: bytes, headers: Mapping[str, str]
) -> None:
    """Write a whole response."""
    request.send_response(status)
    for name, value in {"Content-Length": str(len(body)), **headers}.items():
        request.send_header(name, value)
    request.end_headers()
    request.wfile.write(body)
