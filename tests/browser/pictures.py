"""The pictures of docs/console.md: `python -m tests.browser.pictures FOLDER`, in a real browser."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from rt4chart_collector.console.urls import route_url
from tests.browser.conftest import chromium, service
from tests.browser.world import RISING

WIDTH, HEIGHT = 1240, 700


def main(folder: Path) -> None:
    """Write them all."""
    with (
        tempfile.TemporaryDirectory() as place,
        service(Path(place), "world") as url,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT})
        _take(page, url, folder / "console-overview.png")
        _take(page, url + route_url(*RISING), folder / "console-route.png")
        page.goto(url)
        page.click(".alarm-title")
        _take(page, page.url, folder / "console-alert.png")
        page.click("a.claim-text")
        _take(page, page.url.partition("#")[0], folder / "console-answer.png")
        browser.close()


def _take(page: Page, url: str, path: Path) -> None:
    page.goto(url)
    page.wait_for_load_state("networkidle")
    page.screenshot(path=path)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
