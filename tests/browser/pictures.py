"""The pictures of the console in docs/operate: `python -m tests.browser.pictures FOLDER [URL]`.

URL is a console that `rt4chart demo --serve` serves; without it one is served for the while.
"""

from __future__ import annotations

import json
import struct
import subprocess
import sys
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from tests.browser.conftest import chromium

WIDTH, HEIGHT, MOST_BYTES = 1240, 700, 100_000
DEMO = [sys.executable, "-m", "otel_rt4chart", "demo", "--serve", "--json"]


def main(folder: Path, url: str) -> None:
    """Write them all: three clicks from the alert to the sentence, each step a picture."""
    with demo(url) as console, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT})
        page.goto(console)
        _take(page, folder / "console-overview.png", is_whole=True)
        page.click(".alert-critical .alert-title")
        # Down to the first pair of answers.
        page.set_viewport_size({"width": WIDTH, "height": 1330})
        _take(page, folder / "console-alert.png")
        _compare(page, folder)
        page.set_viewport_size({"width": WIDTH, "height": HEIGHT})
        page.click("a.claim-text")
        # The browser scrolls to the claim when the page has loaded: only after that, to the top.
        page.wait_for_load_state("networkidle")
        page.evaluate("scrollTo(0, 0)")
        _take(page, folder / "console-answer.png")
        page.click(".crumbs a[href^='/routes/']")
        page.set_viewport_size({"width": WIDTH, "height": 810})
        _take(page, folder / "console-route.png")
        _label(page, console)
        _take(page, folder / "console-label.png")
        dark = browser.new_page(color_scheme="dark")
        dark.set_viewport_size({"width": WIDTH, "height": HEIGHT})
        dark.goto(f"{console}map")
        _take(dark, folder / "console-map-dark.png")
        browser.close()


def _compare(page: Page, folder: Path) -> None:
    """From the alert to its releases side by side, down to the first answers, and back."""
    alert = page.url
    page.click("a[href^='/compare'][href*='by=release']")
    page.set_viewport_size({"width": WIDTH, "height": 1290})
    _take(page, folder / "console-compare.png")
    page.goto(alert)


def _label(page: Page, console: str) -> None:
    """Draw claims and label some, so that the page shows a verdict on the last one."""
    page.goto(f"{console}label")
    if page.locator("#size").count():
        page.click("main form button")
    for key in ("1", "3", "1"):
        page.wait_for_selector("#task:not(:has([aria-busy])) .labels")
        before = page.get_attribute(".labels [name=claim]", "value")
        page.keyboard.press(key)
        page.wait_for_selector(f".labels [name=claim]:not([value='{before}'])", state="attached")


@contextmanager
def demo(url: str) -> Iterator[str]:
    """The console's address; where none is given, that of a demo of its own."""
    if url:
        yield url.rstrip("/") + "/"
        return
    with tempfile.TemporaryDirectory() as place:
        command = [*DEMO, "--folder", f"{place}/demo"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            try:
                assert process.stdout is not None
                yield json.loads(process.stdout.readline())["console"]
            finally:
                process.terminate()


def _take(page: Page, path: Path, *, is_whole: bool = False) -> None:
    page.wait_for_load_state("networkidle")
    page.mouse.move(0, 0)
    page.wait_for_function("!document.querySelector('[data-load]')")
    path.write_bytes(smaller(page.screenshot(animations="disabled", full_page=is_whole)))
    if path.stat().st_size > MOST_BYTES:
        sys.stderr.write(f"{path}: {path.stat().st_size} bytes, expected {MOST_BYTES} at most\n")


def smaller(png: bytes) -> bytes:
    """A screenshot (8-bit RGB, not interlaced) with a palette of its 256 commonest colours.

    PNG specification, sections 9 (filters) and 11.2 (IHDR, PLTE, IDAT).
    """
    width, height, rows = _pixels(png)
    counts: dict[bytes, int] = {}
    for row in rows:
        for at in range(0, len(row), 3):
            colour = row[at : at + 3]
            counts[colour] = counts.get(colour, 0) + 1
    palette = sorted(counts, key=lambda colour: -counts[colour])[:256]
    near = {colour: _nearest(colour, palette) for colour in counts}
    lines = b"".join(
        b"\0" + bytes(near[row[at : at + 3]] for at in range(0, len(row), 3)) for row in rows
    )
    header = struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)
    parts = (
        (b"IHDR", header),
        (b"PLTE", b"".join(palette)),
        (b"IDAT", zlib.compress(lines, 9)),
        (b"IEND", b""),
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(*one) for one in parts)


def _pixels(png: bytes) -> tuple[int, int, list[bytes]]:
    at, data, width, height = 8, b"", 0, 0
    while at < len(png):
        length, kind = struct.unpack(">I4s", png[at : at + 8])
        body = png[at + 8 : at + 8 + length]
        if kind == b"IHDR":
            width, height, depth, colours = struct.unpack(">IIBB", body[:10])
            assert (depth, colours) == (8, 2), "expected a screenshot in 8-bit RGB"
        elif kind == b"IDAT":
            data += body
        at += length + 12
    return width, height, _unfiltered(zlib.decompress(data), width * 3)


def _unfiltered(raw: bytes, stride: int) -> list[bytes]:
    rows, above = list[bytes](), bytes(stride)
    for begin in range(0, len(raw), stride + 1):
        kind, row = raw[begin], bytearray(raw[begin + 1 : begin + 1 + stride])
        for at in range(stride):
            left = row[at - 3] if at > 2 else 0
            corner = above[at - 3] if at > 2 else 0
            added = (0, left, above[at], (left + above[at]) // 2, _paeth(left, above[at], corner))
            row[at] = (row[at] + added[kind]) & 255
        above = bytes(row)
        rows.append(above)
    return rows


def _paeth(left: int, above: int, corner: int) -> int:
    guess = left + above - corner
    return min((left, above, corner), key=lambda one: abs(guess - one))


def _nearest(colour: bytes, palette: list[bytes]) -> int:
    def far(at: int) -> int:
        return sum((one - other) ** 2 for one, other in zip(colour, palette[at], strict=True))

    return min(range(len(palette)), key=far)


def _chunk(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else "")
