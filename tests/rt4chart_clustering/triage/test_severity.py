"""The severity's formula: what it gives, and what it may never do."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rt4chart_clustering.triage.severity import SeverityLevel, Traffic, severity_of, sparkline

weights = st.floats(0, 1e9)
traffics = st.builds(
    Traffic,
    contradicted=weights,
    baseless=weights,
    misleading=weights,
    decided=weights,
    days=st.floats(1, 7),
    daily=st.just((0.0,) * 7),
)


@pytest.mark.parametrize(
    ("traffic", "score", "level"),
    [
        (Traffic(), 0.0, SeverityLevel.LOW),
        (Traffic(contradicted=7, decided=7000), 15.1, SeverityLevel.LOW),
        (Traffic(contradicted=70, decided=7000), 52.1, SeverityLevel.HIGH),
        (Traffic(contradicted=700, decided=14_000), 92.7, SeverityLevel.CRITICAL),
        (Traffic(baseless=70, decided=7000), 38.9, SeverityLevel.MEDIUM),
        (Traffic(misleading=70, decided=7000), 38.9, SeverityLevel.MEDIUM),
        (Traffic(contradicted=10, decided=1000, days=1), 52.1, SeverityLevel.HIGH),
    ],
)
def test_severity_is_what_the_formula_says(
    traffic: Traffic, score: float, level: SeverityLevel
) -> None:
    """Volume and share count the same; a baseless or misleading claim counts half."""
    found = severity_of(traffic)

    assert (round(found.score, 1), found.level) == (score, level)


@given(traffics)
def test_the_score_is_from_0_to_100(traffic: Traffic) -> None:
    """Whatever the traffic."""
    assert 0 <= severity_of(traffic).score <= 100


@given(traffics, weights)
def test_more_failures_are_never_less_severe(traffic: Traffic, more: float) -> None:
    """Of either label, all else alike; and a denied claim is at least as bad as a baseless one."""
    denied = replace(traffic, contradicted=traffic.contradicted + more)
    baseless = replace(traffic, baseless=traffic.baseless + more)

    assert severity_of(denied).score >= severity_of(baseless).score >= severity_of(traffic).score


def test_the_share_is_of_failures_whatever_their_label() -> None:
    """What people read is a share of claims; only the score weighs labels."""
    assert Traffic(contradicted=1, baseless=1, misleading=2, decided=20).share == 0.2
    assert Traffic(contradicted=3, baseless=1, misleading=3, days=7).a_day == 1.0
    assert Traffic(contradicted=1).share is None


def test_the_sparkline_is_a_bar_a_day() -> None:
    """The highest is full, the smallest is seen, nothing is a dot."""
    assert sparkline((0, 1, 0, 4, 8, 2, 0.001)) == "·▁·▄█▂▁"
    assert sparkline((0.0,) * 7) == "·······"
