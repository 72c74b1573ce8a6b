"""The monitor beside a console: it waits for its store, and is not everywhere."""

from __future__ import annotations

from dataclasses import replace
from threading import Thread

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from otel_rt4chart.core.errors import StoreError
from rt4chart_collector.console.site import build_site
from rt4chart_collector.core.settings import (
    AlertSettings,
    ConsoleSettings,
    MonitoringSettings,
    MonitorSettings,
)
from rt4chart_collector.service.monitor import StandaloneMonitor, monitors_store, standalone_routes
from rt4chart_collector.store.engine.connect import Client
from tests.polling import wait_until
from tests.rt4chart_collector.detect.monitor.world import World
from tests.tokens import guard_with

EVIDENCE = "rt4chart_route_drift_log_evidence{"
SETTINGS = MonitoringSettings(replace(MonitorSettings(), monitor=0.05), AlertSettings())


def test_it_alarms_once_its_store_is_there(client: Client) -> None:
    """A store that is away at first is tried again; a stop ends it."""
    world, tries = World(client), []
    world.answer(240, 10 / 3, 0.045)
    world.answer(2, 40, 0.6)

    def opened() -> Client:
        tries.append(1)
        if len(tries) < 3:
            raise StoreError("expected a server, there is none")
        return client.sibling()

    lone = StandaloneMonitor(opened, SETTINGS, clock=lambda: world.now)
    thread = Thread(target=lone.run, daemon=True)
    thread.start()
    asking = TestClient(Starlette(routes=standalone_routes(lone, SETTINGS, guard_with())))
    wait_until(lambda: EVIDENCE in asking.get("/metrics").text)
    metrics, rates = asking.get("/metrics"), asking.get("/v1/rates?service=shop")
    lone.stop()
    thread.join(30)

    assert [one.rule for one in world.alerts()] == ["route_drift"]
    assert EVIDENCE in metrics.text
    assert set(rates.json()) == {"raised", "expires"}
    assert not thread.is_alive()


def test_programs_read_with_a_token_of_their_own(client: Client) -> None:
    """What people sign in with does not open it, nor does the other open a page."""
    lone = StandaloneMonitor(client.sibling, SETTINGS)
    settings = ConsoleSettings(console_token="t" * 32)
    guard = guard_with(console="t" * 32, read="r" * 32)
    routes = standalone_routes(lone, SETTINGS, guard)
    site = build_site(client.sibling, settings, api_routes=routes, guard=guard)
    asking = TestClient(site.app, base_url="http://localhost:8321")

    assert asking.get("/v1/rates?service=shop").status_code == 401
    assert asking.get("/metrics").status_code == 401
    for path in ("/v1/rates?service=shop", "/metrics"):
        codes = [
            asking.get(path, headers={"authorization": f"Bearer {letter * 32}"}).status_code
            for letter in "tr"
        ]
        assert codes == [401, 200]
    assert asking.get("/", headers={"authorization": f"Bearer {'r' * 32}"}).status_code == 401


def test_it_ends_while_it_waits() -> None:
    """Without a store there is nothing to finish."""

    def opened() -> Client:
        raise StoreError("expected a server, there is none")

    lone = StandaloneMonitor(opened, SETTINGS)
    thread = Thread(target=lone.run, daemon=True)
    thread.start()
    lone.stop()
    thread.join(30)

    assert not thread.is_alive()


@pytest.mark.parametrize(
    ("every_s", "is_readonly", "is_folder", "expected"),
    [
        (60.0, False, False, True),
        (60.0, True, False, False),
        (60.0, False, True, False),
        (0.0, False, False, False),
    ],
)
def test_a_console_watches_a_server_s_store(
    every_s: float, is_readonly: bool, is_folder: bool, expected: bool
) -> None:
    """Not one that a service owns, and not where nothing may be changed."""
    settings = replace(SETTINGS, monitor=replace(SETTINGS.monitor, monitor=every_s))

    assert monitors_store(settings, is_readonly=is_readonly, is_folder=is_folder) is expected
