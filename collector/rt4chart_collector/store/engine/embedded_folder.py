"""The folder of an embedded database: its lock, its insert files, and its service's local API."""

from __future__ import annotations

import fcntl
import json
import os
import secrets
import stat
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from threading import RLock

from otel_rt4chart.core.errors import StoreError

MIB = 2**20
# Below this, the engine reserves no room for an insert. A table that is created while the disk is
# full leaves an empty file, with which the engine does not open the database again.
MIN_FREE_BYTES = 32 * MIB
# Held while a connection opens or closes, so that `is_connected` does not change meanwhile.
connection_lock = RLock()
_connections: Counter[str] = Counter()


def is_locked(path: str) -> bool:
    """Whether any process has the path open; the engine's own error for that has no text."""
    status = Path(path) / "status"
    if not status.exists():
        return False
    try:
        with status.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False


def check_free_space(path: str, expected: int = MIN_FREE_BYTES) -> None:
    """StoreError if the file system of the folder has no room for the database."""
    disk = os.statvfs(path)
    free = disk.f_bavail * disk.f_frsize
    if free < expected:
        raise StoreError(
            f"RT4CHART_DSN: expected at least {expected // MIB} MiB free on the file system of "
            f"{path}, got {free / MIB:.1f} MiB; free some space (`df -h {path}` shows it), or name "
            "a folder on another file system"
        )


def folder_warning(path: str) -> str:
    """What is wrong with the permissions of the folder of a database; "" for nothing.

    A group may write: Kubernetes shares volumes so.
    """
    mode = stat.S_IMODE(os.stat(path).st_mode) if path else 0
    if not mode & stat.S_IWOTH:
        return ""
    return (
        f"every user of this machine can write to {path} (mode {mode:04o}), and so replace the "
        f"database and what commands trust: chmod o-w {path}"
    )


def _not_writable(folder: Path, error: OSError) -> StoreError:
    return StoreError(
        f"RT4CHART_DSN: cannot write to {folder}: {error.strerror}; the folder of the database "
        "must be writable and its file system must have room"
    )


def count_connection(path: str) -> None:
    """Count one more connection of this process to the path."""
    with connection_lock:
        _connections[path] += 1


def discount_connection(path: str) -> None:
    """Count one connection less; the engine releases the path with the last one."""
    with connection_lock:
        _connections[path] -= 1


def is_connected(path: str) -> bool:
    """Whether this process has a connection to the path."""
    with connection_lock:
        return _connections[path] > 0


@contextmanager
def staged_inserts(path: str) -> Iterator[None]:
    """Write the insert files of the embedded engine beside its data instead of in /tmp.

    The driver writes every insert to a file, from which the engine reads it. /tmp may be small.
    Files that a killed process left there are removed. Inside the block, all temporary files of
    this process go to that folder. An empty path (a server) changes nothing.
    """
    if not path:
        yield
        return
    folder = Path(path) / "rt4chart-inserts"
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        for file in folder.iterdir():
            file.unlink()
    except OSError as error:
        raise _not_writable(folder, error) from error
    before, tempfile.tempdir = tempfile.tempdir, str(folder)
    try:
        yield
    finally:
        tempfile.tempdir = before


ENDPOINT_FILE = "local-api"


@dataclass(frozen=True, slots=True)
class LocalEndpoint:
    """A port on 127.0.0.1, its access token, which is new at each start, and its process.

    `process` is 0 where an earlier version published the endpoint.
    """

    port: int
    token: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)
    process: int = field(default_factory=os.getpid)


@contextmanager
def published_endpoint(folder: Path, endpoint: LocalEndpoint) -> Iterator[None]:
    """Keep the endpoint in a file in the database's folder while the block runs.

    Only the owner of the folder can read the file; that user could also open the database itself.
    """
    file = folder / ENDPOINT_FILE
    draft = file.with_name(f"{ENDPOINT_FILE}.{os.getpid()}")
    try:
        draft.unlink(missing_ok=True)
        with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as out:
            json.dump(asdict(endpoint), out)
        draft.replace(file)
    except OSError as error:
        raise _not_writable(folder, error) from error
    try:
        yield
    finally:
        file.unlink(missing_ok=True)


def read_endpoint(folder: Path) -> LocalEndpoint | None:
    """The endpoint that a service published in the folder; None where none is readable."""
    try:
        found = json.loads((folder / ENDPOINT_FILE).read_text("utf-8"))
        process = int(found["process"]) if "process" in found else 0
        return LocalEndpoint(int(found["port"]), str(found["token"]), process)
    except (OSError, ValueError, KeyError, TypeError):
        return None
