"""A route whose releases carry an id: what its page and its files show of them."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from starlette.testclient import TestClient

from rt4chart_collector.console.routes.route_tables import deployment_table
from rt4chart_collector.store.answers.verdicts import insert_verdicts
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.scope import QueryScope
from rt4chart_collector.store.rates.claim_rates import MAX_SLICES
from rt4chart_collector.store.rates.ticks import route_ticks
from rt4chart_collector.store.rates.trends import MAX_DEPLOYMENTS, deployments
from tests.conftest import fresh
from tests.rt4chart_collector.comparison.releases import answered
from tests.rt4chart_collector.console.web import browser
from tests.rt4chart_collector.incident.rises import HOUR, MINUTE, Rise
from tests.rt4chart_collector.records import NOON, VERIFIER

SINCE = NOON - NOON % HOUR
NOW = SINCE + 6 * HOUR
RELEASES = ((SINCE - 24 * HOUR, "2.3.0"), (SINCE, "2.4.0"))
IDS = 400
PAGE = "/routes/shop/support?since=24h"
SCOPE = QueryScope(NOW - 24 * HOUR, NOW, VERIFIER, "shop", "support")


@pytest.fixture(scope="module")
def client(store_dsn: str) -> Iterator[Client]:
    """A rise with a release, then hours of answers with a release each."""
    for client in fresh(store_dsn):
        Rise(SINCE, lasts_ns=HOUR, releases=RELEASES).fill(client)
        first_ns = SINCE + 2 * HOUR
        insert_verdicts(
            client,
            [
                answered(at, f"request-{at:04}", start_ns=first_ns + at * 30 * 10**9)
                for at in range(IDS)
            ],
        )
        yield client


@pytest.fixture
def visitor(client: Client) -> TestClient:
    """Somebody who looks at it six hours after the rise."""
    return browser(client, clock=lambda: NOW)


def test_the_page_shows_the_last_releases_and_says_how_many_there_are(visitor: TestClient) -> None:
    """Those of the open alert among them; the page does not grow with their number."""
    page = visitor.get(PAGE).text
    table = page.partition('id="t-release"')[2].partition("</section>")[0]

    assert table.count("<tr>") == 1 + MAX_SLICES
    assert {"2.3.0", "2.4.0"} <= set(re.findall(r"<span>([\w.-]+)</span>", table))
    assert f"request-{IDS - 1:04}" in table
    assert f"50 of {IDS + 2} releases. So many look as if each name carries an id" in table
    assert len(set(re.findall(r"request-\d+", page))) <= MAX_SLICES + MAX_DEPLOYMENTS


def test_a_file_has_the_rows_of_the_page_and_their_number(visitor: TestClient) -> None:
    """JSON says it; CSV has the rows alone."""
    found = visitor.get(f"{PAGE}&format=json&table=release").json()
    lines = visitor.get(f"{PAGE}&format=csv&table=release").text.splitlines()

    assert (len(found["rows"]), found["total"]) == (MAX_SLICES, IDS + 2)
    assert found["note"].endswith("name the release alone in service.version.")
    assert len(lines) == 1 + MAX_SLICES


def test_the_last_deployments_are_listed(client: Client) -> None:
    """The newest first, and a table that says that there may be more."""
    found = deployments(client, SCOPE)

    assert len(found) == MAX_DEPLOYMENTS
    assert found[0].at_ns > found[-1].at_ns
    assert found[0].value > f"request-{IDS - MAX_DEPLOYMENTS:04}"
    assert deployment_table(found).note
    assert not deployment_table(found[1:]).note


def test_the_detector_reads_no_more_ticks_for_more_releases(client: Client) -> None:
    """One of five minutes, and those of the releases that are asked for."""
    (found,) = route_ticks(client, SCOPE)
    (asked,) = route_ticks(client, SCOPE, releases=["2.4.0"])

    times = {tick.start_ns for tick in found.ticks}
    assert len(found.ticks) == len(times)
    assert {tick.release for tick in found.ticks} == {""}
    assert {tick.release for tick in asked.ticks} == {"", "2.4.0"}
    assert sum(one.answers for tick in found.ticks for one in tick.bins) == sum(
        one.answers for tick in asked.ticks for one in tick.bins
    )
    assert len(asked.ticks) <= len(times) + HOUR // (5 * MINUTE)
