from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from otel_rt4chart.core.errors import HubError
from otel_rt4chart.hub.catalogue import find
from otel_rt4chart.hub.convert import convert
from otel_rt4chart.verify import OnnxJudge, OnnxSpansJudge

# An interpreter with torch, transformers, sentencepiece, protobuf and onnx.
PYTHON = os.environ.get("RT4CHART_TORCH_PYTHON", "")
pytestmark = pytest.mark.skipif(not PYTHON, reason="RT4CHART_TORCH_PYTHON: no interpreter set")


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Small models of every architecture that is converted."""
    folder = tmp_path_factory.mktemp("tiny")
    script = Path(__file__).with_name("tiny_models.py")
    subprocess.run([PYTHON, str(script), str(folder)], check=True, capture_output=True)
    return folder


@pytest.mark.parametrize(
    ("name", "kind", "judge"),
    [
        ("minicheck-deberta-large", "pair", OnnxJudge),
        ("factcg-deberta-large", "pair", OnnxJudge),
        ("lettucedetect-base", "spans", OnnxSpansJudge),
        ("minicheck-flan-t5-large", "yes-no", OnnxJudge),
        ("hhem-2.1-open", "first-token", OnnxJudge),
    ],
)
def test_each_architecture_is_converted(
    name: str, kind: str, judge: Callable[..., object], tiny: Path, tmp_path: Path
) -> None:
    """With the numbers that torch computes, for texts of any length; and a judge opens it."""
    model = find(name)

    versions = convert(model, tiny / kind, tmp_path / "made", PYTHON)

    assert sorted(versions) == ["torch", "transformers"]
    judge(tmp_path / "made", labels=model.labels)


def test_other_weights_than_the_architecture_has_are_refused(tiny: Path, tmp_path: Path) -> None:
    """They are not loaded in part."""
    source = tmp_path / "source"
    source.mkdir()
    for name in ("base", "config.json"):
        (source / name).symlink_to(tiny / "first-token" / name)
    (source / "model.safetensors").symlink_to(tiny / "pair/model.safetensors")

    with pytest.raises(HubError, match="other weights than expected"):
        convert(find("hhem-2.1-open"), source, tmp_path / "made", PYTHON)
