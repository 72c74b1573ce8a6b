"""The trace on an answer's page: spans found by their words."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from tests.browser.sound import assert_sound
from tests.rt4chart_collector.console.pages.answer_data import PATH

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from tests.browser.conftest import Seen

    Open = Callable[..., tuple[Page, Seen]]

FIELD, HERE = "#trace-words", ".tree .is-here"


def test_spans_are_found_one_after_the_other(opened: Open, hostile_url: str) -> None:
    """With Enter and the buttons, around the end; what is folded opens."""
    page, seen = opened(hostile_url + PATH)
    page.evaluate(
        "document.querySelectorAll('.tree details').forEach(one => { one.open = false; })"
    )
    page.fill(FIELD, "LLM")
    found = page.locator(".tree .is-found").count()

    assert found > 0
    assert page.locator(HERE).is_visible()
    assert page.inner_text(".trace-search [role=status]") == f"1 of {found}"
    page.click(".trace-search >> text=Previous")
    assert page.inner_text(".trace-search [role=status]") == f"{found} of {found}"
    page.press(FIELD, "Enter")
    assert page.inner_text(".trace-search [role=status]") == f"1 of {found}"
    assert_sound(page, seen, hostile_url)
    page.fill(FIELD, "no such span")
    assert page.inner_text(".trace-search [role=status]") == "No span has these words."
    assert page.locator(HERE).count() == 0
