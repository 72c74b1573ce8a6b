"""Where an embedded engine's inserts pass through a file."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rt4chart_collector.store.target import Target


@contextmanager
def inserts_staged(target: Target) -> Iterator[None]:
    """Let this process write an embedded engine's insert files beside its data, not in /tmp.

    What an earlier process left there when it was killed is removed. For the owner of the process
    alone: inside the block the folder is the process's folder for temporary files.
    """
    if not target.path:
        yield
        return
    folder = Path(target.path) / "rt4chart-inserts"
    folder.mkdir(mode=0o700, exist_ok=True)
    for left in folder.iterdir():
        left.unlink()
    before, tempfile.tempdir = tempfile.tempdir, str(folder)
    try:
        yield
    finally:
        tempfile.tempdir = before
