"""The box of a filter: what it suggests, from the keyboard alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from tests.browser.hostile import ROUTE
from tests.browser.sound import assert_sound

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from tests.browser.conftest import Seen

    Open = Callable[..., tuple[Page, Seen]]

FIELD, SHOWN = "#filter", "[role=option]:visible"


def test_a_filter_is_written_from_the_keyboard(opened: Open, world_url: str) -> None:
    """A key, then one of its names, each chosen with the arrows; Escape closes the list."""
    page, seen = opened(f"{world_url}/answers")
    page.focus(FIELD)
    page.keyboard.type("rou")
    page.wait_for_selector(SHOWN)
    assert_sound(page, seen, world_url)
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    assert page.input_value(FIELD) == "route:"
    page.keyboard.type("REF")
    page.wait_for_selector(SHOWN)
    assert page.locator(SHOWN).all_inner_texts() == ["support/refunds"]
    page.keyboard.press("ArrowDown")
    assert page.get_attribute(FIELD, "aria-activedescendant")
    page.keyboard.press("Enter")
    page.keyboard.type("-verdict:")
    page.wait_for_selector(SHOWN)
    page.keyboard.press("Escape")
    assert page.locator(SHOWN).count() == 0
    page.keyboard.type("entailed")
    page.keyboard.press("Escape")
    page.keyboard.press("Enter")
    page.wait_for_url("**/answers?q=*")

    assert page.input_value(FIELD) == "route:support/refunds -verdict:entailed"
    assert page.locator("tbody tr").count() > 0
    assert page.locator("tbody .label-entailed").count() == 0
    assert_sound(page, seen, world_url)


def test_an_unknown_key_is_told(opened: Open, world_url: str) -> None:
    """At the box, with what was typed still in it."""
    page, _ = opened(f"{world_url}/issues?q=release:2.4.0")

    assert page.input_value(FIELD) == "release:2.4.0"
    assert "expected one of the keys route, service, tenant, state" in page.inner_text(
        "[role=alert]"
    )
    assert page.get_attribute(FIELD, "aria-describedby") == "filter-problem"


def test_routes_are_found_by_a_part_of_their_name(opened: Open, world_url: str) -> None:
    """On the overview, with suggestions."""
    page, seen = opened(world_url)
    page.fill(".route-filter [name=name]", "ref")
    page.wait_for_selector(SHOWN)
    page.click(SHOWN)
    page.wait_for_url("**name=support*")

    assert page.locator("tbody tr").count() == 1
    assert_sound(page, seen, world_url)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_hostile_names_are_only_suggested(opened: Open, hostile_url: str, scheme: str) -> None:
    """As text, and in quotation marks."""
    page, seen = opened(f"{hostile_url}/answers", scheme=scheme)
    page.fill(FIELD, f"route:{ROUTE[:3].split()[0]}")
    page.wait_for_selector(SHOWN)
    assert page.evaluate("window.hacked") is None
    assert_sound(page, seen, hostile_url)
    page.locator(SHOWN).first.click()
    page.keyboard.press("Escape")
    page.keyboard.press("Enter")
    page.wait_for_url("**q=route*")

    assert page.locator("[role=alert]").count() == 0
    assert page.locator("tbody tr").count() > 0
    assert_sound(page, seen, hostile_url)


def test_columns_are_chosen(opened: Open, world_url: str) -> None:
    """On the page, with the filter kept; the usual ones are a press away."""
    page, seen = opened(f"{world_url}/answers?q=refund")
    page.click(".columns-choice summary")
    for name in (
        "Time",
        "Unfaithful",
        "Misleading",
        "Route",
        "Model",
        "First failed claim or answer",
    ):
        page.uncheck(f".columns-choice label:has-text('{name}') input")
    page.check(".columns-choice label:has-text('Release') input")
    assert_sound(page, seen, world_url)
    page.click(".columns-choice button")
    page.wait_for_url("**columns=*")

    assert page.locator("th").all_inner_texts() == ["Verdict", "Question", "Release"]
    assert page.input_value(FIELD) == "refund"
    assert_sound(page, seen, world_url)
    page.click(".columns-choice summary")
    page.click("text=The usual ones")
    page.wait_for_url("**/answers?q=refund")
    assert page.locator("th").count() == 8
