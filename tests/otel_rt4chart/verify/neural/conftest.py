"""One model on disk for all tests that do not change it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.otel_rt4chart.verify.neural.made import save_model
from tests.otel_rt4chart.verify.neural.made_spans import save_detector


@pytest.fixture(scope="session")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a model with three labels and token types."""
    return save_model(tmp_path_factory.mktemp("models") / "toy-nli")


@pytest.fixture(scope="session")
def short_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One that takes pairs of 32 tokens."""
    return save_model(tmp_path_factory.mktemp("models") / "short", max_length=32)


@pytest.fixture(scope="session")
def detector(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a detector of unsupported words, with two labels."""
    return save_detector(tmp_path_factory.mktemp("models") / "toy-spans")


@pytest.fixture(scope="session")
def short_detector(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One that takes prompts and answers of 40 tokens."""
    return save_detector(tmp_path_factory.mktemp("models") / "short-spans", positions=40)
