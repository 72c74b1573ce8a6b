"""The console in a real browser: accessible, silent, at home, and deaf to what strangers wrote."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from rt4chart_collector.console.urls import alert_url, answer_url, route_url
from tests.browser.hostile import ROUTE, SERVICE
from tests.browser.world import RISING

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from tests.browser.conftest import Seen

    Open = Callable[..., tuple[Page, Seen]]

PAGES = ("/", "/answers", "/issues", "/map", "/evalsets", "/alerts", "/health", "/settings")
FILLED = (
    *PAGES,
    route_url(*RISING),
    answer_url(f"{7:032x}", f"{7:016x}"),
    f"/health?trace={7:032x}",
    "/nothing",
)


def sound(page: Page, seen: Seen, url: str) -> None:
    """Nothing that axe calls serious, no word on the browser's console, no request elsewhere."""
    from axe_playwright_python.sync_playwright import Axe

    response = Axe().run(page, options={"resultTypes": ["violations"]}).response
    assert len(response["passes"]) > 10
    grave = [one for one in response["violations"] if one["impact"] in ("serious", "critical")]
    told = [(one["id"], [node["html"][:160] for node in one["nodes"][:4]]) for one in grave]
    assert told == []
    assert [one for one in seen.told if "404" not in one] == []
    assert [one for one in seen.asked if not one.startswith(("data:", f"{url}/"))] == []
    width = page.evaluate("document.documentElement.scrollWidth")
    assert width <= page.evaluate("window.innerWidth")


@pytest.mark.parametrize("path", PAGES)
def test_an_empty_console_is_sound(opened: Open, empty_url: str, path: str) -> None:
    """Each page without any data."""
    page, seen = opened(empty_url + path)

    sound(page, seen, empty_url)


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 1280), ("light", 360)])
@pytest.mark.parametrize("path", FILLED)
def test_a_filled_console_is_sound(
    opened: Open, world_url: str, path: str, scheme: str, width: int
) -> None:
    """Each page with a day's answers: light, dark and as wide as a phone."""
    page, seen = opened(world_url + path, scheme=scheme, width=width)

    sound(page, seen, world_url)


@pytest.mark.parametrize(
    "path",
    [
        *PAGES,
        route_url(SERVICE, ROUTE),
        answer_url(f"{7:032x}", f"{7:016x}"),
        "/answers?q=<script>",
    ],
)
def test_hostile_text_is_only_text(opened: Open, hostile_url: str, path: str) -> None:
    """Whatever stands in names and answers, nothing of it runs and nothing of it is asked for."""
    page, seen = opened(hostile_url + path)

    assert page.evaluate("window.hacked") is None
    sound(page, seen, hostile_url)


def test_a_hostile_alert_is_only_text(opened: Open, hostile_url: str) -> None:
    """Its title, facts and trail."""
    page, seen = opened(hostile_url)
    page.click(".alarm-title")
    page.wait_for_load_state("networkidle")

    assert alert_url("") in page.url
    assert page.evaluate("window.hacked") is None
    sound(page, seen, hostile_url)


def test_three_clicks_from_the_alarm_to_the_sentence(opened: Open, world_url: str) -> None:
    """The overview's alarm, its worst answer; the address ends at a claim that is on the page."""
    page, seen = opened(world_url)

    page.click(".alarm-title")
    page.wait_for_load_state("networkidle")
    sound(page, seen, world_url)
    page.click("a.claim-text")
    page.wait_for_load_state("networkidle")

    anchor = page.evaluate("location.hash")
    assert anchor.startswith("#claim-")
    assert page.locator(anchor).count() == 1
    sound(page, seen, world_url)


def test_the_chart_is_drawn(opened: Open, world_url: str) -> None:
    """By plotly, under a policy that lets it write no style."""
    page, _ = opened(world_url + route_url(*RISING))

    page.wait_for_selector(".chart .main-svg .scatterlayer path")
    assert page.locator(".annotation-text").count() >= 2


def test_the_switch_of_colours_is_kept(opened: Open, world_url: str) -> None:
    """The next page has them from its first byte."""
    page, _ = opened(world_url)
    page.click("[data-theme-switch]")
    page.click("[data-theme-switch]")
    page.goto(f"{world_url}/alerts")

    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    assert 'data-theme="dark"' in page.content()


def test_the_keyboard_suffices(opened: Open, world_url: str) -> None:
    """The first stop leads to the content, "/" to the search."""
    page, _ = opened(world_url)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    assert page.evaluate("location.hash") == "#main"
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.id") == "search"
    page.keyboard.type("refund")
    page.keyboard.press("Enter")
    page.wait_for_url("**/answers?q=refund")


def test_an_alert_is_acknowledged(opened: Open, world_url: str) -> None:
    """By its button, with all that protects the form."""
    page, seen = opened(f"{world_url}/alerts")
    page.click(".alarm-warning .alarm-title")
    page.click("text=Acknowledge")
    page.wait_for_load_state("networkidle")

    assert "local took it on" in page.inner_text("main")
    assert seen.told == []
