"""The connection to the database: one client for the embedded engine and for servers."""

from __future__ import annotations

import logging
import struct
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from io import RawIOBase
from pathlib import Path
from types import TracebackType
from typing import Any, TypeAlias, TypeVar, cast

import clickhouse_connect
import urllib3
from clickhouse_connect.driver.client import Client as Driver
from clickhouse_connect.driver.exceptions import ClickHouseError
from clickhouse_connect.driver.query import QueryResult

from otel_rt4chart.core.errors import InputError, NoStoreError, StoreBusyError, StoreError
from rt4chart_collector.store.engine.dsn import Target, parse_dsn
from rt4chart_collector.store.engine.embedded_folder import (
    LocalEndpoint,
    check_free_space,
    connection_lock,
    count_connection,
    discount_connection,
    is_connected,
    is_locked,
    read_endpoint,
)
from rt4chart_collector.store.engine.engine_errors import store_error

# Limits of the embedded engine (chdb 4.4), on which this module depends: one process can have a
# path open, and a process can have one path. A child process made by fork() hangs at its first
# query. Each thread needs a connection of its own; all of them share the engine.
CONNECT_SECONDS = 10
# A local API answers at once, however many statements run. A statement is answered within two
# minutes, also where it was cancelled (`service.local_api`).
ANSWER_SECONDS, STATEMENT_SECONDS = 15, 150
# The settings of each connection to a cluster. Subqueries run over all shards instead of within
# each. A missing shard is an error: it must not make a number smaller. A write is stored when it
# returns, and reads prefer the replica that took it.
CLUSTER_SETTINGS = {
    "distributed_product_mode": "global",
    "prefer_global_in_and_join": "1",
    "distributed_foreground_insert": "1",
    "parallel_distributed_insert_select": "0",
    "skip_unavailable_shards": "0",
    "load_balancing": "in_order",
}
DISTRIBUTED_TABLE_COUNT = """
SELECT count() FROM system.tables
WHERE database = {name:String} AND name = 'otel_traces' AND engine = 'Distributed'
"""
# Reading this table writes /tmp/jemalloc_clickhouse.PID.NUMBER.heap. It comes back when the engine
# is opened again.
DROP_HEAP_PROFILE = "DROP TABLE IF EXISTS system.jemalloc_profile_text"
# What the driver raises where a Python value does not fit its column: a retry would not help.
VALUE_ERRORS = (TypeError, ValueError, OverflowError, AttributeError, struct.error)
# What reading a `stream` raises when it breaks off: a server's stream is a urllib3 response.
STREAM_ERRORS = (OSError, urllib3.exceptions.HTTPError, ClickHouseError)

Rows: TypeAlias = QueryResult
_Result = TypeVar("_Result")
logging.getLogger("clickhouse_connect").addHandler(logging.NullHandler())


