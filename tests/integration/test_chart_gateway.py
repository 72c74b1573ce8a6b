"""What the Helm chart gives the gateway, in the real Collector."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.deploy.chart.rendering import manifests
from tests.integration.otelcol import GATEWAY_ENVIRON, binary

pytestmark = pytest.mark.e2e
SIGNS_IN = {"KAFKA_USERNAME": "rt4chart", "KAFKA_PASSWORD": "of-a-test"}


@pytest.mark.parametrize("layout", ["full", "everything"])
def test_configuration_of_the_chart_is_valid(layout: str, tmp_path: Path) -> None:
    """Both files, merged as the container merges them."""
    (config,) = (one for one in manifests(layout) if one["kind"] == "ConfigMap")
    for name, text in config["data"].items():
        (tmp_path / name).write_text(text)
    flags = [f"--config={tmp_path / name}" for name in ("gateway.yaml", "more.yaml")]

    done = subprocess.run(
        [str(binary()), "validate", *flags],
        env={**os.environ, **GATEWAY_ENVIRON, **SIGNS_IN},
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.returncode, done.stderr) == (0, "")
