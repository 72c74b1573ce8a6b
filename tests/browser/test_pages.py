"""The console in a real browser: accessible, and without errors or foreign requests."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from rt4chart_collector.console.view.urls import alert_url, answer_url, route_url
from tests.browser.conftest import addresses
from tests.browser.hostile import ROUTE, SERVICE, VAST
from tests.browser.misleading import CASES, MISLEADING, case_url
from tests.browser.sound import assert_sound
from tests.browser.world import RISING
from tests.rt4chart_collector.console.pages.answer_data import ANSWER_SPAN, PATH

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from tests.browser.conftest import Seen

    Open = Callable[..., tuple[Page, Seen]]

PAGES = (
    *("/", "/answers", "/issues", "/map", "/evalsets", "/alerts", "/label", "/label/draw"),
    *("/try", "/try?example=yes", "/compare", "/health", "/settings"),
)
FOUND = ("issue", "alert", "set", "review")
FILLED = (
    *PAGES,
    *FOUND,
    route_url(*RISING),
    answer_url(f"{7:032x}", f"{7:016x}"),
    f"/health?trace={7:032x}",
    "/nothing",
    "/?measure=either",
    f"{route_url(*MISLEADING)}?measure=misleading",
    "/answers?measure=misleading&order=worst",
    "/compare?by=prompt_version",
    "/compare?by=time&since=6h&measure=either",
    *(case_url(number) for number in range(len(CASES))),
)
STRANGE = (
    *PAGES,
    *FOUND,
    route_url(SERVICE, ROUTE),
    answer_url(f"{7:032x}", f"{7:016x}"),
    PATH,
    answer_url(VAST, ANSWER_SPAN),
    "/answers?q=<script>",
    "/map?since=30d",
)
LOOKS = pytest.mark.parametrize(
    ("scheme", "width"), [("light", 1280), ("dark", 1280), ("light", 360)]
)


def at(url: str, path: str) -> str:
    """The address; some pages have names here, as theirs are the store's."""
    return url + (path if path.startswith("/") else addresses(url)[path])


@LOOKS
@pytest.mark.parametrize("path", PAGES)
def test_an_empty_console_is_sound(
    opened: Open, empty_url: str, path: str, scheme: str, width: int
) -> None:
    """Each page without any data has one heading and passes the checks of every page."""
    page, seen = opened(empty_url + path, scheme=scheme, width=width)

    assert page.locator("h1").count() == 1
    assert_sound(page, seen, empty_url)


@LOOKS
@pytest.mark.parametrize("path", FILLED)
def test_a_filled_console_is_sound(
    opened: Open, world_url: str, path: str, scheme: str, width: int
) -> None:
    """Each page with a day's answers, light, dark and as wide as a phone, passes them too."""
    page, seen = opened(at(world_url, path), scheme=scheme, width=width)

    assert page.locator("h1").count() == 1
    assert_sound(page, seen, world_url)


@LOOKS
@pytest.mark.parametrize("path", STRANGE)
def test_hostile_text_is_only_text(
    opened: Open, hostile_url: str, path: str, scheme: str, width: int
) -> None:
    """Whatever stands in names and answers, nothing of it runs and nothing of it is asked for."""
    page, seen = opened(at(hostile_url, path), scheme=scheme, width=width)

    assert page.evaluate("window.hacked") is None
    assert page.locator("main b, main img").count() == 0
    assert_sound(page, seen, hostile_url)


def test_a_hostile_alert_is_only_text(opened: Open, hostile_url: str) -> None:
    """Its title, facts and trail."""
    page, seen = opened(hostile_url)
    page.click(".alert-title")
    page.wait_for_load_state("networkidle")

    assert alert_url("") in page.url
    assert page.evaluate("window.hacked") is None
    assert_sound(page, seen, hostile_url)


def test_three_clicks_from_the_alarm_to_the_sentence(opened: Open, world_url: str) -> None:
    """The overview's alert, its worst answer; the address ends at a claim that is on the page."""
    page, seen = opened(world_url)

    page.click(".alert-title")
    page.wait_for_load_state("networkidle")
    assert_sound(page, seen, world_url)
    page.click("a.claim-text")
    page.wait_for_load_state("networkidle")

    anchor = page.evaluate("location.hash")
    assert anchor.startswith("#claim-")
    assert page.locator(anchor).count() == 1
    assert_sound(page, seen, world_url)


def test_the_chart_is_drawn(opened: Open, world_url: str) -> None:
    """By plotly, under a policy that lets it write no style."""
    page, _ = opened(world_url + route_url(*RISING))

    page.wait_for_selector(".chart .main-svg .scatterlayer path")
    assert page.locator(".annotation-text").count() >= 2
