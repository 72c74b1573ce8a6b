"""A person labels claims from the keyboard, on the bundled rows, in a real browser."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest

from otel_rt4chart.verify.rates.label_queue import draw_labels
from tests.browser.conftest import ROOT, service
from tests.browser.rows import candidates, is_wrong
from tests.browser.sound import assert_sound

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

    from tests.browser.conftest import Seen

    Open = Callable[..., tuple[Page, Seen]]

SIZE, LABELS = 10, 50
SHOWN = "document.querySelector('.labels [name=claim]')?.value"
ANSWER = ".said-text"
KEYS = {"1": "entailed", "3": "baseless", "0": "cannot_tell"}


class Rows(NamedTuple):
    """A service over the bundled rows."""

    url: str
    dsn: str


@pytest.fixture(scope="module")
def rows(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rows]:
    """Nothing was drawn yet."""
    folder = tmp_path_factory.mktemp("rows")
    with service(folder, "rows", "rules") as url:
        yield Rows(url, f"chdb://{folder / 'db'}")


def command(*argv: str) -> str:
    """Run `rt4chart` beside the service, and return what it prints."""
    call = [sys.executable, "-m", "otel_rt4chart", *argv]
    return subprocess.run(
        call, check=True, timeout=120, cwd=ROOT, stdout=subprocess.PIPE
    ).stdout.decode()


def press(page: Page, key: str) -> None:
    """Press a key, and wait for the next claim."""
    before = page.evaluate(SHOWN)
    page.keyboard.press(key)
    page.wait_for_function(f"claim => ({SHOWN}) !== claim", arg=before)


def test_fifty_claims_are_labelled_from_the_keyboard(
    opened: Open, rows: Rows, tmp_path: Path
) -> None:
    """From the form that draws; each label has the probability that the pure draw gives it."""
    page, seen = opened(f"{rows.url}/label")
    assert_sound(page, seen, rows.url)
    page.fill("#size", str(SIZE))
    page.keyboard.press("Enter")
    page.wait_for_selector("#task .labels")
    assert_sound(page, seen, rows.url)

    given: dict[str, str] = {}
    began = time.monotonic()
    for _ in range(LABELS):
        answer, claim = page.inner_text(ANSWER), page.inner_text("#claim")
        key = {True: "3", False: "1", None: "0"}[is_wrong(answer, claim)]
        given[page.evaluate(SHOWN)] = KEYS[key]
        press(page, key)
        assert page.evaluate("document.activeElement.id") == "claim"
    seconds = time.monotonic() - began

    assert_sound(page, seen, rows.url)
    out = tmp_path / "labels.jsonl"
    command("label", "--export", str(out), "--dsn", rows.dsn)
    stored = {row["id"]: row for row in map(json.loads, out.read_text().splitlines())}
    queue = draw_labels(candidates(time.time_ns()), SIZE, seed="rt4chart", double_share=0.1)
    drawn = {one.claim: one for one in queue}
    assert len(given) == LABELS
    assert {name: row["label"] for name, row in stored.items()} == given
    assert list(given) == [one.claim for one in queue][:LABELS]
    for name, row in stored.items():
        assert row["probability"] == pytest.approx(drawn[name].probability)
        assert row["rank"] == pytest.approx(drawn[name].rank)
        assert (row["rater"], row["source"], row["kind"]) == ("local", "console", "person")
        assert row["blind"] is True
    assert set(given.values()) >= {"entailed", "baseless"}
    sys.stderr.write(f"{LABELS} labels in {seconds:.1f} s\n")
    status = json.loads(command("label", "--status", "--json", "--dsn", rows.dsn))
    counted = sum(one["labels"] + one["cannot_tell"] for one in status["routes"])
    assert counted == LABELS


def test_undo_skip_question_and_passages_have_keys(opened: Open, rows: Rows) -> None:
    """u brings the claim back, s leaves it, q and p open what is closed."""
    page, seen = opened(f"{rows.url}/label/draw")
    page.click("main button")
    page.wait_for_selector("#task .labels")
    first = page.evaluate(SHOWN)

    press(page, "2")
    assert "The judge:" in page.inner_text(".last")
    press(page, "u")
    assert page.evaluate(SHOWN) == first
    press(page, "s")
    assert "You skipped a claim" in page.inner_text(".last")
    for key in ("q", "p"):
        closed = page.locator(f"details[data-key={key}]")
        assert closed.get_attribute("open") is None
        page.keyboard.press(key)
        assert closed.get_attribute("open") is not None
    assert_sound(page, seen, rows.url)
    page.keyboard.press("/")
    page.keyboard.type("1230su")
    assert page.input_value("#search") == "1230su"


def test_a_key_before_the_next_claim_is_there_is_not_taken(opened: Open, rows: Rows) -> None:
    """Nobody labels a claim that they have not read."""
    page, _ = opened(f"{rows.url}/label")
    sent: list[str] = []
    page.on("request", lambda one: sent.append(one.method))
    before = page.evaluate(SHOWN)

    for _ in range(5):
        page.keyboard.press("1")
    page.wait_for_function(f"claim => ({SHOWN}) !== claim", arg=before)

    assert sent == ["POST"]


def test_without_scripts_buttons_label(opened: Open, rows: Rows) -> None:
    """Each press is a page; the address stays that of labelling."""
    page, _ = opened(f"{rows.url}/label", scripts=False)
    before = page.get_attribute(".labels [name=claim]", "value")

    page.click(".labels button[value=entailed]")

    assert page.url == f"{rows.url}/label"
    assert page.get_attribute(".labels [name=claim]", "value") != before
    assert "The judge:" in page.inner_text(".last")


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 1280), ("light", 360)])
def test_the_label_page_is_sound(opened: Open, rows: Rows, scheme: str, width: int) -> None:
    """With a real claim, in light and dark and as wide as a phone, also with all passages open."""
    page, seen = opened(f"{rows.url}/label", scheme=scheme, width=width)
    assert_sound(page, seen, rows.url)
    page.keyboard.press("p")
    page.keyboard.press("q")

    assert_sound(page, seen, rows.url)
