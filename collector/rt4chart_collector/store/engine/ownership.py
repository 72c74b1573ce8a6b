"""Ownership of an embedded database: a service's for its lifetime, other processes' briefly.

Only one process can open the path. A service locks the file `access-owner` in the database's folder
before it opens the path, and until it exits. A process that has the path open briefly sees the lock
and closes its connection.
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from otel_rt4chart.core.deadline import Deadline
from otel_rt4chart.core.errors import StoreBusyError, StoreError
from rt4chart_collector.store.engine.connect import Client, connect, open_client, path_busy_error
from rt4chart_collector.store.engine.dsn import Target, parse_dsn
from rt4chart_collector.store.engine.embedded_folder import read_endpoint

OWNER_FILE = "access-owner"
# Other processes take the lock for a moment to check for an owner; an owner waits this long.
LOCK_WAIT_S = 1.0
# The owner waits as long as a console page may hold the path, and retries after each pause.
OWNER_WAIT_S, RETRY_PAUSE_S = 20.0, 0.1
_owned_paths: set[str] = set()


@contextmanager
def own_path(dsn: str) -> Iterator[None]:
    """Claim the path for this process while the block runs; a server needs no owner.

    Raises StoreBusyError where another process has claimed it.
    """
    target = parse_dsn(dsn)
    if not target.path:
        yield
        return
    try:
        Path(target.path).mkdir(mode=0o700, parents=True, exist_ok=True)
        file = os.open(Path(target.path) / OWNER_FILE, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise StoreError(f"RT4CHART_DSN: cannot create {target.path}: {error.strerror}") from error
    try:
        _lock(file, target)
        _owned_paths.add(target.path)
        yield
    finally:
        _owned_paths.discard(target.path)
        os.close(file)


def connect_owner(dsn: str) -> Client:
    """Connect as the owner; waits for a process that has the path open briefly.

    Raises StoreBusyError where that process does not close it in time.
    """
    deadline = Deadline(OWNER_WAIT_S)
    while True:
        try:
            return connect(dsn, as_owner=True)
        except StoreBusyError:
            if deadline.is_over:
                raise
            time.sleep(RETRY_PAUSE_S)


def connect_briefly(dsn: str) -> Client:
    """Connect for a moment; never opens a path that a service owns or is about to own.

    Creates nothing: raises NoStoreError for a missing database. Close the connection when
    `is_claimed_elsewhere` turns true.
    """
    target = parse_dsn(dsn)
    if is_claimed_elsewhere(target) and read_endpoint(Path(target.path)) is None:
        raise path_busy_error(target)
    return open_client(target, creates=False)


def is_claimed_elsewhere(target: Target) -> bool:
    """Whether a service in another process owns the path or is about to."""
    if not target.path or target.path in _owned_paths:
        return False
    try:
        with (Path(target.path) / OWNER_FILE).open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False


def blocks_owner(client: Client) -> bool:
    """Whether this connection keeps a service from opening the path, and should be closed."""
    return (
        bool(client.target.path) and not client.is_guest and client.target.path not in _owned_paths
    )


def _lock(file: int, target: Target) -> None:
    deadline = Deadline(LOCK_WAIT_S)
    while True:
        try:
            return fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if deadline.is_over:
                raise path_busy_error(target) from None
            time.sleep(RETRY_PAUSE_S)
