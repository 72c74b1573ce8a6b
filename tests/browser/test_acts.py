"""The console by hand: keys, buttons with scripts and without, the map, the review of cases."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from rt4chart_collector.console.view.urls import answer_url
from tests.browser.conftest import addresses
from tests.browser.sound import assert_sound

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from tests.browser.conftest import Seen

    Open = Callable[..., tuple[Page, Seen]]

FOCUSED = "document.activeElement"


def worst(page: Page, url: str) -> str:
    """The address of an answer with unfaithful claims."""
    page.goto(f"{url}/answers?label=contradicted")
    return f"{url}{page.get_attribute('a.guilty', 'href')}".partition("#")[0]


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
    page.click(".alert-warning .alert-title")
    page.click("text=Acknowledge")
    page.wait_for_load_state("networkidle")

    assert "acknowledged by local" in page.inner_text("main")
    assert seen.messages == []


def test_n_and_p_go_from_claim_to_claim(opened: Open, world_url: str) -> None:
    """The mark is focused, the address is its claim's, and what is known of it is shown."""
    page, seen = opened(world_url)
    page.goto(worst(page, world_url))
    failed = ("contradicted", "baseless", "misleading")
    marks = page.locator(", ".join(f"#answer .mark-{label}" for label in failed))

    page.keyboard.press("n")
    first = page.evaluate(f"{FOCUSED}.closest('.mark').dataset.claims")
    assert first == marks.first.get_attribute("data-claims")
    assert page.evaluate("location.hash") == f"#claim-{first.split()[0]}"
    assert page.locator(".tip").inner_text()
    page.keyboard.press("p")
    last = page.evaluate(f"{FOCUSED}.closest('.mark').dataset.claims")
    assert last == marks.last.get_attribute("data-claims")
    page.keyboard.press("Escape")
    assert page.locator(".tip").count() == 0
    assert_sound(page, seen, world_url)


def test_tab_reaches_the_buttons_of_feedback(opened: Open, world_url: str) -> None:
    """Those of the answer, then those of its claims, in the order of the page."""
    page, _ = opened(world_url + answer_url(f"{7:032x}", f"{7:016x}"))
    reached: list[str] = []
    for _step in range(120):
        page.keyboard.press("Tab")
        if page.evaluate(f"{FOCUSED}.name") == "opinion":
            reached.append(page.evaluate(f"{FOCUSED}.form.elements.claim.value"))

    assert reached[:4] == ["-1", "-1", "0", "0"]


@pytest.mark.parametrize("scripts", [True, False])
def test_people_agree_and_disagree(opened: Open, world_url: str, scripts: bool) -> None:
    """What they said stands at the claim, with scripts in its place and without on a new page."""
    number = 11 if scripts else 12
    path = answer_url(f"{number:032x}", f"{number:016x}")
    page, seen = opened(world_url + path, scripts=scripts)
    claim = "#feedback-0"

    page.click(f"{claim} button[value=agree] >> nth=0")
    page.wait_for_selector(f"{claim} .said")
    assert "1 agrees, 0 disagree" in page.inner_text(f"{claim} .said")
    page.click(f"{claim} button[value=disagree] >> nth=0")
    page.wait_for_selector(f"{claim} .said >> text=1 disagrees")
    page.click(f"{claim} button[value=none]")
    page.wait_for_selector(f"{claim} .said", state="detached")

    assert page.url.startswith(world_url + path)
    assert seen.messages == []


def test_a_point_of_the_map_leads_to_its_answer(opened: Open, world_url: str) -> None:
    """Under the pointer it says its claim."""
    page, seen = opened(f"{world_url}/map")
    place = page.locator("#map .scatterlayer .point").first
    place.wait_for()
    box = place.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + box["width"] / 2 - 20, box["y"] + box["height"] / 2)
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2, steps=5)
    page.wait_for_selector("#map-tip:not([hidden])")
    assert page.locator("#map-tip .claim-text").inner_text()
    assert_sound(page, seen, world_url)
    page.mouse.down()
    page.mouse.up()
    page.wait_for_url("**/answers/**")


def test_cases_are_reviewed_by_keys(opened: Open, world_url: str) -> None:
    """e writes a good answer, r says why not, a approves; the next case follows."""
    page, seen = opened(world_url + addresses(world_url)["review"])
    waiting = int(page.inner_text("h1").split()[3])

    page.keyboard.press("e")
    assert page.evaluate(f"{FOCUSED}.name") == "reference"
    page.keyboard.type("14 days.")
    page.keyboard.press("Escape")
    page.keyboard.press("a")
    page.wait_for_selector(f"h1 >> text=of {waiting - 1} pending")
    page.keyboard.press("r")
    assert page.evaluate(f"{FOCUSED}.name") == "note"
    page.keyboard.type("not a question of ours")
    page.keyboard.press("Enter")
    page.wait_for_selector(f"h1 >> text=of {waiting - 2} pending")
    before = page.url
    page.keyboard.press("j")
    page.wait_for_url(lambda url: url != before)
    assert_sound(page, seen, world_url)
