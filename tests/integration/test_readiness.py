"""A service is ready when everything listens that its settings ask for."""

from __future__ import annotations

import subprocess
from pathlib import Path

import httpx
import pytest

from rt4chart_collector.service.health import STARTING, Health
from tests.integration.otelcol import free_ports
from tests.integration.service import PATIENCE_S, command
from tests.polling import wait_until

pytestmark = pytest.mark.e2e


def test_ready_service_has_a_console(tmp_path: Path) -> None:
    """The first 200 of /readyz comes after the console answers."""
    ports = free_ports(3)
    places = [f"127.0.0.1:{port}" for port in ports]
    flags = ("--otlp-http", places[0], "--otlp-grpc", places[1], "--console", places[2])
    dsn = ("--dsn", f"chdb://{tmp_path / 'db'}")
    with subprocess.Popen(command(*dsn, *flags), stdout=subprocess.DEVNULL) as process:
        try:
            wait_until(lambda: is_ready(places[0]), within_s=PATIENCE_S)
            page = httpx.get(f"http://{places[2]}/healthz")
        finally:
            process.kill()

    assert page.status_code == 200


def is_ready(place: str) -> bool:
    """Whether the service there is ready."""
    try:
        return httpx.get(f"http://{place}/readyz").status_code == 200
    except httpx.TransportError:
        return False


def test_starting_is_a_reason_until_the_last_listener() -> None:
    """A process with nothing more to open is ready from the start."""
    health = Health(is_starting=True)
    before = health.reasons
    health.start()

    assert (before, health.reasons, Health().reasons) == ((STARTING,), (), ())
