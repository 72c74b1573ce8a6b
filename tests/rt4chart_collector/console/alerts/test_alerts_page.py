"""The list of alerts as a file."""

from __future__ import annotations

import csv
import io
import time
from dataclasses import replace

from rt4chart_collector.core.alerts.state import AlertEvent, AlertEventKind
from rt4chart_collector.store.alerts.alert_events import record_alert_events
from rt4chart_collector.store.engine.connect import Client
from tests.rt4chart_collector.console.web import browser
from tests.rt4chart_collector.notify.world import DRIFT, MINUTE


def test_a_long_history_is_whole_in_its_files(client: Client) -> None:
    """Part after part by `Link`, without a gap."""
    now = time.time_ns()
    events = [
        AlertEvent(
            replace(DRIFT, route=f"r{number}"), now - number * MINUTE // 10, AlertEventKind.FIRED
        )
        for number in range(1, 2_101)
    ]
    record_alert_events(client, events)
    visitor = browser(client)

    routes: list[str] = []
    path = "/alerts?format=csv"
    while path:
        answer = visitor.get(path)
        routes += [row["route"] for row in csv.DictReader(io.StringIO(answer.text))]
        path = answer.headers.get("link", "").partition(">")[0].removeprefix("<")

    assert len(routes) == 2_100
    assert len(set(routes)) == 2_100


def test_many_open_alerts_are_a_link_away(client: Client) -> None:
    """The list begins with twenty of them, the worst first, and says how many there are."""
    now = time.time_ns()
    events = [
        AlertEvent(replace(DRIFT, route=f"r{number}"), now - MINUTE, AlertEventKind.FIRED)
        for number in range(23)
    ]
    record_alert_events(client, events)
    visitor = browser(client)

    short, whole = visitor.get("/alerts").text, visitor.get("/alerts?open=all").text

    assert short.count('class="alert-title"') == 20
    assert 'href="/alerts?open=all">3 more open alerts</a>' in short
    assert whole.count('class="alert-title"') == 23


def test_the_history_is_narrowed_by_a_part_of_a_route(client: Client) -> None:
    """Whatever its case; open alerts stay."""
    now = time.time_ns()
    routes = ("support/Refunds", "support/plans", "search")
    events = [
        AlertEvent(replace(DRIFT, route=route), now - MINUTE, AlertEventKind.FIRED)
        for route in routes
    ]
    record_alert_events(client, events)
    visitor = browser(client)

    def found(query: str) -> set[str]:
        rows = visitor.get(f"/alerts?format=json&{query}").json()["rows"]
        return {row["route"] for row in rows}

    assert found("route=REFUND") == {"support/Refunds"}
    assert found("route=support") == {"support/Refunds", "support/plans"}
    assert found(f"service={DRIFT.service[:2]}") == set(routes)
    assert found("service=none") == set()
    assert visitor.get("/alerts?route=refund").text.count('class="alert-title"') == 3
