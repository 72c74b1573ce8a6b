"""Which routes have figures."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rt4chart_collector.detect.drift.finding import Finding
from rt4chart_collector.detect.monitor import metrics
from rt4chart_collector.detect.monitor.metrics import route_figures
from rt4chart_collector.store.connect import Client
from tests.rt4chart_collector.detect.monitor.world import DAY, START
from tests.rt4chart_collector.records import VERIFIER

FOUND = Finding(START, "calm", 1.0, 1.0, 3.0, 9.0, None, None, 0, 10.0, 10.0, "")


def routes(client: Client, found: dict[tuple[str, str], Finding], now_ns: int) -> list[str]:
    """Those with figures, in their order."""
    made = route_figures(client, found, verifier=VERIFIER, now_ns=now_ns, rule="evidence")
    return [one.route for one in made]


def test_the_busiest_routes_have_figures(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where there are more than a Prometheus bears."""
    found = {("shop", name): replace(FOUND, traffic_per_hour=at) for at, name in enumerate("abc")}
    monkeypatch.setattr(metrics, "MOST", 2)

    assert routes(client, found, START) == ["c", "b"]


def test_a_route_that_is_silent_for_a_day_has_no_evidence(client: Client) -> None:
    """Its last finding is no state of now, and no alarm of Prometheus either."""
    found = {("shop", "old"): FOUND, ("shop", "new"): replace(FOUND, tick_ns=START + DAY)}

    assert routes(client, found, START + DAY) == ["new"]
