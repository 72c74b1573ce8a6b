"""Corrected rates on the overview, on the page of a route, and on the health page."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

import pytest
from starlette.testclient import TestClient

from rt4chart_collector.console.app.label_findings import FindingsCache
from rt4chart_collector.console.site import build_site
from rt4chart_collector.core.settings import ConsoleSettings
from rt4chart_collector.store.engine.connect import Client
from tests.conftest import fresh
from tests.rt4chart_collector.console.web import HERE, browser
from tests.rt4chart_collector.records import VERIFIER
from tests.rt4chart_collector.store.labels.label_rows import (
    NOW,
    SCOPE,
    draw,
    insert_answers,
    label_all,
)

ROUTE = "/routes/shop/support"
LINK = '<a href="/label">Label claims to correct the judge'
NOTE = "Raw rates are of the claims that the judge decided"


def visit(client: Client) -> TestClient:
    """Somebody an hour after the answers."""
    return browser(client, clock=lambda: NOW)


@pytest.fixture(scope="module")
def labelled(store_dsn: str) -> Iterator[Client]:
    """A route with thirty labels and one with five; one rater labels at random."""
    for client in fresh(store_dsn):
        insert_answers(client, range(1, 61))
        insert_answers(client, range(101, 131), route="sales")
        insert_answers(client, range(201, 211), route="quiet")
        found = draw(client, 30, double=1.0)
        for rater in ("ann", "bob"):
            label_all(client, found.part("shop", "support").queue, rater=rater)
        label_all(client, found.part("shop", "sales").queue[:5])
        label_all(client, found.part("shop", "support").queue, rater="eve", share=0.95)
        yield client


def test_without_a_draw_there_is_one_quiet_link(client: Client) -> None:
    """No column, no card and no table more than before."""
    insert_answers(client, range(1, 11))
    visitor = visit(client)
    overview, route, health = (visitor.get(path).text for path in ("/", ROUTE, "/health"))

    for page in (overview, health):
        assert page.count(LINK) == 1
    assert route.count('<a href="/label?route=shop%2Fsupport">Label claims to correct') == 1
    for page in (overview, route, health):
        assert NOTE not in page
        assert "corrected:" not in page
        assert "by labels" not in page


def test_the_overview_shows_both_rates(labelled: Client) -> None:
    """The corrected one with interval and labels, or how many labels it lacks."""
    visitor = visit(labelled)
    page = visitor.get("/").text
    rows = {row["route"]: row for row in visitor.get("/?format=json").json()["rows"]}

    support, sales = rows["support"], rows["sales"]
    assert support["corrected_low"] < support["corrected"] < support["corrected_high"]
    assert (support["labels"], support["more_labels"]) == (30, 0)
    assert (sales["corrected"], sales["labels"], sales["more_labels"]) == (None, 5, 15)
    assert re.search(r"corrected:</span> <strong>[0-9.]+%</strong> .*30 labels", page)
    assert '<span class="n">15 more labels</span>' in page
    assert NOTE in page
    assert "Corrected rates are of all claims, also undecided ones" in page
    order = [row["route"] for row in visitor.get("/?sort=-corrected&format=json").json()["rows"]]
    assert order[0] == "support"


def test_a_route_has_the_corrected_rate_and_what_labels_say_of_the_judge(
    labelled: Client,
) -> None:
    """Beside the raw one; where too few are labelled, how many more."""
    visitor = visit(labelled)
    page, few = visitor.get(ROUTE).text, visitor.get("/routes/shop/sales").text

    assert "Unfaithful claims, corrected" in page
    assert re.search(
        r"\(95%\) by 30 labels; labels on the 150 other claims give ± [0-9.]+ points", page
    )
    assert re.search(r"[0-9.]+% <small>of the flagged claims are wrong \([0-9.]+–[0-9.]+%\)", page)
    assert re.search(r"it flags [0-9.]+% of the wrong ones \([0-9.]+–[0-9.]+%\)", page)
    assert "– <small>15 more labels for a corrected rate" in few
    assert 'href="/label?route=shop%2Fsupport"' in page
    assert NOTE in page


def test_health_has_the_judge_by_route_and_the_raters(labelled: Client) -> None:
    """Who agrees with the others no better than chance comes first and is named."""
    visitor = visit(labelled)
    page = visitor.get("/health").text
    judge = visitor.get("/health?format=json&table=judge").json()["rows"]
    raters = visitor.get("/health?format=json&table=raters").json()["rows"]

    by_route = {row["route"]: row for row in judge}
    support = by_route["support"]
    assert support["precision_low"] < support["precision"] < support["precision_high"]
    assert support["recall_low"] < support["recall"] < support["recall_high"]
    assert (by_route["quiet"]["labels"], by_route["quiet"]["precision"]) == (0, None)
    assert [(row["rater"], row["is_poor"], row["claims"]) for row in raters] == [
        ("eve", True, 60),
        ("ann", False, 60),
        ("bob", False, 60),
    ]
    assert page.count("hardly more than chance") == 1
    assert "On 30 claims with two or more labels, Krippendorff's alpha" in page


def test_pages_are_shown_while_rates_are_counted(labelled: Client) -> None:
    """They say so, and the overview is renewed soon; a page that cannot says that it is late."""
    site = build_site(labelled.sibling, ConsoleSettings(), clock=lambda: NOW)
    site.console.label_findings = FindingsCache(site.console.store, lambda *_: None, 0.0)
    visitor = TestClient(site.app, base_url=HERE, headers={"accept": "text/html"})
    late, counting = "Reading the corrected rates takes longer than a page", "are being counted"

    for path in ("/", "/?partial=1", ROUTE):
        page = visitor.get(path)
        assert page.status_code == 200
        assert (counting in page.text, late in page.text) == (True, False)
        assert ('data-every="5"' in page.text) == (path != ROUTE)
    for path in ("/?sort=-corrected", "/health"):
        text = visitor.get(path).text
        assert (counting in text, late in text) == (False, True)


def test_a_file_waits_for_corrected_rates(
    labelled: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody could see that an empty column is not counted yet."""
    monkeypatch.setattr("rt4chart_collector.console.app.label_findings.FIRST_WAIT_S", 0.0)

    rows = visit(labelled).get(f"/?format=json&verifier={VERIFIER}").json()["rows"]

    assert {row["route"]: row["labels"] > 20 for row in rows}["support"]


