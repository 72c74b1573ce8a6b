"""The console on a screen as wide as a phone: cards, a few of them at first."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from rt4chart_collector.console.view.urls import route_url
from tests.browser.sound import assert_sound
from tests.browser.world import RISING

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from tests.browser.conftest import Seen

    Open = Callable[..., tuple[Page, Seen]]

PHONE = 390
# Four screens of a phone, and of the pages with many tables eight.
LISTS = {"/answers": 3_200, "/issues": 3_200, "/alerts": 3_200, "/settings": 3_200, "/": 3_200}
DENSE = {"/health": 6_400, route_url(*RISING): 6_400}


@pytest.mark.parametrize(("path", "most"), [*LISTS.items(), *DENSE.items()])
def test_a_list_is_a_few_screens_long(opened: Open, world_url: str, path: str, most: int) -> None:
    """However many rows its page has."""
    page, seen = opened(world_url + path, width=PHONE)

    assert page.evaluate("document.documentElement.scrollHeight") <= most
    assert_sound(page, seen, world_url)


def test_more_cards_come_at_a_press(opened: Open, world_url: str) -> None:
    """The focus goes to the first of them; after the last, the button is gone."""
    page, _ = opened(f"{world_url}/answers", width=PHONE)
    cards = "tbody tr:visible"

    assert page.locator(cards).count() == 10
    page.click("text=Show 20 more of 40")
    assert page.locator(cards).count() == 30
    assert page.evaluate("document.activeElement.closest('tr').rowIndex") == 11
    page.click("text=Show 20 more of 20")
    assert page.locator(cards).count() == 50
    assert page.locator(".unfold").count() == 0


def test_without_scripts_all_cards_are_there(opened: Open, world_url: str) -> None:
    """Nobody is left without a row."""
    page, _ = opened(f"{world_url}/answers", width=PHONE, scripts=False)

    assert page.locator("tbody tr:visible").count() == 50


def test_a_wide_screen_has_the_whole_table(opened: Open, world_url: str) -> None:
    """Cards are for small screens alone."""
    page, _ = opened(f"{world_url}/answers")

    assert page.locator("tbody tr:visible").count() == 50
    assert page.locator(".unfold:visible").count() == 0
