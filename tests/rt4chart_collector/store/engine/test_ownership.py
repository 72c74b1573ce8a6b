"""Whose an embedded path is: a service's for its life, others' for a moment."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from otel_rt4chart.core.errors import NoStoreError, StoreBusyError
from rt4chart_collector.store.engine.connect import Client, connect
from rt4chart_collector.store.engine.dsn import parse_dsn
from rt4chart_collector.store.engine.ownership import (
    blocks_owner,
    connect_briefly,
    is_claimed_elsewhere,
    own_path,
)

OWNER = """
import sys
from rt4chart_collector.store.engine.ownership import own_path
with own_path(sys.argv[1]):
    print("ready", flush=True)
    sys.stdin.read()
"""


@contextmanager
def another_owner(dsn: str) -> Iterator[None]:
    """A process that is about to own the path."""
    with subprocess.Popen(
        [sys.executable, "-c", OWNER, dsn], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as owner:
        assert owner.stdout is not None
        assert owner.stdin is not None
        assert owner.stdout.readline() == "ready\n"
        yield
        owner.stdin.close()


def test_path_that_a_service_wants_is_not_opened(tmp_path: Path) -> None:
    """Before the service has it as well; a second service is told at once."""
    dsn = f"chdb://{tmp_path / 'db'}"
    with another_owner(dsn):
        assert is_claimed_elsewhere(parse_dsn(dsn))
        with pytest.raises(StoreBusyError, match="another process owns"):
            connect_briefly(dsn)
        with pytest.raises(StoreBusyError), own_path(dsn):
            pass

    assert not is_claimed_elsewhere(parse_dsn(dsn))


def test_nothing_is_made_where_nothing_is(tmp_path: Path) -> None:
    """Neither a folder nor a database in one that has other things."""
    for path in (tmp_path / "gone", tmp_path):
        with pytest.raises(NoStoreError, match="expected a database"):
            connect_briefly(f"chdb://{path}")

    assert list(tmp_path.iterdir()) == []


def test_own_path_is_not_lent(client: Client) -> None:
    """A service's own console keeps its connections; a server has no path to give back."""
    dsn = f"chdb://{client.target.path}"
    assert blocks_owner(client)
    with own_path(dsn):
        assert not is_claimed_elsewhere(client.target)
        assert not blocks_owner(client)
        with connect(dsn) as own:
            assert not blocks_owner(own)
    assert not is_claimed_elsewhere(parse_dsn("http://localhost:8123"))
