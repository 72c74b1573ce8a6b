"""The palette: from the keyboard to a page, a route, an issue, a view or a trace."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest

from rt4chart_collector.console.view.urls import answer_url, route_url
from tests.browser.sound import assert_sound
from tests.browser.world import RISING

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from tests.browser.conftest import Seen

    Open = Callable[..., tuple[Page, Seen]]

FOUND = "#palette [role=option]"


def ask(page: Page, words: str) -> None:
    """Open the palette and type."""
    page.keyboard.press("Control+k")
    page.wait_for_selector(FOUND)
    page.keyboard.type(words)


def of_kind(kind: str) -> str:
    """What the palette lists of a kind."""
    return f"{FOUND}:has(span:text-is('{kind}'))"


def path_of(page: Page) -> str:
    """The path of the page's address."""
    return urlsplit(str(page.url)).path


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 1280), ("light", 390)])
def test_the_palette_is_sound(opened: Open, world_url: str, scheme: str, width: int) -> None:
    """In both colour schemes and on a phone, where a button opens it."""
    page, seen = opened(world_url, scheme=scheme, width=width)
    page.click("[data-palette-open]")
    page.wait_for_selector(FOUND)

    assert page.evaluate("document.activeElement.closest('dialog').id") == "palette"
    assert page.get_attribute("#palette input", "aria-activedescendant")
    assert_sound(page, seen, world_url)
    page.keyboard.press("Escape")
    assert page.locator("#palette[open]").count() == 0


def test_pages_and_routes_are_a_few_keys_away(opened: Open, world_url: str) -> None:
    """Enter opens the first that is found, also before it is listed; arrows choose another."""
    page, seen = opened(world_url)
    ask(page, "heal")
    page.keyboard.press("Enter")
    page.wait_for_url("**/health")

    ask(page, "support/")
    page.wait_for_selector(of_kind("route"))
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    page.wait_for_url("**/routes/**")
    assert path_of(page) == route_url(*RISING)
    assert_sound(page, seen, world_url)


def test_an_issue_and_a_trace_are_found(opened: Open, world_url: str) -> None:
    """By words of its title, and by the whole id."""
    page, _ = opened(f"{world_url}/issues")
    words = page.locator(".issue-title").first.inner_text().split()[0]
    ask(page, words)
    page.locator(of_kind("issue")).first.click()
    page.wait_for_url("**/issues/*")
    assert re.fullmatch("/issues/[0-9a-f]{16}", path_of(page))

    ask(page, f"{7:032x}")
    page.wait_for_selector(of_kind("trace"))
    page.keyboard.press("Enter")
    page.wait_for_url("**/answers?q=*")
    assert page.locator("tbody tr").count() == 1
    assert page.locator(f"a[href='{answer_url(f'{7:032x}', f'{7:016x}')}']").count() > 0


def test_a_saved_view_is_found(opened: Open, world_url: str) -> None:
    """After it was saved on the page that it shows."""
    page, seen = opened(f"{world_url}/answers?measure=unfaithful&order=worst")
    page.click(".views summary")
    page.fill(".views [name=name]", "Worst of all")
    assert_sound(page, seen, world_url)
    page.click("text=Save this page")
    page.wait_for_load_state("networkidle")
    assert page.url == f"{world_url}/answers?measure=unfaithful&order=worst"

    page.goto(f"{world_url}/views")
    assert_sound(page, seen, world_url)
    ask(page, "worst of")
    page.wait_for_selector(of_kind("view"))
    page.keyboard.press("Enter")
    page.wait_for_url("**/answers?measure=unfaithful&order=worst")


def test_hostile_names_are_only_found(opened: Open, hostile_url: str) -> None:
    """Routes and issues of strangers are text in the palette."""
    page, seen = opened(hostile_url)
    ask(page, "script")
    page.wait_for_selector(FOUND)

    assert page.evaluate("window.hacked") is None
    assert page.locator("#palette b, #palette img").count() == 0
    assert_sound(page, seen, hostile_url)


def test_without_scripts_there_is_no_palette(opened: Open, world_url: str) -> None:
    """And everything else is there."""
    page, _ = opened(world_url, scripts=False)

    assert page.locator("[data-palette-open]:visible").count() == 0
    page.click("nav >> text=Health")
    assert path_of(page) == "/health"
