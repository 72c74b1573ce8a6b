"""A ClickHouse server for the tests that take it away: the embedded engine behind real HTTP.

    python -m tests.integration.faults.database FOLDER PORT

The project's own access with every statement let through; who starts the process may kill it.
"""

from __future__ import annotations

import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx

from otel_rt4chart.core.settings_parsers import Address
from rt4chart_collector.ingest.sockets import listening
from rt4chart_collector.store.access import engine, request, serve
from rt4chart_collector.store.access.engine import Asked, Engine, Result
from rt4chart_collector.store.access.handle import Handle
from rt4chart_collector.store.access.server import Access, Tokens
from rt4chart_collector.store.access.statement import Statement, quoted

TOKEN = "of-the-tests"  # noqa: S105 - of this test
INSERT = re.compile(r"\s*(?P<head>INSERT\s.*?)\s+FORMAT\s+(?P<format>\w+)\s*", re.S | re.I)
ROWS = re.compile(r"\s*(SELECT|WITH|SHOW|DESCRIBE|EXISTS)\b", re.I)
PATIENCE_S = 60


class Server(Engine):
    """The engine with nothing refused."""

    def run(self, asked: Asked) -> Result:
        """Run the statement as it came."""
        started = time.perf_counter_ns()
        with Handle(self._path) as handle:
            for name, value in asked.settings.items():
                handle.query(f"SET {name} = {quoted(value)}")
            if asked.database:
                handle.query(f"USE `{asked.database}`")
            if asked.data and (found := INSERT.fullmatch(asked.text)):
                written = handle.insert(found["head"], found["format"], asked.data)
                return Result(engine._spooled(b""), "", engine._summary(started, written=written))
            if ROWS.match(asked.text):
                text, fmt = _without_format(asked.text)
                statement = Statement(text, fmt, is_select=True)
                return engine._read(handle, statement, asked, started)
            handle.query(asked.text, parameters=asked.parameters)
            return Result(engine._spooled(b""), "", engine._summary(started))


def _without_format(text: str) -> tuple[str, str]:
    found = re.fullmatch(r"(?P<text>.*?)\s+FORMAT\s+(?P<format>\w+)\s*;?\s*", text, re.S)
    return (found["text"], found["format"]) if found else (text, "")


@contextmanager
def database(folder: Path, port: int) -> Iterator[subprocess.Popen[bytes]]:
    """The server while the block runs; it is killed at the end."""
    command = [sys.executable, "-m", __name__, str(folder), str(port)]
    with subprocess.Popen(command) as process:
        try:
            until = time.monotonic() + PATIENCE_S
            while not _answers(port):
                assert time.monotonic() < until
                time.sleep(0.1)
            yield process
        finally:
            process.kill()


def dsn_of(port: int) -> str:
    """How the service reaches it."""
    return f"http://rt4chart:{TOKEN}@127.0.0.1:{port}/otel"


def _answers(port: int) -> bool:
    try:
        return httpx.get(f"http://127.0.0.1:{port}/ping").status_code == 200
    except httpx.TransportError:
        return False


def main(folder: str, port: str) -> None:
    """Serve until killed."""
    # An INSERT without data, as INSERT … SELECT is, is a statement like another here.
    request.DATA_AFTER = re.compile(rb"\bFORMAT[ \t]+\w+[ \t]*\r?\n|\Z", re.IGNORECASE)
    with (
        Handle(folder),
        listening(Address("127.0.0.1", int(port)), "access") as bound,
        serve._served(Access(Server(folder), Tokens(TOKEN, f"{TOKEN}-not-used")), bound),
    ):
        while True:
            time.sleep(60)


if __name__ == "__main__":
    main(*sys.argv[1:])
