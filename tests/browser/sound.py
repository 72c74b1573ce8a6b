"""What holds for every page of the console, whatever it shows."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from tests.browser.conftest import Seen

GRAVE = ("serious", "critical")
# Of moderate impact, and ours nonetheless: a page has each landmark once, each under its own name.
HELD = ("landmark-unique", "landmark-one-main", "heading-order", "page-has-heading-one")


def assert_sound(page: Page, seen: Seen, url: str) -> None:
    """No serious finding of axe, no console message, no request to another host, no overflow."""
    from axe_playwright_python.sync_playwright import Axe

    response = Axe().run(page, options={"resultTypes": ["violations"]}).response
    assert len(response["passes"]) > 10
    found = response["violations"]
    grave = [one for one in found if one["impact"] in GRAVE or one["id"] in HELD]
    elements = [(one["id"], [node["html"][:160] for node in one["nodes"][:4]]) for one in grave]
    assert elements == []
    assert [one for one in seen.messages if "404" not in one] == []
    assert [one for one in seen.requests if not one.startswith(("data:", f"{url}/"))] == []
    width = page.evaluate("document.documentElement.scrollWidth")
    assert width <= page.evaluate("window.innerWidth")
