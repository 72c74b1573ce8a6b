"""The comparison of releases that the gate leads to, and when there is none."""

from __future__ import annotations

import pytest

from otel_rt4chart.verify.core.model import Exchange
from otel_rt4chart.verify.core.rates import Measure
from rt4chart_clustering.evalset.case import CaseSource, EvalCase
from rt4chart_clustering.gate.stored_comparison import (
    StoredComparison,
    find_stored_comparison,
    release_before,
    service_of,
)
from rt4chart_collector.comparison.sides import NoComparisonError
from rt4chart_collector.store.answers.verdicts import insert_verdicts
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.rates.version_rates import VersionTraffic
from tests.rt4chart_collector.comparison.releases import HOUR, NEW, OLD, answered, bad_release
from tests.rt4chart_collector.records import NOON

EITHER = Measure.EITHER


def found(client: Client, a: str, b: str, service: str = "") -> StoredComparison:
    """What the store has of these releases."""
    return find_stored_comparison(
        client, StoredComparison(a, b, service, EITHER), now_ns=NOON + HOUR
    )


def test_the_release_of_the_baseline_or_the_one_before_is_compared(client: Client) -> None:
    """Both have answers on the same route."""
    insert_verdicts(client, bad_release())

    assert found(client, OLD, NEW) == StoredComparison(OLD, NEW, "", EITHER)
    assert found(client, "", NEW) == found(client, OLD, NEW)
    assert found(client, NEW, OLD).b == OLD


@pytest.mark.parametrize(
    ("a", "b", "service", "said"),
    [
        ("", OLD, "", "No release before 2.3.0 has verified answers"),
        ("", "3.0", "", "No release before 3.0 has verified answers"),
        ("1.0", NEW, "", "Release 1.0 has no verified answers"),
        (OLD, "3.0", "", "Release 3.0 has no verified answers"),
        (NEW, NEW, "", "Both versions are release 2.4.0"),
        (OLD, NEW, "other", "There are no verified answers"),
    ],
)
def test_a_comparison_that_the_store_does_not_have_is_not_named(
    client: Client, a: str, b: str, service: str, said: str
) -> None:
    """The error says what is missing."""
    insert_verdicts(client, bad_release())

    with pytest.raises(NoComparisonError, match=said):
        found(client, a, b, service)


def test_releases_without_a_common_route_are_not_compared(client: Client) -> None:
    """The command would have nothing to show."""
    insert_verdicts(
        client,
        [
            answered(1, OLD, route="refunds", start_ns=NOON - HOUR),
            answered(2, NEW, route="search"),
        ],
    )

    with pytest.raises(NoComparisonError, match="no route in common"):
        found(client, OLD, NEW)


def test_the_release_before_has_a_name() -> None:
    """Answers that name no release are no release."""
    versions = [VersionTraffic(name, 1, 0, 0) for name in ("3", "2", "", "1")]

    assert release_before("3", versions) == "2"
    assert release_before("2", versions) == "1"


def test_the_command_is_quoted_for_a_shell_and_the_address_for_a_browser() -> None:
    """A name may hold anything."""
    odd = StoredComparison("-a b", "2;x", "s p", EITHER, "https://c.example/")

    assert odd.command == (
        "rt4chart compare --since 30d --measure either '--service=s p' -- '-a b' '2;x'"
    )
    assert odd.url == (
        "https://c.example/compare?service=s+p&by=release&a=-a+b&b=2%3Bx&measure=either&since=30d"
    )
    assert StoredComparison("1", "2", "", EITHER).url == ""


def test_the_service_is_that_of_all_cases_alone() -> None:
    """Cases of two services are compared on all of them."""
    cases = [
        EvalCase(str(at), Exchange("?", (), ""), source=CaseSource(service=name))
        for at, name in enumerate(("shop", "", "shop", "desk"))
    ]

    assert service_of(cases[:3]) == "shop"
    assert service_of(cases) == service_of(cases[1:2]) == ""
