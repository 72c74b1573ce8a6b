"""A variable that nobody reads, and that looks like one that somebody does."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from rt4chart_collector.core.environment import setting_warnings
from rt4chart_collector.core.settings import KNOWN

NAME = re.compile(r"RT4CHART_[A-Z0-9_]+[A-Z0-9](?![A-Z0-9_])")
DOCS = Path(__file__).parents[3] / "docs"


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("RT4CHART_ALERTS_SLAK", "RT4CHART_ALERTS_SLACK"),
        ("RT4CHART_CONSOL_TOKEN", "RT4CHART_CONSOLE_TOKEN"),
        ("RT4CHART_SAMPLERATE", "RT4CHART_SAMPLE_RATE"),
        ("RT4CHART_OTLP_HTPP", "RT4CHART_OTLP_HTTP"),
    ],
)
def test_the_setting_that_was_meant_is_named(written: str, meant: str) -> None:
    """Its value is not: it may be a secret."""
    assert setting_warnings(dict.fromkeys([written, "PATH", meant], "1")) == [
        f"{written} is not known: is {meant} meant?"
    ]


def test_setting_that_is_gone_says_what_takes_its_place() -> None:
    """Somebody relied on it."""
    (warning,) = setting_warnings({"RT4CHART_ACCESS": "127.0.0.1:8124"})

    assert warning.startswith("RT4CHART_ACCESS is gone and has no effect: ")
    assert "`rt4chart sql`" in warning


def test_no_variable_of_the_documentation_is_a_misspelling() -> None:
    """Those of other commands may stand in the same environment."""
    texts = [page.read_text("utf-8") for page in DOCS.rglob("*.md")]
    written = {name for text in texts for name in NAME.findall(text)}

    assert len(written & set(KNOWN)) > 80
    assert setting_warnings(dict.fromkeys(written, "1")) == []
