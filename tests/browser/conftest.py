"""A real browser before a real service with its own store; skipped where there is no browser."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.browser.sets import NAME

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

START_S = 120.0
ROOT = Path(__file__).parents[2]


def chromium() -> str:
    """The browser: RT4CHART_CHROMIUM, or one that the system has."""
    named = os.environ.get("RT4CHART_CHROMIUM", "")
    found = [shutil.which(name) for name in ("chromium", "chromium-browser", "google-chrome")]
    return named or next((one for one in found if one), "")


@dataclass(slots=True)
class Seen:
    """The console messages and the requests of a page while it was open."""

    messages: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def watch(self, page: Page) -> None:
        """From now on."""
        page.on("console", lambda one: self.messages.append(f"{one.type}: {one.text}"))
        page.on("pageerror", lambda error: self.messages.append(f"error: {error}"))
        page.on("request", lambda one: self.requests.append(one.url))


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Chromium without a screen."""
    if not os.environ.get("RT4CHART_BROWSER"):
        pytest.skip("the console in a real browser: make test-browser")
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if not (path := chromium()):
        pytest.skip("no browser: install chromium, or name one in RT4CHART_CHROMIUM")
    with sync_api.sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield launched
        launched.close()


@contextmanager
def service(folder: Path, what: str, judge: str = "local") -> Iterator[str]:
    """`rt4chart up` over a store filled with `what`; the console's URL."""
    dsn, now_ns = f"chdb://{folder / 'db'}", str(time.time_ns())
    fill = [sys.executable, "-m", "tests.browser.fill", dsn, what, now_ns]
    subprocess.run(fill, check=True, timeout=START_S, cwd=ROOT)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    free = "127.0.0.1:0"
    flags = ["--dsn", dsn, "--otlp-http", free, "--otlp-grpc", free, "--health", free]
    # Its own clock decides what is old: the monitor would find another world than the written one.
    environ = {
        **os.environ,
        "RT4CHART_MONITOR": "off",
        "RT4CHART_JUDGE": judge,
        "RT4CHART_CONSOLE": f"127.0.0.1:{port}",
    }
    command = [str(Path(sys.executable).parent / "rt4chart"), "up", *flags]
    running = subprocess.Popen(command, env=environ)
    url = f"http://127.0.0.1:{port}"
    try:
        _wait(running, f"{url}/healthz")
        yield url
    finally:
        running.terminate()
        running.wait(timeout=60)


def addresses(url: str) -> dict[str, str]:
    """Pages whose address is the store's: its first issue, the alert, the set and its review."""
    issue, alert = (
        _first(f"{url}/{name}?format=json{more}", "id")
        for name, more in (("issues", ""), ("alerts", "&table=history"))
    )
    named = {"issue": f"/issues/{issue}", "alert": f"/alerts/{alert}"}
    return {**named, "set": f"/evalsets/{NAME}", "review": f"/evalsets/{NAME}/review"}


def _first(url: str, column: str) -> str:
    with urllib.request.urlopen(url, timeout=30) as answer:  # noqa: S310 - our own address
        return str(json.load(answer)["rows"][0][column])


def _wait(running: subprocess.Popen[bytes], url: str) -> None:
    until = time.monotonic() + START_S
    while time.monotonic() < until and running.poll() is None:
        try:
            urllib.request.urlopen(url, timeout=2).close()  # noqa: S310 - our own address
        except OSError:
            time.sleep(0.2)
        else:
            return
    raise AssertionError("rt4chart up did not serve its console")


@pytest.fixture(scope="session")
def world_url(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A day of a shop's answers."""
    with service(tmp_path_factory.mktemp("world"), "world") as url:
        yield url


@pytest.fixture(scope="session")
def empty_url(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Nothing was sent yet."""
    with service(tmp_path_factory.mktemp("empty"), "nothing") as url:
        yield url


@pytest.fixture(scope="session")
def hostile_url(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Names and texts that try to be markup."""
    with service(tmp_path_factory.mktemp("hostile"), "hostile") as url:
        yield url


@pytest.fixture
def opened(browser: Browser) -> Iterator[Callable[..., tuple[Page, Seen]]]:
    """Open an address: the page and its `Seen`. `scheme` is light or dark, `width` in pixels.

    `zone` is that of the reader.
    """
    contexts = []

    def open_page(
        url: str,
        *,
        scheme: str = "light",
        width: int = 1280,
        scripts: bool = True,
        zone: str = "UTC",
    ) -> tuple[Page, Seen]:
        context = browser.new_context(
            timezone_id=zone,
            java_script_enabled=scripts,
            viewport={"width": width, "height": 800},
            color_scheme="dark" if scheme == "dark" else "light",
        )
        contexts.append(context)
        page, seen = context.new_page(), Seen()
        seen.watch(page)
        page.goto(url)
        page.wait_for_load_state("networkidle")
        return page, seen

    yield open_page
    for context in contexts:
        context.close()
