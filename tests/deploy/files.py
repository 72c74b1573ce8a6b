"""The files of the deployment, and what they hold."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "collector/deploy"
DASHBOARDS = sorted((DEPLOY / "grafana/dashboards").glob("*.json"))


def read_yaml(path: Path) -> dict[str, Any]:
    """A YAML file's mapping."""
    found: dict[str, Any] = yaml.safe_load(path.read_text())
    return found


def panels(path: Path) -> Iterator[dict[str, Any]]:
    """A dashboard's panels."""
    yield from json.loads(path.read_text())["panels"]


def targets(datasource: str) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Each query of all dashboards on this kind of source: dashboard, panel, query."""
    for path in DASHBOARDS:
        for panel in panels(path):
            for one in panel["targets"]:
                if one["datasource"]["type"] == datasource:
                    yield path.stem, panel["title"], one


def grafana_rules() -> list[dict[str, Any]]:
    """The alert rules that are provisioned in Grafana."""
    groups = read_yaml(DEPLOY / "grafana/provisioning/alerting/rt4chart.yaml")["groups"]
    return [rule for group in groups for rule in group["rules"]]
