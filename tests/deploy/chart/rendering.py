"""The Helm chart: what it gives which process, and what the real `helm` makes of it.

    python -m tests.deploy.chart.rendering

writes the settings of `files/processes.yaml` and `values.schema.json` anew from their declarations,
and with `helm` the manifests in `rendered/`, which the tests read where there is no `helm`.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from otel_rt4chart.core.settings import Setting, settings_of
from otel_rt4chart.settings.application import JudgeSettings
from rt4chart_clustering.core.settings import ClusteringSettings
from rt4chart_collector.core.grouping_settings import GroupingSettings
from rt4chart_collector.core.settings import (
    AlertSettings,
    ConsoleSettings,
    MonitorSettings,
    ServiceSettings,
    WorkerSettings,
)
from tests.deploy.files import DEPLOY

CHART = DEPLOY / "helm"
FOLDER = Path(__file__).parent
RENDERED = FOLDER / "rendered"
LAYOUTS = tuple(sorted(path.stem for path in (FOLDER / "values").glob("*.yaml")))
SCHEMA = CHART / "values.schema.json"
PROCESSES = CHART / "files/processes.yaml"
RELEASE, NAMESPACE, KUBERNETES = "rt4chart", "observability", "1.34.0"
TOOL = "helm.sh/helm/v3/cmd/helm"
GO = shutil.which("go") or "/usr/local/go/bin/go"
CACHE = Path.home() / ".cache/rt4chart-tests"

# The sections that each command reads, which compose's services and the chart's containers are.
SECTIONS: Mapping[str, tuple[type[Any], ...]] = {
    "up": (
        *(ServiceSettings, ConsoleSettings, MonitorSettings, AlertSettings, GroupingSettings),
        *(ClusteringSettings, JudgeSettings),
    ),
    "work": (WorkerSettings, ServiceSettings, JudgeSettings),
    "console": (
        *(ConsoleSettings, ServiceSettings, MonitorSettings, AlertSettings),
        *(ClusteringSettings, JudgeSettings),
    ),
    "cluster": (ClusteringSettings, JudgeSettings),
    "migrate": (ServiceSettings,),
}
TOKENS = frozenset(f"RT4CHART_{name}_TOKEN" for name in ("INGEST", "READ", "CONSOLE", "ADMIN"))
# What the templates set themselves: from other values, or from the Secret.
PLACED = frozenset(
    {
        *(f"RT4CHART_{name}" for name in ("DSN", "SOURCE", "CONSOLE", "WORK_HTTP", "HEALTH")),
        *("RT4CHART_OTLP_HTTP", "RT4CHART_OTLP_GRPC"),
        *TOKENS,
        *(f"{token}_FILE" for token in TOKENS),
    }
)


class Reads(NamedTuple):
    """What a process reads, of what `settings` and `secret.keys` can give: names of variables."""

    settings: list[str]
    secrets: list[str]


def declared(process: str) -> dict[str, Setting]:
    """Every setting that a process reads, by its variable."""
    return {one.variable: one for one in settings_of(*SECTIONS[process])}


def reads(process: str) -> Reads:
    """The names for `files/processes.yaml`."""
    given = {name: one for name, one in sorted(declared(process).items()) if name not in PLACED}
    return Reads(
        [name for name, one in given.items() if not one.is_secret],
        [name for name, one in given.items() if one.is_secret],
    )


def processes_text() -> str:
    """`files/processes.yaml` as it must be."""
    body: str = yaml.safe_dump({name: reads(name)._asdict() for name in SECTIONS})
    return f"# Made from the declared settings: python -m tests.deploy.chart.rendering\n{body}"


def schema_text() -> str:
    """`values.schema.json` as it must be: the file itself with the settings that are declared."""
    schema: dict[str, Any] = json.loads(SCHEMA.read_text())
    every = {name: one for process in SECTIONS for name, one in declared(process).items()}
    plain = sorted({name for process in SECTIONS for name in reads(process).settings})
    schema["properties"]["settings"]["properties"] = {
        name: {"type": "string", "description": every[name].help} for name in plain
    }
    keys = sorted({name for process in SECTIONS for name in reads(process).secrets})
    schema["properties"]["secret"]["properties"]["keys"]["items"]["enum"] = keys
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


def digest() -> str:
    """SHA-256 of what the manifests follow from: the chart's files and the values.

    Without the two generated ones, so that a new setting asks nobody for Go.
    """
    found = hashlib.sha256()
    for folder in (CHART, FOLDER / "values"):
        files = {path for path in folder.rglob("*") if path.is_file()} - {SCHEMA, PROCESSES}
        for path in sorted(files):
            found.update(f"{path.relative_to(folder)}\0".encode() + path.read_bytes() + b"\0")
    return found.hexdigest()


def has_go() -> bool:
    """True where helm can be built."""
    return Path(GO).exists()


def helm() -> Path:
    """The `helm` of `helm/go.mod`, built once; its modules have the hashes of `helm/go.sum`."""
    locked = hashlib.sha256((FOLDER / "helm/go.sum").read_bytes()).hexdigest()
    built = CACHE / f"helm-{locked[:12]}"
    if not built.exists():
        CACHE.mkdir(parents=True, exist_ok=True)
        draft = built.with_suffix(f".{os.getpid()}")
        environ = {**os.environ, "GOTOOLCHAIN": "local", "GOFLAGS": "-mod=readonly"}
        command = [GO, "build", "-o", str(draft), TOOL]
        subprocess.run(
            command, cwd=FOLDER / "helm", env=environ, check=True, capture_output=True, text=True
        )
        draft.replace(built)
    return built


def run_helm(*arguments: str) -> subprocess.CompletedProcess[str]:
    """What `helm` prints, without a cluster and without settings of the user's."""
    nowhere = dict.fromkeys(("KUBECONFIG", "HELM_REPOSITORY_CONFIG"), os.devnull)
    return subprocess.run(
        [str(helm()), *arguments],
        env={"PATH": os.environ["PATH"], "HOME": str(CACHE), **nowhere},
        capture_output=True,
        text=True,
        check=False,
    )


def rendered_text(layout: str) -> str:
    """The manifests of a layout as `helm template` prints them, below a line with their digest."""
    values = str(FOLDER / f"values/{layout}.yaml")
    done = run_helm(
        *("template", RELEASE, str(CHART), "--values", values, "--namespace", NAMESPACE),
        *("--kube-version", KUBERNETES),
    )
    if done.returncode:
        raise AssertionError(done.stderr)
    return f"# {digest()}\n{done.stdout}"


def manifests(layout: str) -> list[dict[str, Any]]:
    """The manifests of a layout that are kept in `rendered/`."""
    loaded: Iterable[Any] = yaml.safe_load_all((RENDERED / f"{layout}.yaml").read_text())
    return [one for one in loaded if one]


def main() -> None:
    """Write all that is generated; without Go, all but the manifests."""
    PROCESSES.write_text(processes_text())
    SCHEMA.write_text(schema_text())
    if not has_go():
        sys.exit("go is needed to build helm: https://go.dev/dl; the manifests were not rendered")
    RENDERED.mkdir(exist_ok=True)
    for layout in LAYOUTS:
        (RENDERED / f"{layout}.yaml").write_text(rendered_text(layout))


if __name__ == "__main__":
    main()
