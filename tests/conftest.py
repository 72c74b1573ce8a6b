"""What every test may use: one embedded engine for the process, a fresh database for each test."""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest
from hypothesis import settings

from rt4chart_collector.store.engine.connect import Client, connect
from rt4chart_collector.store.schema.migrate import migrate

# A slow machine is no failure.
settings.register_profile("rt4chart", deadline=None)
settings.load_profile("rt4chart")

_numbers = count(1)


@pytest.fixture(scope="session")
def store_dsn(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The one embedded database of this process: the engine allows a process a single path.

    It is held open meanwhile: the engine stops with its last client, and takes a while to start.
    """
    path: Path = tmp_path_factory.mktemp("chdb") / "db"
    with connect(f"chdb://{path}"):
        yield f"chdb://{path}"


@pytest.fixture(scope="session", params=["embedded", "server"])
def engine_dsn(request: pytest.FixtureRequest, store_dsn: str) -> str:
    """The DSN of each implementation of the store; the server's is there if it was given."""
    if request.param == "embedded":
        return store_dsn
    dsn = os.environ.get("RT4CHART_TEST_DSN", "")
    if not dsn:
        pytest.skip("no server: set RT4CHART_TEST_DSN=http://user:password@host:8123/database")
    return dsn


def fresh(dsn: str) -> Iterator[Client]:
    """A migrated database of its own, dropped at the end."""
    name = f"test_{os.getpid()}_{next(_numbers)}"
    with connect(dsn, database=name) as client:
        migrate(client)
        yield client
        client.command(f"DROP DATABASE {name}")


@pytest.fixture
def client(store_dsn: str) -> Iterator[Client]:
    """A migrated, empty embedded database."""
    yield from fresh(store_dsn)


@pytest.fixture
def any_client(engine_dsn: str) -> Iterator[Client]:
    """A migrated, empty database of each implementation."""
    yield from fresh(engine_dsn)
