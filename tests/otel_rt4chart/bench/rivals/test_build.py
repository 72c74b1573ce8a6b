"""What a rival needs is told in one line before anything is run."""

from __future__ import annotations

import sys

import pytest

from otel_rt4chart.bench.rivals.build import build_rival
from otel_rt4chart.core.errors import SettingsError
from otel_rt4chart.settings.application import JudgeSettings

ENDPOINT = JudgeSettings(base_url="http://127.0.0.1:9/v1")


@pytest.mark.parametrize("name", ["selfcheck-prompt", "selfcheck-nli", "metaqa", "ragas"])
def test_a_rival_that_samples_or_asks_needs_an_endpoint(name: str) -> None:
    """The same words as for the other judges behind one."""
    with pytest.raises(SettingsError, match=f"--judge {name}: it has no endpoint"):
        build_rival(name, JudgeSettings())


@pytest.mark.parametrize("name", ["ragas", "deepeval"])
def test_a_missing_package_is_named(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the command that installs it."""
    monkeypatch.setitem(sys.modules, name, None)  # as where it is not installed

    with pytest.raises(SettingsError, match=f"the package {name} is not installed: pip install"):
        build_rival(name, ENDPOINT)


def test_what_was_run_is_told_by_the_id() -> None:
    """The method, the model and the versions of the prompts."""
    found = [build_rival(name, ENDPOINT).id for name in ("heuristic", "metaqa")]

    assert found == ["heuristic/ai-evaluation/1", "metaqa/gpt-4o-mini/1.1.1"]
