"""Shared fixtures: one embedded engine for a process, an empty database for a test."""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest
from hypothesis import settings

from rt4chart_collector.store.engine.connect import Client, connect
from rt4chart_collector.store.engine.dsn import DEFAULT_DATABASE
from rt4chart_collector.store.rates.rollup import complete_from
from rt4chart_collector.store.schema.migrate import LEDGER_TABLE, migrate
from tests.slow_tests import slow_tests

# A slow machine is no failure.
settings.register_profile("rt4chart", deadline=None)
settings.load_profile("rt4chart")

_numbers = count(1)
# A ClickHouse server for the tests of the store: http://user:password@host:8123/database.
SERVER = os.environ.get("RT4CHART_TEST_DSN", "")
CREATED = "SELECT create_table_query FROM system.tables WHERE database = {db:String} ORDER BY name"


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the slow tests, and run those that start processes first.

    They take the longest: one that began last would leave the other workers idle.
    """
    slow = slow_tests()
    for item in items:
        if item.nodeid.partition("[")[0] in slow:
            item.add_marker("slow")
    items.sort(key=lambda item: item.get_closest_marker("e2e") is None)


class ReusedDatabase:
    """One migrated database, emptied for each test: a migration costs as much as 50 `TRUNCATE`s.

    What a test altered, added or dropped is noticed; the database is then made anew.
    """

    def __init__(self, dsn: str, name: str) -> None:
        """Nothing is opened or made yet."""
        self._dsn = dsn
        self._name = name
        self._made: object = None

    def emptied(self) -> Iterator[Client]:
        """A connection to the database, which has this version's tables and no rows."""
        with connect(self._dsn, database=self._name) as client:
            if self._made is not None and self._made == self._schema(client):
                client.command(f"TRUNCATE ALL TABLES FROM {self._name} NOT LIKE '{LEDGER_TABLE}'")
            else:
                client.command(f"DROP DATABASE {self._name}")
                client.command(f"CREATE DATABASE {self._name}")
                migrate(client)
                self._made = self._schema(client)
            # As a service does at its start: a test is the same first in a process and later.
            complete_from(client, 0)
            yield client

    def drop(self) -> None:
        """Remove the database."""
        with connect(self._dsn, database=self._name) as client:
            client.command(f"DROP DATABASE {self._name}")

    def _schema(self, client: Client) -> object:
        """What changes with every table made, altered or dropped.

        The embedded engine's files tell it in 0.2 ms, and to the nanosecond; asking takes 27 ms.
        """
        if not client.target.path:
            return client.query(CREATED, {"db": self._name}).result_rows
        files = Path(client.target.path, "metadata", self._name).iterdir()
        return sorted((file.name, file.stat().st_mtime_ns) for file in files)


@pytest.fixture(scope="session")
def store_dsn(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The one embedded database of this process: the engine allows a process a single path.

    It is held open meanwhile: the engine stops with its last client, and takes a while to start.
    """
    path: Path = tmp_path_factory.mktemp("chdb") / "db"
    with connect(f"chdb://{path}"):
        yield f"chdb://{path}"


@pytest.fixture(scope="session", params=["embedded", "server"] if SERVER else ["embedded"])
def engine_dsn(request: pytest.FixtureRequest, store_dsn: str) -> str:
    """The DSN of each implementation of the store; the server's where it was given."""
    return store_dsn if request.param == "embedded" else SERVER


@pytest.fixture(scope="session")
def embedded_database(store_dsn: str) -> ReusedDatabase:
    """The database that a command finds at `store_dsn`."""
    return ReusedDatabase(store_dsn, DEFAULT_DATABASE)


@pytest.fixture(scope="session")
def any_database(
    engine_dsn: str, store_dsn: str, embedded_database: ReusedDatabase
) -> Iterator[ReusedDatabase]:
    """The database of each implementation; a server is shared, so its name is this process's."""
    if engine_dsn == store_dsn:
        yield embedded_database
    else:
        database = ReusedDatabase(engine_dsn, f"test_{os.getpid()}")
        yield database
        database.drop()


@pytest.fixture
def client(embedded_database: ReusedDatabase) -> Iterator[Client]:
    """A migrated, empty embedded database."""
    yield from embedded_database.emptied()


@pytest.fixture
def any_client(any_database: ReusedDatabase) -> Iterator[Client]:
    """A migrated, empty database of each implementation."""
    yield from any_database.emptied()


@pytest.fixture
def dsn(client: Client) -> str:
    """What a command takes as --dsn to reach the database of `client`."""
    return client.target.display_name


def fresh(dsn: str) -> Iterator[Client]:
    """A migrated database of its own, dropped at the end: for a whole module's tests."""
    name = f"test_{os.getpid()}_{next(_numbers)}"
    with connect(dsn, database=name) as client:
        migrate(client)
        yield client
        client.command(f"DROP DATABASE {name}")
