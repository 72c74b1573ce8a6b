"""Eval sets in the browser: promoted to, reviewed, released, downloaded."""

from __future__ import annotations

import io
import json
import zipfile

from otel_rt4chart.verify.core.model import Exchange, Label, Passage
from rt4chart_clustering.evalset.case import EvalCase, LabelledClaim
from rt4chart_clustering.evalset.formats import FORMATS
from rt4chart_clustering.evalset.review import case_body, parse_stored_case
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.issues.eval_sets import (
    CaseState,
    StoredCase,
    release,
    releases,
    stored_cases,
    write_cases,
)
from tests.rt4chart_clustering.console.web import HOSTILE, browsing, post, words_of
from tests.rt4chart_clustering.evalset.made import stored, trace
from tests.rt4chart_clustering.issues import FIRST, store_issue

SET = "/evalsets/regressions"
WRONG = "The free trial lasts 30 days."


def case(name: str, *, answer: str = WRONG, passage: str = "It lasts 14 days.") -> StoredCase:
    """A case that waits; the answer's end is contradicted."""
    claim = LabelledClaim(answer, Label.CONTRADICTED, max(len(answer) - 8, 0), len(answer))
    exchange = Exchange("How long?", (Passage("kb", passage),), answer)
    return StoredCase(
        name, CaseState.PENDING, 7, case_body(EvalCase(name, exchange, (claim,))), "x"
    )


def written(client: Client, *cases: StoredCase) -> None:
    """They are in the set."""
    write_cases(client, "regressions", cases, version=1)


def states(client: Client) -> dict[str, tuple[str, str, str]]:
    """Each case's state, who brought it there, and what they said."""
    return {one.id: (one.state, one.actor, one.note) for one in stored_cases(client, "regressions")}


def test_without_sets_the_page_says_where_they_come_from(client: Client) -> None:
    """And a set that there is not, is not here; no name of a file is one."""
    with browsing(client) as browser:
        page = browser.get("/evalsets").text
        for path in (SET, "/evalsets/a@1", "/evalsets/..%2fx", f"{SET}/cases/c", f"{SET}/review/x"):
            assert browser.get(path).status_code == 404

    assert "rt4chart evalset promote" in page


def test_an_issue_s_failures_become_cases(client: Client) -> None:
    """The set says how many, and what was left out and why."""
    found = stored(client, [trace(1, "How long?", WRONG), trace(2, "Free?", "It lasts 90 days.")])
    store_issue(client, found, is_stored=True)
    path = f"/issues/{FIRST:016x}/promote"

    with browsing(client) as browser:
        done = post(browser, path, name="regressions", n="5", redact="mask")
        page = words_of(browser.get(done.headers["location"]).text)
        client.command("TRUNCATE TABLE otel_traces")
        gone = post(browser, path, name="regressions", n="5")
        refused = words_of(browser.get(gone.headers["location"]).text)

    assert "2 new cases from the issue" in page
    assert "2: the spans of the answer are no longer stored" in refused.replace("&#39;", "'")
    assert [state[:2] for state in states(client).values()] == [("pending", "ann")] * 2
    assert "help@example.com" not in stored_cases(client, "regressions")[0].body


def test_cases_are_decided_one_after_the_other(client: Client) -> None:
    """Approved, with a good answer, or rejected with a note; the next one follows."""
    written(client, case("a"), case("b"), case("c"))

    with browsing(client) as browser:
        first = browser.get(f"{SET}/review", follow_redirects=False).headers["location"]
        page = browser.get(first).text
        one = post(browser, first, decision="approve", was="pending", reference="14 days.", note="")
        two = post(browser, one.headers["location"], decision="reject", was="pending", note="off")
        third = post(browser, two.headers["location"], decision="approve", was="pending")
        after = browser.get(f"{SET}/review", follow_redirects=False).headers["location"]

    assert "Case 1 of 3 pending" in words_of(page)
    assert 'class="mark mark-contradicted ends"' in page
    assert [one.headers["location"], two.headers["location"]] == [
        f"{SET}/cases/b",
        f"{SET}/cases/c",
    ]
    assert third.headers["location"] == after == SET
    assert states(client) == {
        "a": ("approved", "ann", ""),
        "b": ("rejected", "ann", "off"),
        "c": ("approved", "ann", ""),
    }
    assert parse_stored_case(stored_cases(client, "regressions")[0]).reference == "14 days."


