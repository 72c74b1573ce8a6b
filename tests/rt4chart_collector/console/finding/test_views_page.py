"""Saved views on the pages."""

from __future__ import annotations

from rt4chart_collector.core.settings import ConsoleSettings
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.views.saved_views import SavedView, save_view, saved_views
from tests.rt4chart_collector.console.web import browser, post

ADDRESS = "/answers?q=route%3Arefunds&order=worst"


def test_a_view_is_saved_and_listed_at_once(client: Client) -> None:
    """On every page, on the page of views, and in what the palette finds."""
    visitor = browser(client)
    visitor.get("/settings")

    status, _ = post(visitor, "/views", do="save", name="Refunds <b>", address=ADDRESS)

    assert status == 303
    link = '<a href="/answers?q=route%3Arefunds&amp;order=worst"><bdi>Refunds &lt;b&gt;</bdi></a>'
    assert link in visitor.get("/settings").text
    assert link in visitor.get("/views").text
    found = {"text": "Refunds <b>", "note": "view", "url": ADDRESS}
    assert found in visitor.get("/find?q=refunds").json()


def test_a_page_offers_its_own_address_to_be_saved(client: Client) -> None:
    """With its filters, order and time range."""
    page = browser(client).get("/alerts?rule=route_drift&from=2026-01-30&open=all").text

    whole = "/alerts?rule=route_drift&amp;from=2026-01-30&amp;open=all"
    assert f'name="address" value="{whole}"' in page


def test_a_view_of_another_person_is_not_seen(client: Client) -> None:
    """Nor removed; one of everybody is both."""
    save_view(client, SavedView("ann", "hers", "/answers", "ann", 1))
    save_view(client, SavedView("", "of all", "/alerts", "ann", 1))
    visitor = browser(client)

    page = visitor.get("/views").text
    assert "of all" in page
    assert "hers" not in page
    assert post(visitor, "/views", do="remove", name="hers")[0] == 400
    assert post(visitor, "/views", do="remove", name="of all", shared="yes")[0] == 303
    assert [one.name for one in saved_views(client, "ann")] == ["hers"]


def test_what_is_no_address_of_the_console_is_refused(client: Client) -> None:
    """Nobody is led to another host."""
    visitor = browser(client)

    status, told = post(visitor, "/views", do="save", name="x", address="//example.org/")

    assert status == 400
    assert "expected the address of a page" in told
    assert saved_views(client, "local") == []


def test_a_reader_saves_nothing(client: Client) -> None:
    """A read-only console has no form for it, and refuses one."""
    visitor = browser(client, ConsoleSettings(console_readonly=True))

    assert "Save this page" not in visitor.get("/").text
    assert post(visitor, "/views", do="save", name="x", address="/")[0] == 403


def test_pages_are_there_without_the_table(client: Client) -> None:
    """As over the database of an earlier version."""
    client.command("DROP TABLE rt4chart_saved_views")
    visitor = browser(client)

    assert visitor.get("/settings").status_code == 200
    assert visitor.get("/find?q=answers").json()[0]["url"] == "/answers"
