"""The rates of two versions: of the routes that both have, each weighted alike."""

from __future__ import annotations

import pytest

from otel_rt4chart.spans.model.verdict import Verdict
from otel_rt4chart.verify.core.rates import Measure
from rt4chart_collector.comparison.compare import IssueTurn, compared_issues
from rt4chart_collector.comparison.figures import ComparedRates, compare_rates
from rt4chart_collector.store.answers.verdicts import insert_verdicts
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.scope import QueryScope
from rt4chart_collector.store.engine.version_scope import VersionKind, VersionScope
from rt4chart_collector.store.issues.version_issues import IssueFailures
from rt4chart_collector.store.rates.version_rates import rates_of_versions
from tests.rt4chart_collector.comparison.releases import (
    BAD,
    GOOD,
    HOUR,
    NEW,
    OLD,
    answered,
    bad_release,
)
from tests.rt4chart_collector.records import NOON, VERIFIER

SCOPE = QueryScope(NOON - 4 * HOUR, NOON + HOUR, VERIFIER)


def compared(client: Client, verdicts: list[Verdict]) -> ComparedRates:
    """Both releases of these answers."""
    insert_verdicts(client, verdicts)
    old, new = (VersionScope(SCOPE, VersionKind.RELEASE, name) for name in (OLD, NEW))
    return compare_rates(*rates_of_versions(client, old, new))


def test_a_bad_release_is_worse_by_its_points(any_client: Client) -> None:
    """With both rates, their n, and the label and status that rose."""
    found = compared(any_client, bad_release())
    rate = found.measures[Measure.UNFAITHFUL]

    assert rate.a.value == pytest.approx(2 / 120)
    assert rate.b.value == pytest.approx(40 / 120)
    assert (rate.claims, rate.answers) == ((120, 120), (120, 120))
    assert rate.difference.is_rise
    assert rate.difference.value == pytest.approx(38 / 120)
    assert found.labels["contradicted"].difference.is_rise
    assert found.labels["baseless"].difference.value == 0
    assert found.unmatched == ()


def test_more_traffic_on_a_worse_route_is_no_worse_release(any_client: Client) -> None:
    """Pooled, the new release would be some 25 points worse; each route is as it was."""

    def route(name: str, release: str, good: int, bad: int, first: int) -> list[Verdict]:
        labels = [GOOD] * good + [BAD] * bad
        return [answered(first + at, release, label, route=name) for at, label in enumerate(labels)]

    found = compared(
        any_client,
        [
            *route("safe", OLD, 100, 0, 1000),
            *route("risky", OLD, 5, 5, 2000),
            *route("safe", NEW, 50, 0, 3000),
            *route("risky", NEW, 50, 50, 4000),
            *route("added", NEW, 0, 30, 5000),
        ],
    )
    rate = found.measures[Measure.UNFAITHFUL]

    assert rate.difference.value == pytest.approx(0)
    assert not rate.difference.is_rise
    assert [one.route for one in found.matched] == ["risky", "safe"]
    assert [(one.route, one.answers) for one in found.unmatched] == [("added", (0, 30))]
    assert rate.answers == (110, 150)


def test_without_a_common_route_there_is_no_rate(any_client: Client) -> None:
    """Nothing is compared that is not alike."""
    found = compared(
        any_client, [answered(1, OLD, route="one"), answered(2, NEW, BAD, route="other")]
    )

    assert found.matched == ()
    assert found.measures[Measure.UNFAITHFUL].difference.value is None
    assert [one.answers for one in found.unmatched] == [(1, 0), (0, 1)]


def test_issues_turn_by_their_share_of_the_claims(any_client: Client) -> None:
    """One failure alone may be chance, and says so."""
    matched = compared(any_client, bad_release()).matched

    def failures(issue: int, claims: int) -> IssueFailures:
        return IssueFailures("shop", "support", issue, claims, float(claims))

    found = compared_issues(
        matched,
        [failures(1, 2), failures(2, 30), failures(3, 5), failures(5, 1)],
        [failures(1, 30), failures(2, 2), failures(3, 6), failures(4, 20)],
        {1: "grew"},
    )

    assert {one.id: (one.turn, one.is_told) for one in found} == {
        1: (IssueTurn.GROWN, True),
        2: (IssueTurn.SHRUNK, True),
        3: (IssueTurn.SIMILAR, False),
        4: (IssueTurn.ONLY_IN_B, True),
        5: (IssueTurn.ONLY_IN_A, False),
    }
    assert next(one for one in found if one.id == 1).title == "grew"
