"""The monitor beside a console: it waits for its store, and is not everywhere."""

from __future__ import annotations

import time
from dataclasses import replace
from threading import Thread

import pytest

from otel_rt4chart.errors import StoreError
from rt4chart_collector.alerts.settings import AlertSettings
from rt4chart_collector.monitor.alone import LoneMonitor, watches
from rt4chart_collector.monitor.served import Monitoring
from rt4chart_collector.monitor.settings import MonitorSettings
from rt4chart_collector.store.connect import Client
from tests.rt4chart_collector.monitor.world import World

SETTINGS = Monitoring(replace(MonitorSettings(), monitor=0.05), AlertSettings())


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

    lone = LoneMonitor(opened, SETTINGS, clock=lambda: world.now)
    thread = Thread(target=lone.run, daemon=True)
    thread.start()
    until = time.monotonic() + 60
    while not world.alerts() and time.monotonic() < until:
        time.sleep(0.1)
    lone.stop()
    thread.join(30)

    assert [one.rule for one in world.alerts()] == ["route_drift"]
    assert not thread.is_alive()


def test_it_ends_while_it_waits() -> None:
    """Without a store there is nothing to finish."""

    def opened() -> Client:
        raise StoreError("expected a server, there is none")

    lone = LoneMonitor(opened, SETTINGS)
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

    assert watches(settings, is_readonly=is_readonly, is_folder=is_folder) is expected
