"""What the palette finds."""

from __future__ import annotations

import time

from rt4chart_collector.store.answers.verdicts import insert_verdicts
from rt4chart_collector.store.engine.connect import Client
from tests.rt4chart_collector.console.web import browser
from tests.rt4chart_collector.records import verdict


def found(client: Client, words: str) -> list[tuple[str, str, str]]:
    """Text, note and address of what is found."""
    rows = browser(client).get("/find", params={"q": words}).json()
    return [(row["text"], row["note"], row["url"]) for row in rows]


def test_without_words_the_pages_are_found(client: Client) -> None:
    """Those of the navigation, in its order."""
    assert found(client, "")[:2] == [("Overview", "page", "/"), ("Answers", "page", "/answers")]


def test_routes_are_found_by_a_part_of_their_name(client: Client) -> None:
    """Or of their service; the address leads to the route."""
    start_ns = time.time_ns() - 3600 * 10**9
    insert_verdicts(client, [verdict(1, route="a/\u202eb", start_ns=start_ns)])

    route = ("a/\ufffdb · shop", "route", "/routes/shop/a~2F~E2~80~AEb")
    assert found(client, "A/") == [route]
    assert found(client, "shop") == [route]
    assert found(client, "nothing") == []


def test_a_trace_id_leads_to_its_answers(client: Client) -> None:
    """Whether it is there or not: the list says so."""
    assert found(client, f" {0xAB:032X}") == [(f"{0xAB:032x}", "trace", f"/answers?q={0xAB:032x}")]
