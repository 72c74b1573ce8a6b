"""Where the embedded database lies unless somebody says otherwise, and whether it is in use."""

from __future__ import annotations

import fcntl
from collections.abc import Mapping
from pathlib import Path


def data_folder(environ: Mapping[str, str]) -> Path:
    """This project's folder in the user's data (XDG Base Directory Specification)."""
    data = environ.get("XDG_DATA_HOME", "")
    # The specification: a relative path is invalid and to be ignored.
    return (Path(data) if data.startswith("/") else Path.home() / ".local/share") / "rt4chart"


def default_dsn(environ: Mapping[str, str]) -> str:
    """The embedded database in the user's data folder."""
    return f"chdb://{data_folder(environ) / 'db'}"


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
