"""The chart's manifests against the schemas of Kubernetes, and of the custom resources."""

from __future__ import annotations

from typing import Any

import pytest

from tests.deploy.chart.crds import kinds, schema
from tests.deploy.chart.rendering import CHART, LAYOUTS, manifests
from tests.deploy.files import read_yaml

validator = pytest.importorskip("kubernetes_validate", reason="Kubernetes' schemas: make chart")
jsonschema = pytest.importorskip("jsonschema", reason="JSON Schema: make chart")
# The oldest that Chart.yaml admits, and the newest that the package knows.
OLDEST, NEWEST = (
    read_yaml(CHART / "Chart.yaml")["kubeVersion"].strip(">=").rpartition(".")[0],
    "1.37",
)


def refuse(manifest: dict[str, Any], version: str) -> None:
    """Raise for a field that is unknown, missing or of another type."""
    if manifest["kind"].lower() in kinds():
        jsonschema.Draft202012Validator(schema(manifest["kind"])).validate(manifest)
    else:
        validator.validate(manifest, version, strict=True)


@pytest.mark.parametrize("version", [OLDEST, NEWEST])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_manifests_are_valid(layout: str, version: str) -> None:
    """Every manifest, without a field that the cluster would drop."""
    for one in manifests(layout):
        refuse(one, version)


@pytest.mark.parametrize("kind", ["Deployment", "ScaledObject"])
def test_unknown_field_is_refused(kind: str) -> None:
    """In Kubernetes' own resources and in custom ones."""
    (one, *_) = [each for each in manifests("everything") if each["kind"] == kind]
    one["spec"]["replcas"] = 3

    with pytest.raises(Exception, match="replcas"):
        refuse(one, NEWEST)