class Client:
    """A connection for one thread; `sibling` opens another one.

    Unqualified table names belong to `database`. Every failure is a StoreError, or an InputError
    where a value does not fit its column.
    """

    def __init__(self, driver: Driver, target: Target, *, is_guest: bool = False) -> None:
        """Wrap a driver's connection; call `connect` instead.

        A guest's database belongs to a running service and is reached through its local API.
        """
        self._driver = driver
        self.target = target
        self.is_guest = is_guest
        self._is_open = True
        self._settings: dict[str, str] = {}

    @property
    def database(self) -> str:
        """The database of unqualified table names."""
        return self.target.database

    def query(
        self,
        query: str,
        parameters: Mapping[str, object] | None = None,
        *,
        settings: Mapping[str, object] | None = None,
    ) -> Rows:
        """Rows of a SELECT; values are passed as `{name:Type}` parameters, never in the text."""
        return self._call(
            lambda: self._driver.query(query, dict(parameters or {}), dict(settings or {}))
        )

    def command(self, statement: str, parameters: Mapping[str, object] | None = None) -> object:
        """Run a statement without a result set, or with a single value."""
        return self._call(lambda: self._driver.command(statement, dict(parameters or {})))

    def insert(
        self,
        table: str,
        data: Sequence[Sequence[Any]],
        column_names: Sequence[str],
        *,
        column_type_names: Sequence[str] | None = None,
        column_oriented: bool = False,
        settings: Mapping[str, object] | None = None,
    ) -> int:
        """Insert rows (or columns); returns their number when they are stored."""
        try:
            summary = self._call(
                lambda: self._driver.insert(
                    table,
                    data,
                    column_names=column_names,
                    column_type_names=column_type_names,
                    column_oriented=column_oriented,
                    settings=dict(settings or {}),
                )
            )
        except VALUE_ERRORS as error:
            raise InputError(f"a value does not fit its column of {table}: {error}") from error
        return int(summary.written_rows)

    def stream(
        self,
        query: str,
        parameters: Mapping[str, object] | None = None,
        *,
        settings: Mapping[str, object] | None = None,
    ) -> RawIOBase:
        """The bytes of a SELECT with a FORMAT; the embedded engine holds all of them in memory."""
        stream = self._call(
            lambda: self._driver.raw_stream(
                query, dict(parameters or {}), settings=dict(settings or {})
            )
        )
        return cast(RawIOBase, stream)

    def set_settings(self, settings: Mapping[str, str]) -> None:
        """Send these server settings with every statement from now on, by siblings as well."""
        for name, value in settings.items():
            self._call(partial(self._driver.set_client_setting, name, value))
        self._settings.update(settings)

    def use_database(self) -> None:
        """Resolve unqualified names in the target's database, which must exist."""
        self._driver.database = self.target.database

    def sibling(self) -> Client:
        """Another connection to the same database, for another thread."""
        opened = open_client(self.target)
        opened.set_settings(self._settings)
        return opened

    def close(self) -> None:
        """Close the connection; closing twice is harmless."""
        with connection_lock:
            self._driver.close()
            if self._is_open and self.target.path and not self.is_guest:
                discount_connection(self.target.path)
            self._is_open = False

    def __enter__(self) -> Client:
        """The client itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the connection."""
        self.close()

    def _call(self, call: Callable[[], _Result]) -> _Result:
        try:
            return call()
        except (ClickHouseError, OSError) as error:  # the embedded engine's inserts go by a file
            if self.is_guest and isinstance(error.__cause__, urllib3.exceptions.ReadTimeoutError):
                raise _silent_owner_error(self.target, STATEMENT_SECONDS) from error
            raise store_error(self.target.display_name, error) from error


def connect(
    dsn: str, *, database: str = "", as_owner: bool = False, creates: bool = True
) -> Client:
    """Open the database that the DSN names; creates a missing folder and database.

    `database` overrides the DSN's. `migrate` creates the tables. A path that a running service owns
    is reached through that service, unless `as_owner` asks for the path itself. Raises
    SettingsError for an invalid DSN, StoreBusyError where another process owns the path and has no
    local API, NoStoreError for a missing database unless it `creates` one, else StoreError.
    """
    return open_client(parse_dsn(dsn, database=database), as_owner=as_owner, creates=creates)


def open_client(target: Target, *, as_owner: bool = False, creates: bool = True) -> Client:
    """Open a connection to the target and make sure that its database exists."""
    client = _connect_target(target, as_owner, creates)
    try:
        return _enter_database(client, creates)
    except StoreError:
        client.close()
        raise


def _connect_target(target: Target, as_owner: bool, creates: bool) -> Client:
    if not target.path:
        return Client(_open_server(target), target)
    with connection_lock:
        is_guest = not is_connected(target.path) and is_locked(target.path)
        if is_guest and as_owner:
            raise path_busy_error(target)
        driver = _open_local_api(target) if is_guest else _open_embedded(target, creates)
        return Client(driver, target, is_guest=is_guest)


def _enter_database(client: Client, creates: bool) -> Client:
    """Make the target's database the one of unqualified names."""
    name, is_server = client.database, bool(client.target.scheme)
    databases = client.query(
        "SELECT count() FROM system.databases WHERE name = {name:String}", {"name": name}
    )
    if databases.result_rows == [(0,)]:
        if not creates:
            raise NoStoreError(f"{client.target.display_name}: expected this database, found none")
        client.command(f"CREATE DATABASE IF NOT EXISTS {name}")
    client.use_database()
    if is_server and client.query(DISTRIBUTED_TABLE_COUNT, {"name": name}).result_rows != [(0,)]:
        client.set_settings(CLUSTER_SETTINGS)
    return client