def test_another_time_range_has_its_own_rates(labelled: Client) -> None:
    """The answers are an hour old: in the last hour nothing was drawn from."""
    later = browser(labelled, clock=lambda: NOW + 7 * 3600 * 10**9)

    assert NOTE not in later.get(f"/?since=1h&verifier={VERIFIER}").text
    assert NOTE in later.get(f"/?since=24h&verifier={VERIFIER}").text


def test_health_shows_how_far_the_confidence_can_be_trusted(labelled: Client) -> None:
    """A diagram with its numbers in a table, and what to do about it."""
    visitor = visit(labelled)
    page = visitor.get("/health").text
    rows = visitor.get("/health?format=json&table=reliability").json()["rows"]

    assert page.count('<svg class="reliability"') == 1
    assert "Right verdicts by stated confidence: " in page
    assert "says whether a recalibration on these labels helps" in page
    assert "So few labels say little." in page
    assert sum(row["labels"] for row in rows) < 40
    for row in rows:
        assert row["right_low"] <= row["right"] <= row["right_high"]
        assert f"<title>{row['stated']:.0%}" in page or f"<title>{row['stated']:.1%}" in page


def test_without_labels_health_has_no_diagram(client: Client) -> None:
    """After a draw, the table says why it is empty; before it, there is none."""
    insert_answers(client, range(1, 31))
    before = visit(client).get("/health").text
    draw(client, 20)
    after = visit(client).get("/health").text

    assert "Right verdicts by confidence" not in before
    assert "No label of this time range counts in a corrected rate yet." in after
    assert '<svg class="reliability"' not in before + after


def test_health_says_that_a_recalibration_is_in_force(client: Client) -> None:
    """By the id of the verifier whose verdicts count."""
    name = f"{VERIFIER}+c2"
    insert_answers(client, range(1, 61), verifier=name)
    label_all(client, draw(client, 60, scope=replace(SCOPE, verifier=name)).queue)

    page = visit(client).get("/health").text

    assert "Recalibration 2 is in force" in page
    assert "So few labels say little." not in page
