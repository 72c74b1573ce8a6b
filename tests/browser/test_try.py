"""An answer of one's own, pasted into the console."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from tests.browser.sound import assert_sound
from tests.browser.test_pages import LOOKS

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from tests.browser.conftest import Seen

    Open = Callable[..., tuple[Page, Seen]]

HOSTILE = "<script>window.hacked=1</script><img src=x onerror='window.hacked=2'> It costs 5 EUR."


def check(page: Page, answer: str, *passages: str) -> None:
    """Paste the texts and check them."""
    page.fill("#try-answer", answer)
    page.fill("#try-passages", "\n---\n".join(passages))
    page.click(".try button")
    page.wait_for_load_state("networkidle")


@LOOKS
def test_a_pasted_answer_is_marked(opened: Open, empty_url: str, scheme: str, width: int) -> None:
    """From the first page in two clicks: the wrong words are underlined, the right ones beside."""
    page, seen = opened(empty_url, scheme=scheme, width=width)
    page.click("nav >> text=Try")
    page.wait_for_load_state("networkidle")
    check(page, "The trial lasts 30 days.", "Dogs are welcome.", "The trial lasts 14 days.")

    assert page.locator("#answer .mark-contradicted").inner_text().startswith("30 days")
    assert page.locator(".evidence mark.named").inner_text() == "14 days"
    assert page.locator("h1").count() == 1
    assert page.input_value("#try-answer") == "The trial lasts 30 days."
    assert_sound(page, seen, empty_url)


@pytest.mark.parametrize("scripts", [True, False])
def test_pasted_markup_is_only_text(opened: Open, empty_url: str, scripts: bool) -> None:
    """In the result and in the form, which needs no script."""
    page, seen = opened(f"{empty_url}/try", scripts=scripts)
    check(page, HOSTILE, HOSTILE.replace("5", "7"), "\n<b>kept</b>")

    assert page.locator("main img, main script, main b").count() == 0
    assert "<script>window.hacked" in page.inner_text("#answer")
    assert page.input_value("#try-answer") == HOSTILE
    if scripts:
        assert page.evaluate("window.hacked") is None
        assert_sound(page, seen, empty_url)


def test_what_is_missing_is_said_and_the_text_is_kept(opened: Open, empty_url: str) -> None:
    """The browser asks for an empty field itself; blanks come back with what to do."""
    page, _ = opened(f"{empty_url}/try")
    check(page, "It lasts 30 days.", "   ")

    assert "There is no passage" in page.inner_text("[role=alert]")
    assert page.input_value("#try-answer") == "It lasts 30 days."
