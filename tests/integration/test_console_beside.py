"""The console alone, over the embedded database of a service that comes and goes."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import httpx
import pytest

from tests.integration.service import PATIENCE_S, service
from tests.polling import wait_until

pytestmark = pytest.mark.e2e


class Pages:
    """The pages of a console process, and a thread that loads one again and again."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.codes: list[int] = []
        self._http = httpx.Client(timeout=PATIENCE_S)
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._refresh)

    def status(self) -> int:
        """The status of its page of alerts; 0 where nothing listens yet."""
        try:
            return self._http.get(self.url + "/alerts").status_code
        except httpx.TransportError:
            return 0

    def wait_for(self, code: int) -> None:
        """Until a page has that status."""
        wait_until(self.status, lambda found: found == code, within_s=PATIENCE_S)

    def close(self) -> None:
        """Close its connections."""
        self._http.close()

    @contextmanager
    def refreshing(self) -> Iterator[None]:
        """Load pages while the block runs, with hardly a pause."""
        self._thread.start()
        yield
        self._over.set()
        self._thread.join()

    def _refresh(self) -> None:
        while not self._over.wait(0.05):
            self.codes.append(self.status())


@contextmanager
def console(dsn: str) -> Iterator[Pages]:
    """`rt4chart console` on a free port."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    kept = {name: value for name, value in os.environ.items() if "RT4CHART" not in name}
    flags = ["--dsn", dsn, "--console", f"127.0.0.1:{port}"]
    with subprocess.Popen(
        [sys.executable, "-m", "otel_rt4chart", "console", *flags], env=kept
    ) as it:
        try:
            with closing(Pages(f"http://127.0.0.1:{port}")) as pages:
                yield pages
            it.send_signal(signal.SIGTERM)
            assert it.wait(PATIENCE_S) == 0
        finally:
            it.kill()


def test_service_gets_its_database_back_from_a_console(tmp_path: Path) -> None:
    """The console reads the store of a service that ended, and lets the next one have it."""
    folder = tmp_path / "db"
    dsn = f"chdb://{folder}"
    with console(dsn) as pages:
        pages.wait_for(503)
        assert not folder.exists()
        with service(dsn) as running:
            pages.wait_for(200)
            assert running.stop() == 0
        pages.wait_for(200)
        with pages.refreshing(), service(dsn) as again:
            pages.wait_for(200)
            assert again.stop() == 0

    assert 200 in pages.codes
