"""The page of an issue, and what a person does there."""

from __future__ import annotations

import json
import re
from dataclasses import replace

from rt4chart_clustering.grouping.open_proposals import PROPOSED_MERGE
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.issues.issue_events import IssueEvent, events_of, record_events
from tests.rt4chart_clustering.console.web import HOSTILE, LATER, browsing, post, token_of, words_of
from tests.rt4chart_clustering.issues import FIRST, SECOND_ID, store_issue
from tests.rt4chart_clustering.made import added, numbers
from tests.rt4chart_clustering.test_misleading_answers import (
    covered,
    promoted,
    ranked,
    store_twenty,
)

ID = f"{FIRST:016x}"
PATH = f"/issues/{ID}"


def last(client: Client, issue: int = FIRST) -> tuple[str, str, str, str]:
    """The last event: who, what, which, why."""
    event = events_of(client, issue)[-1]
    return event.actor, event.kind, event.value, event.note


def test_an_issue_is_shown_whole(client: Client) -> None:
    """Figures, trend, examples that lead to the claim, where it happens, what can be done."""
    store_issue(client, numbers(8))

    with browsing(client) as browser:
        page = browser.get(PATH)
        examples = browser.get(f"{PATH}?format=json&table=examples").json()["rows"]
        trail = browser.get(f"{PATH}?format=csv&table=trail").text

    told = words_of(page.text)
    assert page.status_code == 200
    assert "Number not as in the source" in told
    assert "8 failures in 14 days, at most 8 per day" in told
    assert f'href="{examples[0]["url"]}"' in page.text
    assert all(word in told for word in ("Acknowledge", "Resolve", "Ignore", "Promote"))
    assert "Reopen" not in told
    assert examples[0]["url"].endswith("#claim-0")
    assert "born" in trail


def test_a_misleading_issue_shows_the_used_passage_beside_the_one_against_it(
    client: Client,
) -> None:
    """In its examples, its cases, and on the map; its share is one of misleading claims."""
    store_twenty(client)
    cherry, _ = ranked(client)
    (case, *_) = promoted(client, cherry.issue, "coverage")
    path = f"/issues/{cherry.issue.id:016x}"

    with browsing(client) as browser:
        page = browser.get(path).text
        (example, *_) = browser.get(f"{path}?format=json&table=examples").json()["rows"]
        row = browser.get("/issues?format=json").json()["rows"][0]
        shown = browser.get(f"/evalsets/coverage/cases/{case.id}").text
        labels = {one["label"] for one in browser.get("/map?format=json").json()["rows"]}

    (sides,) = re.findall(r'<div class="both-sides">(.*?)</div>', page, re.DOTALL)[:1]
    assert "Cherry-picked exclusion · coverage" in words_of(page)
    assert "used · kb-0" in words_of(sides)
    assert "limits · kb-1" in words_of(sides)
    assert (example["status"], row["measure"]) == ("cherry_picked", "misleading")
    assert (example["used"], example["against"]) == covered(
        example["text"].removeprefix("The policy covers ").removesuffix(".")
    )[1:]
    assert f"left out {case.limits[0]}" in words_of(shown)
    assert labels == {"cherry_picked", "qualifier_dropped"}


def test_the_steps_in_which_its_claims_entered_lead_to_their_answers(client: Client) -> None:
    """With the number of claims that were traced; an issue without such claims has no such part."""
    store_issue(client, numbers(8), steps=["summarise", "summarise", "map & join", ""])
    store_issue(client, added()[:3], number=SECOND_ID)

    with browsing(client) as browser:
        page = browser.get(PATH).text
        rows = browser.get(f"{PATH}?format=json&table=steps").json()["rows"]
        other = browser.get(f"/issues/{SECOND_ID:016x}").text
        (listed,) = browser.get("/issues?format=json&q=step:summarise").json()["rows"]

    assert "summarise 2 of 4 traced" in words_of(page)
    assert "summarise 2 map &amp; join 1 not known 1" in words_of(page)
    assert "q=step%3A%22map+%26+join%22" in page
    assert rows[0] == {"step": "summarise", "claims": 2, "weighted": 2.0}
    assert [row["step"] for row in rows] == ["summarise", "map & join", ""]
    assert "Entered in" not in words_of(other)
    assert (listed["id"], listed["step"]) == (ID, "summarise")


def test_an_unknown_issue_is_not_here(client: Client) -> None:
    """Whatever is asked of it."""
    with browsing(client) as browser:
        for path in ("/issues/ffff", "/issues/zz", "/issues/1/why"):
            assert browser.get(path).status_code == 404, path
        assert post(browser, "/issues/ffff/ack").status_code == 404


def test_short_ids_and_aliases_lead_to_the_issue(client: Client) -> None:
    """Its own address is the one to keep; an address of a form leads back to it."""
    store_issue(client, numbers(2))

    with browsing(client) as browser:
        short = browser.get(f"/issues/{ID[:4]}", follow_redirects=False)
        form = browser.get(f"{PATH}/merge", follow_redirects=False)

    assert (short.status_code, short.headers["location"]) == (302, PATH)
    assert form.headers["location"] == PATH


