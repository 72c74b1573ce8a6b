"""The map in the browser."""

from __future__ import annotations

from dataclasses import replace

from rt4chart_clustering.description.embedding import HashingEmbedder
from rt4chart_clustering.grouping.engine import HdbscanGrouping
from rt4chart_clustering.grouping.run import group_failures
from rt4chart_collector.store.answers.verdicts import insert_verdicts
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.issues.issues import list_issues
from tests.rt4chart_clustering.console.web import HOSTILE, LATER, browsing, words_of
from tests.rt4chart_clustering.made import added, numbers, verdict


def grouped(client: Client) -> None:
    """Twelve numbers and a stranger's words with one in one issue, and three others that wait."""
    others = [replace(one, claim=f"{one.claim} {HOSTILE}") for one in added()[:1]]
    insert_verdicts(client, [verdict(one) for one in [*numbers(12), *others, *added()[1:4]]])
    group_failures(client, HashingEmbedder(), HdbscanGrouping(), since_ns=0, now_ns=LATER)


def test_without_failures_the_map_says_what_to_do(client: Client) -> None:
    """And draws nothing."""
    with browsing(client) as browser:
        page = browser.get("/map").text
        drawn = browser.get("/map/points").json()

    assert "rt4chart cluster" in page
    assert 'id="map"' not in page
    assert drawn == {"shares": [0.0, 0.0], "groups": []}


def test_the_map_has_every_failure_in_the_picture_and_in_the_list(client: Client) -> None:
    """By issue, with how many of how many and how much of the difference is shown."""
    grouped(client)
    (issue,) = list_issues(client)

    with browsing(client) as browser:
        page = browser.get("/map").text
        drawn = browser.get("/map/points").json()
        rows = browser.get("/map?format=json").json()["rows"]

    assert "The map shows 16 of 16 failures" in words_of(page)
    assert [(group["look"], len(group["x"])) for group in drawn["groups"]] == [(10, 3), (0, 13)]
    assert sum(drawn["shares"]) <= 1.0001
    assert len(rows) == 16
    assert rows[0]["issue"] == issue.title
    assert rows[0]["url"].endswith("#claim-0")


def test_a_route_s_failures_alone_can_be_asked_for(client: Client) -> None:
    """And a time; the picture's address asks for the same."""
    grouped(client)

    with browsing(client) as browser:
        assert browser.get("/map?route=other&format=json").json()["rows"] == []
        page = browser.get("/map?route=billing&since=7d&sort=-label").text
        assert 'data-map="/map/points?route=billing&amp;since=7d"' in page
        assert browser.get("/map?since=1y").status_code == 400


def test_strangers_text_is_text_on_the_map(client: Client) -> None:
    """In the page; the picture's own data is JSON, which the script writes as text."""
    grouped(client)

    with browsing(client) as browser:
        page = browser.get("/map").text
        drawn = browser.get("/map/points")

    assert "<script>alert" not in page
    assert drawn.headers["content-type"] == "application/json"
    assert drawn.headers["x-content-type-options"] == "nosniff"
