"""Whether an embedded database is in use, by this process or another."""

from __future__ import annotations

import fcntl
from collections import Counter
from pathlib import Path
from threading import RLock

# Held while a connection is opened or closed: the path is this process's own, or it is not.
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
