"""Settings of the application side and of the judges."""

from __future__ import annotations

from dataclasses import fields

import pytest

from otel_rt4chart.errors import SettingsError
from otel_rt4chart.settings import JudgeSettings, Settings, chosen_judge, doubtful
from rt4chart_collector import settings as service


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("RT4CHART_JUDGE_MODLE", ["RT4CHART_JUDGE_MODEL"]),
        ("RT4CHART_JUDGE_TIMEOUT", ["RT4CHART_JUDGE_TIMEOUT_S"]),
        ("RT4CHART_MODEL", ["RT4CHART_JUDGE_MODEL", "RT4CHART_EMBEDDING_MODEL"]),
        ("RT4CHART_SAMPLERATE", ["RT4CHART_SAMPLE_RATE"]),
    ],
)
def test_a_variable_like_one_of_ours_is_doubted(name: str, told: list[str]) -> None:
    """A misspelt one would otherwise do nothing, in silence."""
    (warning,) = doubtful({name: "1"})

    assert warning == f"{name} is not known: is {' or '.join(told)} meant?"


def test_known_and_foreign_variables_are_not_doubted() -> None:
    """Those of the service are known too, and what is like none of ours is somebody else's."""
    ours = [one.metadata["name"] for kind in (Settings, JudgeSettings) for one in fields(kind)]
    theirs = [f"{service.PREFIX}{one.name.upper()}" for one in fields(service.Settings)]

    assert list(doubtful(dict.fromkeys([*ours, *theirs, "RT4CHART_BUILD", "PATH"], "1"))) == []


def test_an_error_names_its_variable_and_no_other() -> None:
    """What else is set has no part in it."""
    given = {"RT4CHART_MODE": "mark", "RT4CHART_SAMPLE_RATE": "2", "RT4CHART_SALT": "x"}

    with pytest.raises(SettingsError) as caught:
        Settings.from_environment(given)

    assert str(caught.value) == "RT4CHART_SAMPLE_RATE: expected a number from 0 to 1, got 2.0"


def test_the_service_s_judge_is_read_where_it_is_set() -> None:
    """Empty is not set."""
    assert chosen_judge({"RT4CHART_JUDGE": " openai "}) == "openai"
    assert chosen_judge({}) == ""
