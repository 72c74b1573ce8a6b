"""The chart in the real `helm`: lint, rendering, and what it refuses."""

from __future__ import annotations

import os
import subprocess

import pytest

from tests.deploy.chart.rendering import (
    CHART,
    FOLDER,
    LAYOUTS,
    RENDERED,
    has_go,
    helm,
    rendered_text,
    run_helm,
)

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(
        os.environ.get("RT4CHART_HELM") != "1",
        reason="builds helm, which takes minutes: make chart",
    ),
    pytest.mark.skipif(not has_go(), reason="go is needed to build helm: https://go.dev/dl"),
]


@pytest.fixture(scope="module", autouse=True)
def _built() -> None:
    """Skip where the modules cannot be fetched: the kept manifests are checked all the same."""
    try:
        helm()
    except subprocess.CalledProcessError as failure:
        pytest.skip(f"helm could not be built: {failure.stderr.strip().splitlines()[-1]}")


@pytest.mark.parametrize("layout", LAYOUTS)
def test_chart_passes_lint(layout: str) -> None:
    """Without an error and without a warning."""
    done = run_helm("lint", "--strict", str(CHART), "-f", str(FOLDER / f"values/{layout}.yaml"))

    assert "0 chart(s) failed" in done.stdout, done.stdout
    assert "[WARNING]" not in done.stdout


@pytest.mark.parametrize("layout", LAYOUTS)
def test_kept_manifests_are_what_helm_renders(layout: str) -> None:
    """To the letter: python -m tests.deploy.chart.rendering writes them anew."""
    assert (RENDERED / f"{layout}.yaml").read_text() == rendered_text(layout)


@pytest.mark.parametrize(
    ("layout", "value", "named"),
    [
        ("small", "settings.RT4CHART_JUGDE=local", "RT4CHART_JUGDE"),
        ("small", "settings.RT4CHART_READ_TOKEN=abc", "RT4CHART_READ_TOKEN"),
        ("small", "image.digest=latest", "image/digest"),
        ("small", "secret.name=", "secret/name"),
        ("small", "secret.keys={PATH}", "secret/keys"),
        ("full", "kafka.brokers=null", "kafka/brokers"),
        ("full", "gateway.image.digest=", "gateway/image/digest"),
        ("full", "worker.replica=3", "replica"),
    ],
)
def test_wrong_value_is_named(layout: str, value: str, named: str) -> None:
    """Nothing is rendered with a setting, a secret or a value that is not one."""
    kept = str(FOLDER / f"values/{layout}.yaml")
    done = run_helm("template", "one", str(CHART), "-f", kept, "--set-string", value)

    assert done.returncode != 0
    assert named.replace("/", ".") in done.stderr.replace("/", "."), done.stderr
