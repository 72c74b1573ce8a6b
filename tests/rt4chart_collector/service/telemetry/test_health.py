"""The watch over the store: unreachable when it refuses, when it is gone, and when it hangs."""

from __future__ import annotations

import time
from collections.abc import Mapping
from threading import Event, Thread

import pytest

from otel_rt4chart.core.errors import StoreError
from rt4chart_collector.service import health
from rt4chart_collector.service.health import StoreWatch
from rt4chart_collector.service.local_api import serve_local_api
from rt4chart_collector.store.engine.connect import Client
from tests.polling import wait_until
from tests.rt4chart_collector.service.beside import endpoint_of, guest


def test_store_that_answers_is_reachable(client: Client) -> None:
    """So is one that was not probed yet."""
    watch = StoreWatch(client)
    assert not watch.is_unreachable
    watch.probe()
    assert not watch.is_unreachable


def test_store_that_is_gone_is_unreachable(client: Client) -> None:
    """A server that was stopped; the watch reports it and raises nothing."""
    with serve_local_api(client.target):
        served = guest(client, endpoint_of(client))
        watch = StoreWatch(served)
        watch.probe()
        before = watch.is_unreachable
    watch.probe()

    assert (before, watch.is_unreachable) == (False, True)
    served.close()


def test_store_that_refuses_inserts_is_unreachable_for_a_while(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Until an insert succeeds, or the last failure is long ago."""
    watch = StoreWatch(client)

    def refuse() -> None:
        with pytest.raises(StoreError), watch.inserting():
            raise StoreError("refused")

    refuse()
    refused = watch.is_unreachable
    with watch.inserting():
        pass
    stored = watch.is_unreachable
    refuse()
    monkeypatch.setattr(health, "INSERT_FAILURE_S", 0.0)

    assert (refused, stored, watch.is_unreachable) == (True, False, False)


def test_store_that_is_busy_with_one_insert_is_unreachable(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All others wait for it, while the store answers probes; it is over when the insert is."""
    watch = StoreWatch(client)
    with watch.inserting():
        before = watch.is_unreachable
        monkeypatch.setattr(health, "INSERT_TIMEOUT_S", 0.0)
        time.sleep(0.01)
        during = watch.is_unreachable

    assert (before, during, watch.is_unreachable) == (False, True, False)


class Hanging(Client):
    """A connection on which no answer comes."""

    def __init__(self, client: Client) -> None:
        super().__init__(client._driver, client.target)
        self.asked, self.answered = Event(), Event()

    def command(self, statement: str, parameters: Mapping[str, object] | None = None) -> object:
        """Wait, and then fail."""
        self.asked.set()
        self.answered.wait(30)
        raise StoreError("no answer")


def test_store_that_hangs_is_unreachable(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """Although no request has failed."""
    monkeypatch.setattr(health, "PROBE_TIMEOUT_S", 0.2)
    monkeypatch.setattr(health, "PROBE_INTERVAL_S", 0.01)
    hanging = Hanging(client)
    watch = StoreWatch(hanging)
    thread = Thread(target=watch.run, daemon=True)
    thread.start()
    assert hanging.asked.wait(10)

    wait_until(lambda: watch.is_unreachable)
    watch.stop()
    hanging.answered.set()
    thread.join(10)
    assert not thread.is_alive()
