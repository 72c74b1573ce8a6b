from __future__ import annotations

import sys
import tomllib
from pathlib import Path

import pytest

import rt4chart_models
from otel_rt4chart.core.errors import SettingsError
from otel_rt4chart.core.settings import load
from otel_rt4chart.judges import embedded_models
from otel_rt4chart.judges.build import build_verifier
from otel_rt4chart.settings.application import JudgeSettings
from otel_rt4chart.verify import Exchange, Label, Passage
from tests.otel_rt4chart.verify.neural.made import save_model

ROOT = Path(__file__).parents[3]


def test_an_embedder_is_opened_once() -> None:
    """Whoever asks with the same threads gets the same one, with its memory."""
    assert embedded_models.build_embedder() is embedded_models.build_embedder()
    assert embedded_models.installed_model_ids()[0] == embedded_models.build_embedder().id
    assert embedded_models.model_folder() == rt4chart_models.folder()


def test_claims_are_linked_by_the_embedded_encoder(tmp_path: Path) -> None:
    """`RT4CHART_EMBEDDING_MODEL=local`: no endpoint, no key."""
    judge = f"onnx:{save_model(tmp_path)}"
    settings = load(JudgeSettings, environ={"RT4CHART_EMBEDDING_MODEL": "local"})
    exchange = Exchange(
        "",
        [Passage("p", "Guests may swim until midnight. Breakfast costs eleven euros.")],
        "Visitors can use the pool late at night.",
    )

    report = build_verifier(judge, settings).verify(exchange)

    assert (report.usage.calls, report.usage.input_tokens) == (0, 0)
    assert report.claims[0].label is not Label.UNDECIDED


def test_models_that_are_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Are named with the command that installs them."""
    monkeypatch.setitem(sys.modules, "rt4chart_models", None)

    with pytest.raises(SettingsError) as failure:
        embedded_models.model_folder()

    assert str(failure.value) == (
        "the embedded models need the package rt4chart_models: "
        "pip install ./otel-rt4chart/models './otel-rt4chart[local]'"
    )


def test_the_models_are_those_of_this_version() -> None:
    """The extra asks for the version that the folder has."""
    models, project = (
        tomllib.loads((ROOT / place).read_text())["project"]
        for place in ("models/pyproject.toml", "pyproject.toml")
    )

    wanted = [one for one in project["optional-dependencies"]["local"] if "models" in one]
    assert wanted == [f"rt4chart-models=={models['version']}"]
    assert models["version"] == project["version"]
