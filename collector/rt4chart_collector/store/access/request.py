"""A request of ClickHouse's HTTP interface: its statement, data, parameters and credentials.

Source: ClickHouse docs, interfaces/http.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import parse_qsl

from rt4chart_collector.store.access.compress import decompressed
from rt4chart_collector.store.access.engine import Asked
from rt4chart_collector.store.access.errors import (
    BAD_ARGUMENTS,
    NOT_IMPLEMENTED,
    SYNTAX_ERROR,
    refused,
)

# What concerns the transport: accepted, and of no effect on the engine.
TRANSPORT = {
    *("query", "database", "default_format", "user", "password", "compress", "query_id"),
    *("session_id", "session_timeout", "session_check", "wait_end_of_query", "buffer_size"),
    *("send_progress_in_http_headers", "http_headers_progress_interval_ms", "quota_key"),
    *(
        "enable_http_compression",
        "client_protocol_version",
        "http_write_exception_in_output_format",
    ),
    *("cancel_http_readonly_queries_on_client_close", "log_queries", "log_comment", "stacktrace"),
}
INSERT = re.compile(rb"\s*INSERT\s", re.I)
DATA_AFTER = re.compile(rb"\bFORMAT[ \t]+\w+[ \t]*\r?\n", re.I)
HEAD_BYTES = 64 * 1024
FORMAT_NAME = re.compile(r"\w+")
FIELD_NAME = re.compile(rb'\bname="([^"]*)"')
BOUNDARY = re.compile(r'\bboundary="?([^";,]+)"?')


@dataclass(frozen=True, slots=True)
class Arrived:
    """A request as the web server hands it over; header names in lower case."""

    url_parameters: Mapping[str, str]
    headers: Mapping[str, str]
    body: bytes = b""


def token_of(arrived: Arrived) -> str:
    """The secret of a request, wherever clients put it: a bearer token, or a password."""
    scheme, _, value = arrived.headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer":
        return value.strip()
    if scheme.lower() == "basic":
        try:
            return base64.b64decode(value).decode().partition(":")[2]
        except (binascii.Error, ValueError):
            return ""
    return arrived.headers.get("x-clickhouse-key") or arrived.url_parameters.get("password", "")


def asked_from(arrived: Arrived, *, may_write: bool, max_bytes: int) -> Asked:
    """What a request asks of the engine; RefusedError where that cannot be read."""
    given = dict(arrived.url_parameters)
    if given.get("decompress") == "1" or given.get("compress") == "1":
        raise refused(
            NOT_IMPLEMENTED,
            "compress=1 and decompress=1 (ClickHouse's own framing) are not taken here: use "
            "Accept-Encoding with enable_http_compression=1, and Content-Encoding",
        )
    kind = arrived.headers.get("content-type", "")
    body = decompressed(
        arrived.body, arrived.headers.get("content-encoding", ""), max_bytes=max_bytes
    )
    if kind.startswith("multipart/form-data"):
        given, body = given | _fields(body, kind), b""
    elif kind.startswith("application/x-www-form-urlencoded") and _is_form(body):
        given, body = given | dict(parse_qsl(body.decode(), keep_blank_values=True)), b""
    text, data = _split(given.get("query", "").encode(), body)
    fmt = given.get("default_format") or arrived.headers.get("x-clickhouse-format", "")
    if not FORMAT_NAME.fullmatch(fmt or "TabSeparated"):
        raise refused(BAD_ARGUMENTS, f"expected the name of a format, got {fmt!r}")
    return Asked(
        text=text,
        data=data,
        database=given.get("database") or arrived.headers.get("x-clickhouse-database", ""),
        format=fmt or "TabSeparated",
        parameters={
            name.removeprefix("param_"): value
            for name, value in given.items()
            if name.startswith("param_")
        },
        settings={
            name: value
            for name, value in given.items()
            if name not in TRANSPORT and not name.startswith("param_")
        },
        may_write=may_write,
    )


def _split(query: bytes, body: bytes) -> tuple[str, bytes]:
    """The statement and the data after it: of an INSERT in the body, from the line after FORMAT."""
    if query and INSERT.match(query):
        head, data = query, body
    elif INSERT.match(body):
        found = DATA_AFTER.search(body[:HEAD_BYTES])
        if found is None:
            raise refused(
                NOT_IMPLEMENTED,
                "expected INSERT INTO table (columns) FORMAT name, a line break, and the data",
            )
        head, data = body[: found.end()], body[found.end() :]
    else:
        head, data = query + b"\n" + body if query and body else query or body, b""
    try:
        text = head.decode()
    except UnicodeDecodeError as error:
        raise refused(
            SYNTAX_ERROR, f"Syntax error: expected a statement in UTF-8: {error}"
        ) from None
    if not text.strip():
        raise refused(SYNTAX_ERROR, "Syntax error: Empty query")
    return text, data


def _is_form(body: bytes) -> bool:
    """True for fields; curl calls a bare statement a form, too."""
    return re.match(rb"(query|param_\w+)=", body) is not None


def _fields(body: bytes, kind: str) -> dict[str, str]:
    """The fields of multipart/form-data (RFC 7578), byte for byte."""
    found = BOUNDARY.search(kind)
    if found is None:
        raise refused(BAD_ARGUMENTS, "expected multipart/form-data with a boundary")
    fields = {}
    for part in (b"\r\n" + body).split(b"\r\n--" + found[1].encode())[1:-1]:
        head, _, value = part.partition(b"\r\n\r\n")
        if name := FIELD_NAME.search(head):
            if b"filename=" in head and not name[1].startswith((b"param_", b"query")):
                raise refused(NOT_IMPLEMENTED, "external data is not taken here")
            fields[name[1].decode()] = value.decode()
    return fields
