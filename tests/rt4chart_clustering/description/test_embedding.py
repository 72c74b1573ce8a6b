from __future__ import annotations

import subprocess
import sys
from importlib import import_module

import numpy as np
import pytest

from otel_rt4chart.core.errors import SettingsError
from otel_rt4chart.core.settings import load
from rt4chart_clustering.core.settings import EMBEDDERS, ClusteringSettings
from rt4chart_clustering.description.embedding import HashingEmbedder, build_embedder

TEXTS = ["the physician was late", "", "a doctor did not come in time"]


@pytest.mark.parametrize("name", EMBEDDERS)
def test_every_embedder_gives_unit_rows_and_zeros_without_words(name: str) -> None:
    """The same in every run, under the same id."""
    embedder = build_embedder(name)

    rows = embedder.embed(TEXTS)

    assert rows.shape == (3, embedder.width)
    assert rows.dtype == np.float32
    assert np.linalg.norm(rows, axis=1) == pytest.approx([1, 0, 1], abs=1e-5)
    assert np.array_equal(rows, build_embedder(name).embed(TEXTS))
    assert build_embedder(name).id == embedder.id
    assert embedder.embed([]).shape == (0, embedder.width)


def test_the_encoder_sees_meaning_where_words_differ() -> None:
    """What hashing cannot."""
    meaning, hashing = (build_embedder(name).embed(TEXTS) for name in ("local", "hashing"))

    assert float(meaning[0] @ meaning[2]) > float(hashing[0] @ hashing[2]) + 0.2


def test_the_embedder_is_the_one_that_the_variable_names() -> None:
    """By words unless it is set; another name is refused with the known ones."""
    named = {"RT4CHART_EMBEDDER": " local "}

    assert load(ClusteringSettings, environ={}).embedder == "hashing"
    assert load(ClusteringSettings, environ=named).embedder == "local"
    assert build_embedder("hashing").id == HashingEmbedder.id
    with pytest.raises(SettingsError, match="RT4CHART_EMBEDDER: expected hashing or local; got"):
        load(ClusteringSettings, environ={"RT4CHART_EMBEDDER": "bert"})


def test_a_command_without_scikit_learn_fails_when_it_is_loaded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Although the package is imported later, so that its message names what to install."""
    module = "rt4chart_clustering.description.embedding"
    monkeypatch.setitem(sys.modules, "sklearn", None)
    monkeypatch.delitem(sys.modules, module)

    with pytest.raises(ModuleNotFoundError) as missing:
        import_module(module)

    assert missing.value.name == "sklearn"


def test_commands_load_without_importing_scikit_learn() -> None:
    """Its import takes longer than most commands."""
    script = (
        "import sys; from pkgutil import resolve_name; from otel_rt4chart.cli import load_commands;"
        "[resolve_name(command.run) for command in load_commands().values()];"
        "print([name for name in ('pandas', 'scipy', 'sklearn') if name in sys.modules])"
    )

    loaded = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True)

    assert loaded.stdout == b"[]\n"
