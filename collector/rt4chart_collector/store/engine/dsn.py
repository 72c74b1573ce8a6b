"""The DSN of the database: a path for the embedded engine, or a server."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

from otel_rt4chart.core.errors import SettingsError
from otel_rt4chart.core.settings import without_credentials

DEFAULT_DATABASE = "otel"
EXPECTED_DSN = (
    "RT4CHART_DSN: expected chdb:///absolute/path (embedded) or "
    "http://user:password@host:8123/database (a ClickHouse server)"
)
DATABASE_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True, slots=True)
class Target:
    """The parts of a DSN: `path` is set for the embedded engine, the others for a server."""

    database: str
    path: str = ""
    scheme: str = ""
    host: str = ""
    port: int | None = None
    username: str | None = None
    password: str = ""

    @property
    def display_name(self) -> str:
        """The target for logs and errors: without user and password."""
        if self.path:
            return f"chdb://{self.path}"
        return f"{self.scheme}://{self.host}:{self.port or 8123}/{self.database}"


def parse_dsn(dsn: str, *, database: str = "") -> Target:
    """Parse a DSN; the error names the variable and hides what may be a password."""
    try:
        parts = urlsplit(dsn)
        port = parts.port
    except ValueError as error:
        raise SettingsError(f"{EXPECTED_DSN}; got {without_credentials(dsn)!r}") from error
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
        raise SettingsError(f"{EXPECTED_DSN}; got {without_credentials(dsn)!r}")
    if not DATABASE_NAME.fullmatch(target.database):
        raise SettingsError(
            f"{EXPECTED_DSN}; a database's name has letters, digits and underscores, "
            f"got {target.database!r}"
        )
    return target


def _path_of(dsn: str) -> str:
    path = dsn.removeprefix("chdb://")
    if not path.startswith("/") or path.strip("/") == "":
        raise SettingsError(f"{EXPECTED_DSN}; got {without_credentials(dsn)!r}")
    return os.path.realpath(path)
