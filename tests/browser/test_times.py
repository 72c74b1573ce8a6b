"""Times on the console's pages: in the reader's zone, in addresses in UTC."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlsplit

from rt4chart_collector.console.view.urls import route_url
from tests.browser.sound import assert_sound
from tests.browser.world import RISING

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from tests.browser.conftest import Seen

    Open = Callable[..., tuple[Page, Seen]]

ZONE, AHEAD = "Asia/Colombo", timedelta(hours=5, minutes=30)


def test_times_are_in_the_readers_zone(opened: Open, world_url: str) -> None:
    """The page says which it is; the exact time in UTC is a hover away."""
    page, seen = opened(f"{world_url}/answers", zone=ZONE)
    shown = page.locator("tbody time").first

    there = datetime.fromisoformat(shown.get_attribute("datetime") or "") + AHEAD
    assert shown.inner_text() == f"{there:%Y-%m-%d %H:%M}"
    assert "UTC+05:30" in (shown.get_attribute("title") or "")
    foot = page.locator("footer").inner_text()
    assert f"Times are in {ZONE} (UTC+05:30), within texts in UTC." in foot
    assert_sound(page, seen, world_url)


def test_no_zone_stands_behind_a_time(opened: Open, world_url: str) -> None:
    """Neither behind one of the reader's zone nor, without scripts, behind one in UTC."""
    for scripts in (True, False):
        page, _ = opened(f"{world_url}/alerts", zone=ZONE, scripts=scripts)
        page.click(".alert-critical .alert-title")
        page.wait_for_load_state()
        words = page.locator("main").inner_text()

        assert re.search(r"Since\s+\d{4}-\d\d-\d\d \d\d:\d\d\s", words)
        assert not re.search(r"claims, [-\d: to]+ UTC", words)
        assert not re.search(r"Since\s+[-\d: ]+ UTC", words)


def test_a_reader_may_keep_utc(opened: Open, world_url: str) -> None:
    """The choice at the foot of the page stays."""
    page, _ = opened(f"{world_url}/answers", zone=ZONE)
    page.click("text=Show UTC")
    page.wait_for_load_state("networkidle")
    shown = page.locator("tbody time").first

    there = datetime.fromisoformat(shown.get_attribute("datetime") or "")
    assert shown.inner_text() == f"{there:%Y-%m-%d %H:%M}"
    assert "Times are in UTC." in page.locator("footer").inner_text()


def test_a_range_is_typed_in_the_readers_zone(opened: Open, world_url: str) -> None:
    """The address has it in UTC, and whoever opens that sees the same answers."""
    page, seen = opened(f"{world_url}/answers?measure=unfaithful", zone=ZONE)
    begin = datetime.now(UTC).replace(second=0, microsecond=0) - timedelta(hours=9)
    page.click(".time-range summary")
    page.fill("[name=from]", f"{begin + AHEAD:%Y-%m-%dT%H:%M}")
    page.fill("[name=to]", f"{begin + AHEAD + timedelta(hours=2):%Y-%m-%dT%H:%M}")
    assert_sound(page, seen, world_url)
    page.click(".time-range button")
    page.wait_for_load_state("networkidle")

    query = parse_qs(urlsplit(page.url).query)
    assert query["from"] == [f"{begin:%Y-%m-%dT%H:%MZ}"]
    assert query["measure"] == ["unfaithful"]
    times = [datetime.fromisoformat(one) for one in page.locator("tbody time").evaluate_all(
        "found => found.map(one => one.dateTime)")]  # fmt: skip
    assert times
    assert all(begin <= one <= begin + timedelta(hours=2) for one in times)
    other, _ = opened(page.url, zone="America/New_York")
    rows = "found => found.map(row => row.querySelector('.asked').href)"
    assert other.locator("tbody tr").evaluate_all(rows) == page.locator("tbody tr").evaluate_all(
        rows
    )
    assert_sound(page, seen, world_url)


def test_times_can_be_kept_in_the_address(opened: Open, world_url: str) -> None:
    """A link to the last hours shows the same answers tomorrow."""
    page, _ = opened(f"{world_url}/alerts?since=6h")
    page.click(".time-range summary")
    page.click("text=Keep these times")
    page.wait_for_load_state("networkidle")

    query = parse_qs(urlsplit(page.url).query)
    begin, end = (datetime.fromisoformat(query[name][0]) for name in ("from", "to"))
    assert end - begin == timedelta(hours=6)
    assert "since" not in query


def test_a_chart_is_in_the_readers_zone(opened: Open, world_url: str) -> None:
    """Its axis begins at the local time of the first point."""
    page, _ = opened(world_url + route_url(*RISING), zone=ZONE)
    page.wait_for_selector(".chart .main-svg .scatterlayer path")
    written, drawn = page.evaluate(
        "() => { const chart = document.querySelector('.chart');"
        " return [JSON.parse(chart.dataset.figure).data[1].x[0], chart.data[1].x[0]]; }"
    )

    assert datetime.fromisoformat(drawn) == datetime.fromisoformat(written).replace(
        tzinfo=None
    ) + AHEAD  # fmt: skip


def test_without_scripts_times_are_in_utc(opened: Open, world_url: str) -> None:
    """The page says so, and the form takes them as such."""
    page, _ = opened(f"{world_url}/answers?since=1h", scripts=False, zone=ZONE)

    assert "Times are in UTC." in page.locator("footer").inner_text()
    shown = page.locator("tbody time").first
    assert re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d", shown.inner_text())
    there = datetime.fromisoformat(shown.get_attribute("datetime") or "")
    assert shown.inner_text() == f"{there:%Y-%m-%d %H:%M}"
    assert "in UTC" in (page.locator("[data-zone-name]").first.text_content() or "")
