"""The page of an alert in a real browser: from the list to the guilty sentence, and its chart."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from typing import TYPE_CHECKING

import pytest

from tests.browser.sound import assert_sound

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from tests.browser.conftest import Seen

    Open = Callable[..., tuple[Page, Seen]]

LOOKS = pytest.mark.parametrize(
    ("scheme", "width"), [("light", 1280), ("dark", 1280), ("light", 390), ("dark", 390)]
)
# The places of the chart's labels on the screen: signs by their frame, other texts by themselves.
LABELS = """
[...document.querySelectorAll('.rate-chart .sign rect, .rate-chart .plot > text, .levels text')]
    .map((one) => one.getBoundingClientRect())
    .map((one) => [one.left, one.right, one.top, one.bottom])
"""


def alert_page(page: Page) -> None:
    """Go from the list of alerts to that of the rise: the first click."""
    page.click(".alert-critical .alert-title")
    page.wait_for_load_state("networkidle")


@pytest.mark.parametrize("scripts", [True, False])
def test_two_clicks_from_the_list_to_the_guilty_sentence(
    opened: Open, world_url: str, scripts: bool
) -> None:
    """The alert, the marked words of an answer since the rise; without scripts, one click more."""
    page, seen = opened(f"{world_url}/alerts", scripts=scripts)
    alert_page(page)
    if not scripts:
        page.click("text=Show them on one page")
        page.wait_for_load_state("networkidle")
    words = page.locator("[aria-labelledby=pairs] .mark a").first
    said = words.inner_text()
    words.click()
    page.wait_for_load_state("networkidle")

    anchor = "#" + page.url.partition("#")[2]
    assert anchor.startswith("#claim-")
    assert said in page.locator(anchor).inner_text()
    assert "unfaithful" in page.locator("main").inner_text()
    assert [one for one in seen.messages if "404" not in one] == []


@LOOKS
def test_the_page_is_sound_wherever_it_is_read(
    opened: Open, world_url: str, scheme: str, width: int
) -> None:
    """And no label of its chart covers another one."""
    page, seen = opened(f"{world_url}/alerts", scheme=scheme, width=width)
    alert_page(page)

    places = page.evaluate(LABELS)
    assert len(places) >= 6
    for one, other in combinations(places, 2):
        is_beside = one[1] <= other[0] + 1 or other[1] <= one[0] + 1
        is_above = one[3] <= other[2] + 4 or other[3] <= one[2] + 4
        assert is_beside or is_above, (one, other)
    assert all(left >= 0 and right <= width for left, right, _, _ in places)
    assert_sound(page, seen, world_url)


def test_the_chart_needs_no_script(opened: Open, world_url: str) -> None:
    """Its line, its band and its table are in the page."""
    page, _ = opened(f"{world_url}/alerts", scripts=False)
    alert_page(page)

    assert page.locator(".rate-chart .rate-line").count() >= 6
    assert page.locator(".rate-chart rect.usual").count() == 1
    page.click("text=As a table")
    assert page.locator("[aria-label='The rate by step'] tbody tr").count() >= 6


def test_an_owner_is_named_by_hand(opened: Open, world_url: str) -> None:
    """And taken back."""
    page, seen = opened(f"{world_url}/alerts")
    alert_page(page)
    page.fill("#owner", "ben")
    page.click("text=Assign")
    page.wait_for_load_state("networkidle")
    assert "owner ben" in page.inner_text("main")
    page.fill("#owner", "")
    page.click("button[value=assign]")
    page.wait_for_load_state("networkidle")

    assert "nobody owns it" in page.inner_text("main")
    assert seen.messages == []
