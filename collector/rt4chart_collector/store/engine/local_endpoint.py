"""The file that tells this user's commands where a running service's local API is."""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

ENDPOINT_FILE = "local-api"


@dataclass(frozen=True, slots=True)
class LocalEndpoint:
    """A port on 127.0.0.1, and the secret that opens it: a new one at each start."""

    port: int
    token: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)


@contextmanager
def published(folder: Path, endpoint: LocalEndpoint) -> Iterator[None]:
    """Keep the endpoint in the database's folder while the block runs.

    Only the folder's owner can read it, who could open the database itself if no service ran.
    """
    file = folder / ENDPOINT_FILE
    draft = file.with_name(f"{ENDPOINT_FILE}.{os.getpid()}")
    draft.unlink(missing_ok=True)
    with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as out:
        json.dump({"port": endpoint.port, "token": endpoint.token}, out)
    draft.replace(file)
    try:
        yield
    finally:
        file.unlink(missing_ok=True)


def read_endpoint(folder: Path) -> LocalEndpoint | None:
    """The endpoint that a service published there, None where no readable one is found."""
    try:
        found = json.loads((folder / ENDPOINT_FILE).read_text("utf-8"))
        return LocalEndpoint(int(found["port"]), str(found["token"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None