def _open_embedded(target: Target, creates: bool) -> Driver:
    if not creates and not (Path(target.path) / "metadata").is_dir():
        raise NoStoreError(f"{target.display_name}: expected a database in this folder, found none")
    try:
        Path(target.path).mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(f"RT4CHART_DSN: cannot create {target.path}: {error.strerror}") from error
    if creates and not is_connected(target.path):
        check_free_space(target.path)
    try:
        driver = clickhouse_connect.get_client(interface="chdb", path=target.path)
        if not is_connected(target.path):
            driver.command(DROP_HEAP_PROFILE)
    except ClickHouseError as error:
        if not is_connected(target.path) and is_locked(target.path):
            raise path_busy_error(target) from error
        raise StoreError(
            f"{target.display_name}: {error}\n"
            f"the database in {target.path} cannot be opened; if its files are damaged, "
            "restore a backup (docs/deploy/layouts.md), or name another folder in RT4CHART_DSN"
        ) from error
    count_connection(target.path)
    return driver


def _open_local_api(target: Target) -> Driver:
    """A connection through the local API of the service that owns the path."""
    endpoint = read_endpoint(Path(target.path))
    if endpoint is None:
        raise path_busy_error(target)
    try:
        if _is_silent(endpoint):
            raise _silent_owner_error(target, ANSWER_SECONDS)
        return open_endpoint(endpoint)
    except (ClickHouseError, urllib3.exceptions.HTTPError) as error:
        # It may have been stopped in between.
        if _is_silent(endpoint):
            raise _silent_owner_error(target, ANSWER_SECONDS) from error
        raise path_busy_error(target) from error


def _is_silent(endpoint: LocalEndpoint) -> bool:
    """True where the process accepts a connection and sends nothing.

    The system accepts connections for a stopped process, so that only an answer shows that it runs;
    a refusal is one, too.
    """
    timeout = urllib3.Timeout(connect=CONNECT_SECONDS, read=ANSWER_SECONDS)
    with urllib3.PoolManager(timeout=timeout, retries=False) as pool:
        try:
            pool.request("GET", f"http://127.0.0.1:{endpoint.port}/")
        except urllib3.exceptions.ReadTimeoutError:
            return True
        except urllib3.exceptions.HTTPError:
            return False
    return False


def _silent_owner_error(target: Target, seconds: int) -> StoreError:
    endpoint = read_endpoint(Path(target.path))
    process = endpoint.process if endpoint and endpoint.process else "PID"
    return StoreError(
        f"the service that owns {target.path} does not answer: process {process} accepted a "
        f"connection and sent nothing for {seconds} s; `ps -o stat,cmd -p {process}` shows its "
        f"state: if it is T, the process is stopped, and `kill -CONT {process}` lets it go on; "
        "otherwise restart the service"
    )


def open_endpoint(endpoint: LocalEndpoint) -> Driver:
    """Connect a driver to a local API; raises ClickHouseError."""
    return clickhouse_connect.get_client(
        host="127.0.0.1",
        port=endpoint.port,
        access_token=endpoint.token,
        compress=False,  # over the loopback, compression costs more than it saves
        connect_timeout=CONNECT_SECONDS,
        send_receive_timeout=STATEMENT_SECONDS,
        autogenerate_session_id=False,
        form_encode_query_params=True,
        pool_mgr=FormPool(),
    )


class FormPool(urllib3.PoolManager):
    """Connections, never through a proxy, that send fields as a URL-encoded form."""

    def request(self, *args: Any, **kwargs: Any) -> urllib3.BaseHTTPResponse:  # noqa: ANN401
        """Send a request as the base class does, but without multipart."""
        return super().request(*args, encode_multipart=False, **kwargs)


def path_busy_error(target: Target) -> StoreBusyError:
    """The error for a path that another process owns."""
    return StoreBusyError(
        f"another process owns {target.path}; stop it, or point RT4CHART_DSN at a ClickHouse "
        "server (http://user:password@host:8123/database); commands use a running `rt4chart up` "
        "once it is ready"
    )


def _open_server(target: Target) -> Driver:
    try:
        return clickhouse_connect.get_client(
            interface=target.scheme,
            host=target.host,
            port=target.port,
            username=target.username,
            password=target.password,
            connect_timeout=CONNECT_SECONDS,
            # A session allows one query at a time: a second one would fail as "session is locked".
            autogenerate_session_id=False,
            # Parameters such as lists of trace ids exceed the length that servers allow in a URL.
            form_encode_query_params=True,
        )
    except ClickHouseError as error:
        raise StoreError(
            f"RT4CHART_DSN: no answer from a ClickHouse server at {target.display_name}: {error}"
        ) from error
