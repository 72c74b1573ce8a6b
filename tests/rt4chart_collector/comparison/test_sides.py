"""Which versions are compared, and what is said where they cannot be."""

from __future__ import annotations

import re

import pytest

from rt4chart_collector.comparison.sides import (
    NO_VERSION,
    ComparisonRequest,
    NoComparisonError,
    choose_sides,
    side_name,
    span_value,
)
from rt4chart_collector.store.engine.scope import QueryScope
from rt4chart_collector.store.engine.version_scope import VersionKind
from rt4chart_collector.store.rates.version_rates import VersionTraffic
from tests.rt4chart_collector.comparison.releases import HOUR
from tests.rt4chart_collector.records import NOON

DAY = 24 * HOUR
SCOPE = QueryScope(NOON - DAY, NOON, "local/1", "shop")


def known(*names: str) -> list[VersionTraffic]:
    """Versions, the newest first."""
    return [VersionTraffic(name, 10 + at, NOON - at, NOON) for at, name in enumerate(names)]


def sides(a: str, b: str, *names: str, kind: VersionKind = VersionKind.RELEASE) -> tuple[str, str]:
    """The names of both versions."""
    one, other = choose_sides(ComparisonRequest(kind, a, b, SCOPE), known(*names))
    return one.version, other.version


@pytest.mark.parametrize(
    ("a", "b", "chosen"),
    [
        ("", "", ("2", "3")),
        ("1", "", ("1", "3")),
        ("3", "", ("3", "2")),
        ("", "2", ("1", "2")),
        ("", "1", ("3", "1")),
        ("1", "2", ("1", "2")),
        (NO_VERSION, "3", ("", "3")),
    ],
)
def test_versions_that_are_not_named_are_the_newest(
    a: str, b: str, chosen: tuple[str, str]
) -> None:
    """The one before b as a, and answers without a version last."""
    assert sides(a, b, "3", "", "2", "1") == chosen


@pytest.mark.parametrize(
    ("a", "b", "names", "said"),
    [
        ("9", "3", ("3", "2"), "Release 9 has no verified answers here. In this time range there "),
        ("9", "3", ("3", "2"), "there are 3 (10 answers), 2 (11 answers)."),
        ("3", "3", ("3", "2"), "Both versions are release 3: choose another one"),
        ("", "", ("3",), "takes two versions. In this time range there is only 3 (10 answers)"),
        ("", "", ("",), "No answer in this time range names its release."),
        ("", "", (), "There are no verified answers in this time range: choose a longer one."),
    ],
)
def test_what_cannot_be_compared_is_answered_with_the_versions_there_are(
    a: str, b: str, names: tuple[str, ...], said: str
) -> None:
    """In a sentence."""
    with pytest.raises(NoComparisonError, match=re.escape(said)):
        sides(a, b, *names)


def test_judges_are_compared_whoever_is_the_main_one() -> None:
    """The scope has no verifier, or one of them would have no answers."""
    request = ComparisonRequest(VersionKind.VERIFIER, "", "", SCOPE)

    one, other = choose_sides(request, known("local/2", "local/1"))

    assert one.scope.verifier is other.scope.verifier is None
    assert (one.version, other.version) == ("local/1", "local/2")


def test_a_span_of_time_is_compared_with_the_one_before() -> None:
    """Of the same length, unless it is named; each side has its own scope."""
    request = ComparisonRequest(VersionKind.TIME, "", "", SCOPE)

    one, other = choose_sides(request, [])

    assert one.scope == SCOPE.before
    assert other.scope == SCOPE
    assert side_name(one).endswith(" to " + side_name(other).partition(" to ")[0])
    named = ComparisonRequest(
        VersionKind.TIME,
        span_value(NOON - 5 * HOUR, NOON - 3 * HOUR),
        "2096-10-02T06:00..2096-10-02T07:00",
        SCOPE,
    )
    first, second = choose_sides(named, [])
    assert first.scope == SCOPE.of_time(NOON - 5 * HOUR, NOON - 3 * HOUR)
    assert second.scope.until_ns - second.scope.since_ns == HOUR
    assert (second.scope.service, second.scope.verifier) == ("shop", "local/1")


@pytest.mark.parametrize(
    ("a", "b", "said"),
    [
        ("yesterday", "", "Expected a span of time such as"),
        ("2096-10-02T07:00..2096-10-02T06:00", "", "Expected a span of time such as"),
        ("0001-01-01T00:00..2096-10-02T06:00", "", "Expected a span of time such as"),
        (span_value(NOON, NOON + HOUR), span_value(NOON, NOON + HOUR), "are the same"),
        (span_value(NOON, NOON + 2 * HOUR), span_value(NOON + HOUR, NOON + DAY), "overlap"),
    ],
)
def test_other_spans_are_refused(a: str, b: str, said: str) -> None:
    """With how a span is written."""
    with pytest.raises(NoComparisonError, match=said):
        choose_sides(ComparisonRequest(VersionKind.TIME, a, b, SCOPE), [])
