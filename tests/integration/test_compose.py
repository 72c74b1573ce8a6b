"""docker-compose.yml in the loader that Docker Compose itself uses."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.integration.otelcol import CACHE, GO, needed

pytestmark = pytest.mark.e2e
ROOT = Path(__file__).parents[2]
LOADER = Path(__file__).parent / "compose"
SECRETS = {
    "RT4CHART_INGEST_TOKEN": "one",
    "RT4CHART_READ_TOKEN": "seven",
    "CLICKHOUSE_PASSWORD": "two",
    "CLICKHOUSE_READER_PASSWORD": "three",
    "CONSOLE_TOKEN": "six",
    "ADMIN_TOKEN": "eight",
    "GRAFANA_PASSWORD": "four",
    "ALERT_WEBHOOK_URL": "http://127.0.0.1/hook",
}


@pytest.fixture(scope="module")
def loader() -> Path:
    """Compose's own loader, built once: schema, variables, consistency."""
    needed()
    files = [LOADER / name for name in ("main.go", "go.mod", "go.sum")]
    digest = hashlib.sha256(b"".join(one.read_bytes() for one in files)).hexdigest()
    built = CACHE / f"compose-{digest[:12]}"
    if not built.exists():
        CACHE.mkdir(parents=True, exist_ok=True)
        subprocess.run([GO, "build", "-o", str(built), "."], cwd=LOADER, check=True)
    return built


def loaded(
    loader: Path, environ: Mapping[str, str], layout: str
) -> subprocess.CompletedProcess[str]:
    """A layout as Compose understands it, with these variables and no .env."""
    return subprocess.run(
        [str(loader), str(ROOT / "docker-compose.yml"), layout],
        env={"PATH": os.environ["PATH"], **environ},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(
    ("layout", "services"),
    [
        ("small", {"rt4chart", "prometheus", "alertmanager"}),
        (
            "full",
            {"clickhouse", "kafka", "kafka-topics", "otelcol", "otelcol-queue", "migrate", "worker"}
            | {"console", "grouping", "prometheus", "alertmanager", "grafana"},
        ),
    ],
)
def test_layout_is_valid(loader: Path, layout: str, services: set[str]) -> None:
    """By the schema, with anchors and variables resolved; these services start."""
    done = loaded(loader, SECRETS, layout)

    assert (done.returncode, done.stderr) == (0, "")
    assert set(json.loads(done.stdout)["services"]) == services


@pytest.mark.parametrize("name", sorted(set(SECRETS) - {"ALERT_WEBHOOK_URL"}))
def test_missing_secret_is_named(loader: Path, name: str) -> None:
    """Nothing starts without one."""
    done = loaded(loader, {one: value for one, value in SECRETS.items() if one != name}, "full")

    assert done.returncode != 0
    assert f"variable {name} is missing a value: set it in .env" in done.stderr
