from __future__ import annotations

import pytest

from otel_rt4chart.core import extras
from otel_rt4chart.core.errors import SettingsError
from otel_rt4chart.judges.choice import check_installed, configured_judges
from otel_rt4chart.settings.application import JudgeSettings

ENDPOINT = JudgeSettings(api_key="key")


@pytest.mark.parametrize(
    ("settings", "used", "expected"),
    [
        (JudgeSettings(), "", ("local", "rules")),
        (JudgeSettings(), "rules", ("rules", "local")),
        (JudgeSettings(), "openai", ("local", "rules")),
        (ENDPOINT, "cascade", ("cascade", "local", "rules", "openai", "single")),
        (
            JudgeSettings(base_url="http://127.0.0.1:9"),
            "onnx:/models/own",
            ("onnx:/models/own", "local", "rules", "openai", "single", "cascade"),
        ),
    ],
)
def test_judges_that_can_run_are_named_the_one_in_use_first(
    settings: JudgeSettings, used: str, expected: tuple[str, ...]
) -> None:
    """Those behind an endpoint need one; a model on disk is named where it is in use."""
    assert configured_judges(settings, used) == expected


@pytest.mark.parametrize(("name", "extra"), [("local", "local"), ("openai", "openai")])
def test_a_judge_whose_packages_are_missing_says_how_to_install_them(
    name: str, extra: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And it is not among those that can run."""
    monkeypatch.setattr(extras, "EXTRAS", {**extras.EXTRAS, extra: ("a_package_nobody_has",)})

    assert name not in configured_judges(ENDPOINT, name)
    with pytest.raises(SettingsError, match=rf"--judge {name}: .*pip install"):
        check_installed(name, ENDPOINT)
