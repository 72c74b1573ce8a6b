"""The watch over the store: away when it refuses, when it is gone, and when it hangs."""

from __future__ import annotations

import time
from collections.abc import Mapping
from threading import Event, Thread

import pytest

from otel_rt4chart.core.errors import StoreError
from otel_rt4chart.core.settings_parsers import Address
from rt4chart_collector.service import health
from rt4chart_collector.service.health import StoreWatch
from rt4chart_collector.store.access.serve import accessible
from rt4chart_collector.store.connect import Client, connect


def test_store_that_answers_is_not_away(client: Client) -> None:
    """Nor is one of which nothing is known yet."""
    watch = StoreWatch(client)
    assert not watch.is_away
    watch.ask()
    assert not watch.is_away


def test_store_that_is_gone_is_away(client: Client) -> None:
    """A server that was stopped; the watch says so and raises nothing."""
    token = "of-the-test"  # noqa: S105 - of this test
    with accessible(client.target, Address("127.0.0.1", 0), token=token) as url:
        served = connect(url.replace("//", f"//me:{token}@") + f"/{client.database}")
        watch = StoreWatch(served)
        watch.ask()
        before = watch.is_away
    watch.ask()

    assert (before, watch.is_away) == (False, True)
    served.close()


def test_store_that_refuses_inserts_is_away_for_a_while(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Until one is stored again, or long enough nothing was tried."""
    watch = StoreWatch(client)
    watch.inserted(is_stored=False)
    refused = watch.is_away
    watch.inserted(is_stored=True)
    stored = watch.is_away
    watch.inserted(is_stored=False)
    monkeypatch.setattr(health, "REFUSAL_S", 0.0)

    assert (refused, stored, watch.is_away) == (True, False, False)


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


def test_store_that_hangs_is_away(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """Though nothing failed yet."""
    monkeypatch.setattr(health, "SILENCE_S", 0.2)
    monkeypatch.setattr(health, "PAUSE_S", 0.01)
    hanging = Hanging(client)
    watch = StoreWatch(hanging)
    thread = Thread(target=watch.run, daemon=True)
    thread.start()
    assert hanging.asked.wait(10)
    begin = time.monotonic()
    while not watch.is_away and time.monotonic() - begin < 10:
        time.sleep(0.01)

    assert watch.is_away
    watch.stop()
    hanging.answered.set()
    thread.join(10)
    assert not thread.is_alive()