def test_where_the_evidence_was_lost_is_told_on_demand(client: Client) -> None:
    """As a part of the page, and as a page where there are no scripts."""
    store_issue(client, numbers(3))

    with browsing(client) as browser:
        part = browser.get(f"{PATH}/why", headers={"x-partial": "1"}).text
        page = browser.get(f"{PATH}/why").text

    assert part.startswith('<div class="why">')
    assert "100% present and contradicted" in words_of(part)
    assert "<html" in page


ACTS: list[tuple[str, dict[str, str], tuple[str, ...]]] = [
    ("ack", {"note": "mine"}, ("ann", "state", "acknowledged", "mine")),
    ("resolve", {}, ("ann", "state", "resolved", "")),
    ("ignore", {}, ("ann", "state", "ignored", "")),
    ("assign", {"owner": " ben \n"}, ("ann", "owner", "ben", "")),
    ("note", {"note": HOSTILE}, ("ann", "note", "", HOSTILE)),
    ("rename", {"title": "Trial length"}, ("ann", "renamed", "Trial length", "")),
]


def test_an_act_is_in_the_trail_with_its_actor(client: Client) -> None:
    """And the browser is led to the issue, which shows it as text."""
    store_issue(client, numbers(2))

    with browsing(client) as browser:
        for act, fields, event in ACTS:
            done = post(browser, f"{PATH}/{act}", **fields)
            assert (done.status_code, done.headers["location"]) == (303, PATH)
            assert last(client) == event
        page = browser.get(PATH).text

    assert "<script>alert" not in page


REFUSED: list[tuple[str, dict[str, str], str]] = [
    ("reopen", {}, "expected one of ack, resolve, ignore"),
    ("note", {"note": " "}, "expected a note"),
    ("note", {"note": "x" * 2001}, "2000 characters"),
    ("note", {"note": "a\0b"}, "NUL"),
    ("rename", {"title": "x" * 201}, "200 characters"),
    ("merge", {"into": "zz"}, "expected the id of an issue"),
    ("merge", {"into": ID}, "expected two issues"),
    ("unmerge", {"alias": ID}, "part of this one"),
    ("refuse_merge", {}, "a proposed merge"),
    ("split", {}, "a proposed split"),
    ("refuse_split", {}, "a proposed split"),
    ("promote", {"name": "a b", "n": "3"}, "expected the name of an eval set"),
    ("promote", {"name": "a@1", "n": "3"}, "without a release"),
    ("promote", {"name": "a", "n": "0"}, "from 1 to 100"),
    ("promote", {"name": "a", "n": "3", "redact": "x"}, "none, mask or hash"),
]


def test_what_is_refused_is_told_at_the_form(client: Client) -> None:
    """In the words of the command; nothing is written."""
    store_issue(client, numbers(2))
    before = events_of(client, FIRST)

    with browsing(client) as browser:
        for act, fields, words in REFUSED:
            told = post(browser, f"{PATH}/{act}", **fields)
            assert told.status_code == 400, act
            assert words in told.text
            assert told.text.count('role="alert"') == 1, act

    assert events_of(client, FIRST) == before


def test_a_form_of_another_page_changes_nothing(client: Client) -> None:
    """A wrong token, none, another origin, and a console that is read only."""
    store_issue(client, numbers(2))
    before = events_of(client, FIRST)

    with browsing(client) as browser:
        token = token_of(browser)
        other = {"origin": "http://evil.example"}
        for data, headers in (({"csrf": "x"}, {}), ({}, {}), ({"csrf": token}, other)):
            told = browser.post(f"{PATH}/ack", data=data, headers=headers, follow_redirects=False)
            assert told.status_code == 403
    with browsing(client, console_readonly=True) as browser:
        assert post(browser, f"{PATH}/ack").status_code == 403
        assert "Acknowledge" not in browser.get(PATH).text

    assert events_of(client, FIRST) == before


def test_nobody_acts_under_the_software_s_name(client: Client) -> None:
    """Whatever the proxy says."""
    store_issue(client, numbers(2))

    with browsing(client) as browser:
        browser.headers["x-forwarded-email"] = "rt4chart"
        told = post(browser, f"{PATH}/ack")

    assert told.status_code == 400
    assert "person" in told.text


def test_a_proposed_merge_is_done_or_refused(client: Client) -> None:
    """Done, the page of the issue that stands for both has a way back."""
    store_issue(client, numbers(4))
    second = [replace(one, route="trial") for one in added()[:2]]
    store_issue(client, second, number=SECOND_ID, title="Added")
    value = json.dumps({"into": ID, "likeness": 0.93})
    record_events(client, [IssueEvent(SECOND_ID, LATER - 2, PROPOSED_MERGE, value)])
    other = f"/issues/{SECOND_ID:016x}"

    with browsing(client) as browser:
        page = words_of(browser.get(other).text)
        merged = post(browser, f"{other}/merge", into=ID)
        whole = browser.get(PATH).text
        apart = post(browser, f"{PATH}/unmerge", alias=f"{SECOND_ID:016x}")
        refused = post(browser, f"{other}/refuse_merge")
        again = words_of(browser.get(other).text)

    assert "is 93% similar" in page
    assert merged.headers["location"] == PATH
    assert f"{SECOND_ID:016x}" in whole
    assert apart.headers["location"] == other
    assert (refused.status_code, last(client, SECOND_ID)[:2]) == (303, ("ann", "refused_merge"))
    assert "is 93% similar" not in again
