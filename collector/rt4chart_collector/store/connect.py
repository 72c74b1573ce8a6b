"""The connection: one client for the embedded engine and for a server, and its errors in ours."""

from __future__ import annotations

import logging
import os
import re
import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from io import RawIOBase
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar, cast
from urllib.parse import unquote, urlsplit

import clickhouse_connect
import urllib3
from clickhouse_connect.driver.client import Client as Driver
from clickhouse_connect.driver.exceptions import ClickHouseError
from clickhouse_connect.driver.query import QueryResult

from otel_rt4chart.errors import InputError, NoStoreError, SettingsError, StoreBusyError, StoreError
from rt4chart_collector.store.access.address import address_in
from rt4chart_collector.store.cluster import CONNECTION, IS_CLUSTER
from rt4chart_collector.store.location import is_owned

DEFAULT_DATABASE = "otel"
EXPECTED = (
    "RT4CHART_DSN: expected chdb:///absolute/path (embedded) or "
    "http://user:password@host:8123/database (a ClickHouse server)"
)
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
CONNECT_SECONDS = 10
# What the driver raises where a Python value does not fit its column: trying again will not help.
UNFIT = (TypeError, ValueError, OverflowError, AttributeError, struct.error)
# What reading a `stream` raises where it breaks off: the driver hands out urllib3's answer.
BROKEN = (OSError, urllib3.exceptions.HTTPError)

_Result = TypeVar("_Result")
_opened: set[str] = set()
logging.getLogger("clickhouse_connect").addHandler(logging.NullHandler())


@dataclass(frozen=True, slots=True)
class Target:
    """What a DSN names: `path` is set for the embedded engine, the rest for a server."""

    database: str
    path: str = ""
    scheme: str = ""
    host: str = ""
    port: int | None = None
    username: str | None = None
    password: str = ""

    @property
    def shown(self) -> str:
        """The target for people's eyes: without user and password."""
        if self.path:
            return f"chdb://{self.path}"
        return f"{self.scheme}://{self.host}:{self.port or 8123}/{self.database}"


class Client:
    """A connection for one thread; `sibling` opens another. Unqualified tables are `database`'s.

    Every failure is a StoreError, or an InputError where a value does not fit its column.
    """

    def __init__(self, driver: Driver, target: Target, *, is_guest: bool = False) -> None:
        """Take over a driver's connection; `connect` is the way in.

        A guest's database belongs to a running service, which lets it read and insert.
        """
        self._driver = driver
        self.target = target
        self.is_guest = is_guest

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
    ) -> QueryResult:
        """Rows of a SELECT; values come in as `{name:Type}` parameters, never in the text."""
        given, wanted = dict(parameters or {}), dict(settings or {})
        return self._asked(lambda: self._driver.query(query, given, wanted))

    def command(self, statement: str, parameters: Mapping[str, object] | None = None) -> object:
        """Run a statement without a result set, or with a single value."""
        return self._asked(lambda: self._driver.command(statement, dict(parameters or {})))

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
        """Insert rows (or columns), and return when they are stored; the number of them."""
        try:
            summary = self._asked(
                lambda: self._driver.insert(
                    table,
                    data,
                    column_names=column_names,
                    column_type_names=column_type_names,
                    column_oriented=column_oriented,
                    settings=dict(settings or {}),
                )
            )
        except UNFIT as error:
            raise InputError(f"a value does not fit its column of {table}: {error}") from error
        return int(summary.written_rows)

    def stream(
        self,
        query: str,
        parameters: Mapping[str, object] | None = None,
        *,
        settings: Mapping[str, object] | None = None,
    ) -> RawIOBase:
        """The bytes of a SELECT with a FORMAT, as they come; the embedded engine has them whole."""
        given, wanted = dict(parameters or {}), dict(settings or {})
        return cast(
            RawIOBase, self._asked(lambda: self._driver.raw_stream(query, given, settings=wanted))
        )

    def keep(self, settings: Mapping[str, str]) -> None:
        """Send these settings of the server's with everything from now on."""
        for one in settings.items():
            self._asked(partial(self._driver.set_client_setting, *one))

    def sibling(self) -> Client:
        """Another connection to the same database, for another thread."""
        return open_client(self.target)

    def close(self) -> None:
        """Close the connection; closing twice is harmless."""
        self._driver.close()

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

    def _asked(self, call: Callable[[], _Result]) -> _Result:
        try:
            return call()
        except (ClickHouseError, OSError) as error:  # the embedded engine's inserts go by a file
            raise StoreError(f"{self.target.shown}: {error}") from error