REFUSED = [
    ({"decision": "burn", "was": "pending"}, "expected approve or reject"),
    ({"decision": "approve", "was": "rejected"}, "decide again"),
    ({"decision": "approve", "was": "pending", "reference": "x" * 20_001}, "shorten them"),
    ({"decision": "approve", "was": "pending"}, "reject the case"),
]


def test_a_decision_that_cannot_be_is_refused_in_words(client: Client) -> None:
    """Another's decision meanwhile, and a case whose passage was taken out, too."""
    written(client, case("a", passage="__REDACTED__"))

    with browsing(client) as browser:
        for fields, words in REFUSED:
            told = post(browser, f"{SET}/cases/a", **fields)
            assert (told.status_code, words in told.text) == (400, True), words

    assert states(client)["a"] == ("pending", "x", "")


def test_a_case_that_cannot_be_approved_says_why(client: Client) -> None:
    """Before anybody tries; a form of another page decides nothing."""
    written(client, case("a", passage="__REDACTED__"))

    with browsing(client) as browser:
        page = browser.get(f"{SET}/cases/a").text
        forged = browser.post(f"{SET}/cases/a", data={"decision": "reject", "csrf": "x"})

    assert "This case cannot be approved: a text was redacted before the spans" in words_of(page)
    assert forged.status_code == 403


def test_approved_cases_are_released_and_can_be_downloaded(client: Client) -> None:
    """In every layout, with the checksum; the same cases are not released twice."""
    written(client, case("a"))

    with browsing(client) as browser:
        none = post(browser, f"{SET}/release")
        post(browser, f"{SET}/cases/a", decision="approve", was="pending")
        done = post(browser, f"{SET}/release")
        again = post(browser, f"{SET}/release")
        page = browser.get(SET).text
        files = {name: browser.get(f"{SET}/releases/1/{name}") for name in FORMATS}
        missing = [browser.get(f"{SET}/releases/{path}").status_code
                   for path in ("2/jsonl", "1/x", "0/jsonl")]  # fmt: skip

    (made,) = releases(client, "regressions")
    assert (made.number, made.cases, made.actor) == (1, 1, "ann")
    assert "expected at least one approved case" in none.text
    assert done.headers["location"] == f"{SET}#t-releases"
    assert "has the same cases" in again.text
    assert made.checksum in page
    assert json.loads(files["jsonl"].text)["question"] == "How long?"
    assert files["jsonl"].headers["content-disposition"].endswith('"regressions-1.jsonl"')
    with zipfile.ZipFile(io.BytesIO(files["ragtruth"].content)) as archive:
        assert archive.namelist() == ["response.jsonl", "source_info.jsonl"]
    assert {one.status_code for one in files.values()} == {200}
    assert missing == [404, 404, 404]


def test_the_cases_of_a_set_are_listed_by_state(client: Client) -> None:
    """As a page, and as a file."""
    written(client, case("a"), case("b/ü"))

    with browsing(client) as browser:
        post(browser, f"{SET}/cases/a", decision="reject", was="pending", note="no")
        rows = browser.get(f"{SET}?state=rejected&format=json").json()["rows"]
        page = browser.get(f"{SET}?state=pending").text
        odd = browser.get(f"{SET}/cases/b~2F~C3~BC")

    assert [(row["id"], row["note"]) for row in rows] == [("a", "no")]
    assert f'href="{SET}/cases/b~2F~C3~BC"' in page
    assert odd.status_code == 200


def test_strangers_text_is_text_in_a_case(client: Client) -> None:
    """A long answer is shown around its claims."""
    long = f"{HOSTILE} " + "word " * 50_000 + "30 days."
    written(client, case("a", answer=long, passage=HOSTILE * 200))

    with browsing(client) as browser:
        page = browser.get(f"{SET}/cases/a").text
        listed = browser.get(SET).text

    assert "<script>alert" not in page + listed
    assert len(page) < 60_000
    assert "characters …" in page


def test_a_release_that_was_changed_is_not_given(client: Client) -> None:
    """Its checksum is looked at, as by the commands."""
    written(client, case("a"))
    with browsing(client) as browser:
        post(browser, f"{SET}/cases/a", decision="approve", was="pending")
    release(client, "regressions", actor="x", now_ms=1)
    client.command("TRUNCATE TABLE rt4chart_eval_cases")
    client.command(
        "INSERT INTO rt4chart_eval_releases SELECT EvalSet, Release, 'z', IssueId, Body, Checksum, "
        "Actor, ReleasedAt FROM rt4chart_eval_releases"
    )

    with browsing(client) as browser:
        told = browser.get(f"{SET}/releases/1/jsonl")

    assert told.status_code == 404
    assert "do not match its checksum" in told.text
