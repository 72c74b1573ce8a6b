"""The folder of an embedded database: which process holds it, and where its inserts pass."""

from __future__ import annotations

import fcntl
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import RLock

# Held while a connection is opened or closed, so that `is_held` does not change meanwhile.
turn = RLock()
_held: Counter[str] = Counter()


def is_owned(path: str) -> bool:
    """True where a process holds the path; the engine reports that with an empty message."""
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


def held(path: str) -> None:
    """Note one more connection of this process to the path."""
    with turn:
        _held[path] += 1


def let_go(path: str) -> None:
    """Note one less; with the last the engine gives the path back."""
    with turn:
        _held[path] -= 1


def is_held(path: str) -> bool:
    """True while this process has a connection to the path."""
    with turn:
        return _held[path] > 0


@contextmanager
def inserts_staged(path: str) -> Iterator[None]:
    """Write the insert files of the embedded engine beside its data instead of in /tmp.

    Files that a killed process left there are removed. Inside the block the folder is the folder
    for temporary files of the whole process. An empty path, a server's, changes nothing.
    """
    if not path:
        yield
        return
    folder = Path(path) / "rt4chart-inserts"
    folder.mkdir(mode=0o700, exist_ok=True)
    for left in folder.iterdir():
        left.unlink()
    before, tempfile.tempdir = tempfile.tempdir, str(folder)
    try:
        yield
    finally:
        tempfile.tempdir = before
