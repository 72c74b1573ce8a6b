"""The list of issues in the browser."""

from __future__ import annotations

import csv
import io
from dataclasses import replace

import pytest

from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.issues.issue_events import IssueEvent, record_events
from rt4chart_collector.store.issues.issues import insert_issues
from tests.rt4chart_clustering.console.web import HOSTILE, LATER, browsing, post, words_of
from tests.rt4chart_clustering.issues import FIRST, SECOND_ID, store_issue
from tests.rt4chart_clustering.made import added, numbers

ID = f"{FIRST:016x}"


def two(client: Client) -> None:
    """An issue of eight failures on one route, and one of three on another."""
    store_issue(client, numbers(8), sample_rate=0.1)
    second = [replace(one, route="trial") for one in added()[:3]]
    store_issue(client, second, number=SECOND_ID, title="Added to the source")


def test_an_empty_store_says_which_command_groups(client: Client) -> None:
    """And has no table."""
    with browsing(client) as browser:
        page = browser.get("/issues")

    assert page.status_code == 200
    assert "rt4chart cluster" in page.text
    assert "<table" not in page.text


def test_the_list_is_as_the_command_has_it(client: Client) -> None:
    """The worst first, with figures, marks and a link to each."""
    two(client)

    with browsing(client) as browser:
        page = browser.get("/issues").text
        rows = browser.get("/issues?format=json").json()["rows"]

    assert page.index("Number not as") < page.index("Added to the source")
    assert f'href="/issues/{ID}"' in page
    assert "first day" in words_of(page)
    assert [(row["id"], row["claims"], row["route"]) for row in rows] == [
        (ID, 8, "billing"),
        (f"{SECOND_ID:016x}", 3, "trial"),
    ]
    assert rows[0]["weighted"] == pytest.approx(80)
    assert rows[0]["marks"] == "new"


NUMBER, ADDED = "Number not as in the source", "Added to the source"
ASKED = {
    "route=trial": [ADDED],
    "q=NOT AS IN": [NUMBER],
    f"q={SECOND_ID:016x}": [ADDED],
    "state=resolved": [],
    "state=all&sort=claims": [ADDED, NUMBER],
    "since=6h": [NUMBER, ADDED],
    "page=2": [],
}


def test_the_list_can_be_narrowed_and_sorted(client: Client) -> None:
    """On the server, for the page and the files alike; what cannot be asked is told."""
    two(client)

    with browsing(client) as browser:
        for query, titles in ASKED.items():
            told = browser.get(f"/issues?format=csv&{query}").text
            assert [row["title"] for row in csv.DictReader(io.StringIO(told))] == titles, query
        assert '<option value="billing">billing</option>' in browser.get("/issues").text
        for query in ("state=x", "since=5y", "sort=nothing", "page=0", "page=x"):
            page = browser.get(f"/issues?{query}")
            assert (page.status_code, "expected" in page.text) == (400, True), query


def test_many_issues_are_shown_a_page_at_a_time(client: Client) -> None:
    """A page has fifty issues and a link to the next page; a file has all of them."""
    one = store_issue(client, numbers(1), title="t0")
    others = [replace(one, id=one.id + at, title=f"t{at}") for at in range(1, 61)]
    insert_issues(client, others, version=1)

    with browsing(client) as browser:
        page = browser.get("/issues?q=t&sort=title").text
        rest = browser.get("/issues?q=t&sort=title&page=2").text
        file = browser.get("/issues?q=t&sort=title&format=json").json()

    assert page.count('class="issue-title"') == 50
    assert "page=2" in page
    assert rest.count('class="issue-title"') == 11
    assert (len(file["rows"]), file["next"]) == (61, None)


def test_strangers_text_is_text(client: Client) -> None:
    """Titles, owners and routes run no script and are no template."""
    store_issue(client, [replace(one, route=HOSTILE) for one in numbers(2)], title=HOSTILE)
    record_events(client, [IssueEvent(FIRST, LATER, "owner", HOSTILE)])

    with browsing(client) as browser:
        page = browser.get("/issues").text

    assert "<script>alert" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "{{ 7*7 }}" in page


def test_state_and_owner_are_those_of_now(client: Client) -> None:
    """Though figures are counted now and then: an act is seen at once, a merge too."""
    two(client)

    with browsing(client) as browser:
        browser.get("/issues")
        record_events(client, [IssueEvent(FIRST, LATER, "owner", "ben")])
        assert "ben" in browser.get("/issues").text
        assert post(browser, f"/issues/{SECOND_ID:016x}/merge", into=ID).status_code == 303
        rows = browser.get("/issues?format=json").json()["rows"]

    assert [(row["claims"], row["owner"]) for row in rows] == [(11, "ben")]


def test_several_issues_are_decided_at_once(client: Client) -> None:
    """All chosen ones, or none if one of them does not allow it."""
    two(client)
    both = {f"issue-{FIRST:016x}": "on", f"issue-{SECOND_ID:016x}": "on"}

    with browsing(client) as browser:
        assert post(browser, "/issues/bulk", act="assign", owner="bob", **both).status_code == 303
        assert (
            post(browser, "/issues/bulk", act="resolve", **{f"issue-{ID}": "on"}).status_code == 303
        )
        refused = post(browser, "/issues/bulk", act="ack", **both)
        nothing = post(browser, "/issues/bulk", act="ack")
        rows = browser.get("/issues?state=all&format=json").json()["rows"]

    assert (refused.status_code, ID in refused.text) == (400, True)
    assert nothing.status_code == 400
    assert {(row["id"], row["state"], row["owner"]) for row in rows} == {
        (ID, "resolved", "bob"),
        (f"{SECOND_ID:016x}", "new", "bob"),
    }


def test_the_list_says_what_waits(client: Client) -> None:
    """Before the first run, and the failures that are in no issue."""
    with browsing(client) as browser:
        page = words_of(browser.get("/issues").text)

    assert "Not grouped yet; 0 failures in no issue yet." in page


def test_the_palette_finds_issues_by_their_words(client: Client) -> None:
    """Open ones, each with the address of its page."""
    two(client)

    with browsing(client) as browser:
        found = browser.get("/issues/find?q=source+ADDED").json()

        assert found == [
            {"text": "Added to the source", "note": "issue", "url": f"/issues/{SECOND_ID:016x}"}
        ]
        assert browser.get("/issues/find?q=nowhere").json() == []
        assert browser.get("/issues/find").json() == []