def connect(
    dsn: str, *, database: str = "", as_owner: bool = False, creates: bool = True
) -> Client:
    """Open the database that the DSN names, creating folder and database where they are missing.

    `database` overrides the DSN's. Tables are `migrate`'s work. A path that a running service owns
    is reached through that service, unless `as_owner` asks for the path itself. Raises
    SettingsError for a DSN that cannot be read, StoreBusyError where another process owns the path
    and lets nobody in, NoStoreError for a missing database where not `creates`, else StoreError.
    """
    return open_client(target_of(dsn, database=database), as_owner=as_owner, creates=creates)


def target_of(dsn: str, *, database: str = "") -> Target:
    """Read a DSN; the error names the variable and hides what may be a password."""
    try:
        parts = urlsplit(dsn)
        port = parts.port
    except ValueError as error:
        raise SettingsError(f"{EXPECTED}; got {hidden(dsn)!r}") from error
    if parts.scheme == "chdb":
        target = Target(database or DEFAULT_DATABASE, path=_path_of(dsn))
    elif parts.scheme in ("http", "https") and parts.hostname:
        target = Target(
            database or unquote(parts.path.strip("/")) or DEFAULT_DATABASE,
            scheme=parts.scheme,
            host=parts.hostname,
            port=port,
            username=unquote(parts.username) if parts.username else None,
            password=unquote(parts.password or ""),
        )
    else:
        raise SettingsError(f"{EXPECTED}; got {hidden(dsn)!r}")
    if not NAME.fullmatch(target.database):
        raise SettingsError(
            f"{EXPECTED}; a database's name has letters, digits and underscores, "
            f"got {target.database!r}"
        )
    return target


def hidden(dsn: str) -> str:
    """A DSN with everything before the last @ hidden: a password may stand there."""
    return "…@" + dsn.rpartition("@")[2] if "@" in dsn else dsn


def open_client(target: Target, *, as_owner: bool = False, creates: bool = True) -> Client:
    """Open a connection to the target and make sure its database is there."""
    is_guest = bool(target.path) and target.path not in _opened and is_owned(target.path)
    if is_guest and as_owner:
        raise _busy(target)
    if is_guest:
        driver = _open_shared(target)
    else:
        driver = _open_embedded(target) if target.path else _open_server(target)
    client = Client(driver, target, is_guest=is_guest)
    known = client.query(
        "SELECT count() FROM system.databases WHERE name = {name:String}", {"name": target.database}
    )
    if known.result_rows == [(0,)]:
        if not creates:
            client.close()
            raise NoStoreError(f"{target.shown}: expected that database, it is not there")
        client.command(f"CREATE DATABASE IF NOT EXISTS {target.database}")
    driver.database = target.database
    if target.scheme and client.query(IS_CLUSTER, {"name": target.database}).result_rows != [(0,)]:
        client.keep(CONNECTION)
    return client


def _path_of(dsn: str) -> str:
    path = dsn.removeprefix("chdb://")
    if not path.startswith("/") or path.strip("/") == "":
        raise SettingsError(f"{EXPECTED}; got {hidden(dsn)!r}")
    return os.path.realpath(path)


def _open_embedded(target: Target) -> Driver:
    try:
        Path(target.path).mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(f"RT4CHART_DSN: cannot create {target.path}: {error.strerror}") from error
    try:
        driver = clickhouse_connect.get_client(interface="chdb", path=target.path)
    except ClickHouseError as error:
        if target.path not in _opened and is_owned(target.path):
            raise _busy(target) from error
        raise StoreError(f"{target.shown}: {error}") from error
    _opened.add(target.path)
    return driver


def _open_shared(target: Target) -> Driver:
    """The path's owner, through the address that it left there."""
    address = address_in(Path(target.path))
    if address is None:
        raise _busy(target)
    try:
        service = target_of(address.url)
        return _open_server(replace(service, username="rt4chart", password=address.token))
    except (SettingsError, StoreError) as error:
        raise _busy(target) from error


def _busy(target: Target) -> StoreBusyError:
    return StoreBusyError(
        f"another process owns {target.path}; stop it, or point RT4CHART_DSN at a ClickHouse "
        "server (http://user:password@host:8123/database); an owner that is rt4chart up lets "
        "this command in unless its RT4CHART_ACCESS is off"
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
            autogenerate_session_id=False,
            form_encode_query_params=True,
        )
    except ClickHouseError as error:
        raise StoreError(
            f"RT4CHART_DSN: no answer from a ClickHouse server at {target.shown}: {error}"
        ) from error
