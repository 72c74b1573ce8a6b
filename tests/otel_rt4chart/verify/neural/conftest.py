"""One model on disk for all tests that do not change it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.otel_rt4chart.verify.neural.made import save_model


@pytest.fixture(scope="session")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a model with three labels and token types."""
    return save_model(tmp_path_factory.mktemp("models") / "toy-nli")


@pytest.fixture(scope="session")
def short_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One that takes pairs of 32 tokens."""
    return save_model(tmp_path_factory.mktemp("models") / "short", max_length=32)
