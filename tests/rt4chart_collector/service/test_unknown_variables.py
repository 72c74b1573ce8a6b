"""A variable that nobody reads, and that looks like one that somebody does."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from rt4chart_collector.service.unknown_variables import known, misspelt

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
    assert list(misspelt([written, "PATH", meant])) == [
        f"{written} is not known and has no effect: is {meant} meant?"
    ]


def test_setting_that_is_gone_says_what_takes_its_place() -> None:
    """Somebody relied on it."""
    (warning,) = misspelt(["RT4CHART_ACCESS"])

    assert warning.startswith("RT4CHART_ACCESS is gone and has no effect: ")
    assert "`rt4chart sql`" in warning


def test_no_variable_of_the_documentation_is_a_misspelling() -> None:
    """Those of other commands may stand in the same environment."""
    texts = [page.read_text("utf-8") for page in DOCS.glob("*.md")]
    written = {name for text in texts for name in NAME.findall(text)}

    assert len(written & known()) > 80
    assert list(misspelt(written)) == []
