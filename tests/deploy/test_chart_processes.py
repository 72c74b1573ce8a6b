"""Processes started as the chart's manifests start them: arguments, variables, tokens, probes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.deploy.chart.rendering import manifests
from tests.integration.otelcol import free_ports
from tests.polling import wait_until

pytestmark = pytest.mark.e2e
PROBES = ("startupProbe", "livenessProbe", "readinessProbe")
# How a kubelet names a pod.
POD = "10.1.2.3"


def container_of(layout: str, name: str) -> dict[str, Any]:
    """The container of a workload."""
    (one,) = [
        each
        for each in manifests(layout)
        if each["metadata"]["name"] == name and each["kind"] in ("Deployment", "StatefulSet")
    ]
    found: dict[str, Any] = one["spec"]["template"]["spec"]["containers"][0]
    return found


def environ_of(
    container: Mapping[str, Any], secret: Mapping[str, str], folder: Path, ports: Mapping[int, int]
) -> dict[str, str]:
    """A container's variables here: the Secret's values, its files in a folder, other ports."""
    given = {"PATH": os.environ["PATH"], "XDG_DATA_HOME": str(folder), "TZ": "UTC"}
    for one in container["env"]:
        value = one.get("value") or secret[one["valueFrom"]["secretKeyRef"]["key"]]
        host, _, port = value.rpartition(":")
        if host == "0.0.0.0":  # noqa: S104 - compared with, not bound
            value = f"127.0.0.1:{ports[int(port)]}"
        elif value.startswith("/etc/rt4chart/tokens/"):
            file = folder / value.rpartition("/")[2]
            file.write_text(secret[one["name"].removesuffix("_FILE")])
            value = str(file)
        given[one["name"]] = value
    return given


@contextmanager
def running(container: Mapping[str, Any], environ: Mapping[str, str]) -> Iterator[None]:
    """The container's process, which a SIGTERM ends cleanly."""
    command = [sys.executable, "-m", "otel_rt4chart", *container["args"]]
    with subprocess.Popen(command, env=environ, stdout=subprocess.DEVNULL) as process:
        try:
            yield
            process.send_signal(signal.SIGTERM)
            assert process.wait(60) == 0
        finally:
            process.kill()


def is_well(url: str, port: int) -> bool:
    """True if a probe gets the answer that it waits for."""
    try:
        return httpx.get(url, headers={"host": f"{POD}:{port}"}).status_code == httpx.codes.OK
    except httpx.TransportError:
        return False


@pytest.mark.parametrize(
    ("layout", "name"), [("small", "rt4chart-up"), ("full", "rt4chart-console")]
)
def test_process_starts_and_its_probes_are_answered(layout: str, name: str, tmp_path: Path) -> None:
    """With what the manifest gives it and no more, asked as a kubelet asks."""
    container = container_of(layout, name)
    declared = {one["name"]: one["containerPort"] for one in container["ports"]}
    ports = dict(zip(declared.values(), free_ports(len(declared)), strict=True))
    secret = {
        f"RT4CHART_{one}_TOKEN": f"{one.lower()}-0123456789abcdef0123456789"
        for one in ("INGEST", "READ", "CONSOLE", "ADMIN")
    } | {"RT4CHART_DSN": f"chdb://{tmp_path / 'db'}"}

    with running(container, environ_of(container, secret, tmp_path, ports)):
        for probe in PROBES:
            asked = container[probe]["httpGet"]
            port = declared[asked["port"]]
            url = f"{asked['scheme'].lower()}://127.0.0.1:{ports[port]}{asked['path']}"
            wait_until(partial(is_well, url, port))
