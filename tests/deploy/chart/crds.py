"""Schemas of the custom resources that the chart makes, of KEDA and the Prometheus operator.

    python -m tests.deploy.chart.crds

writes `crds/` anew from the Go modules below, with `go`: without descriptions, and refusing fields
that are not declared, which a cluster would drop without a word.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from tests.deploy.chart.rendering import FOLDER, GO

CRDS = FOLDER / "crds"
# Each module's files, and the hash of the module that `go` must have found.
KEDA, OPERATOR = "github.com/kedacore/keda/v2", "github.com/prometheus-operator/prometheus-operator"
SUMS = {
    f"{KEDA}@v2.21.0": "h1:R6z2HZvstK4RLUMxroNACzBj74xGxt3kG59b5Xc+Xps=",
    f"{OPERATOR}@v0.85.0": "h1:M5xLCLEoaW2IJfnuCwFzzpL+jSVQu3KGT84Pye+fW8s=",
}
FILES = {
    "config/crd/bases/keda.sh_scaledobjects.yaml": f"{KEDA}@v2.21.0",
    "config/crd/bases/keda.sh_triggerauthentications.yaml": f"{KEDA}@v2.21.0",
    **{
        f"example/prometheus-operator-crd/monitoring.coreos.com_{name}.yaml": f"{OPERATOR}@v0.85.0"
        for name in ("podmonitors", "prometheusrules")
    },
}


def schema(kind: str) -> dict[str, Any]:
    """The kept schema of a kind."""
    found: dict[str, Any] = json.loads((CRDS / f"{kind.lower()}.json").read_text())
    return found


def kinds() -> set[str]:
    """The kinds that have one, in small letters."""
    return {path.stem for path in CRDS.glob("*.json")}


def _folder(module: str) -> Path:
    command = [GO, "mod", "download", "-json", module]
    environ = {**os.environ, "GOFLAGS": "-mod=mod"}
    done = subprocess.run(command, env=environ, capture_output=True, text=True, check=True)
    found = json.loads(done.stdout)
    assert found["Sum"] == SUMS[module], f"{module}: expected {SUMS[module]}, got {found['Sum']}"
    return Path(found["Dir"])


def _strict(node: Mapping[str, Any]) -> dict[str, Any]:
    """A schema of OpenAPI as one of JSON Schema: closed, of what a manifest can be checked by."""
    kept = ("type", "enum", "pattern", "required", "minimum", "maximum", "minItems", "maxItems")
    made = {key: node[key] for key in kept if key in node}
    if node.get("x-kubernetes-int-or-string"):
        made["type"] = ["integer", "string"]
    if isinstance(node.get("items"), dict):
        made["items"] = _strict(node["items"])
    if isinstance(extra := node.get("additionalProperties"), dict):
        made["additionalProperties"] = _strict(extra)
    if properties := node.get("properties"):
        made["properties"] = {name: _strict(one) for name, one in properties.items()}
        made["additionalProperties"] = bool(node.get("x-kubernetes-preserve-unknown-fields"))
    return made


def main() -> None:
    """Write the schemas of the versions that are stored."""
    folders = {module: _folder(module) for module in SUMS}
    CRDS.mkdir(exist_ok=True)
    for file, module in FILES.items():
        crd = yaml.safe_load((folders[module] / file).read_text())["spec"]
        (version,) = (one for one in crd["versions"] if one["storage"])
        made = _strict(version["schema"]["openAPIV3Schema"])
        # The API server checks these, as it does for its own kinds.
        made["properties"]["metadata"] = {"type": "object"}
        made["properties"]["apiVersion"] = {"const": f"{crd['group']}/{version['name']}"}
        kind = crd["names"]["kind"]
        (CRDS / f"{kind.lower()}.json").write_text(json.dumps(made, indent=1) + "\n")


if __name__ == "__main__":
    main()
