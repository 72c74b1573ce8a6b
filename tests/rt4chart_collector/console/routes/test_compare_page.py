"""The page that compares two versions: what it says, marks and links, and what it refuses."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from html import unescape

import pytest
from starlette.testclient import TestClient

from rt4chart_collector.store.answers.verdicts import insert_verdicts
from rt4chart_collector.store.engine.connect import Client
from tests.conftest import fresh
from tests.rt4chart_collector.comparison.releases import (
    DENIED,
    HOUR,
    NEW,
    OLD,
    answered,
    bad_release,
)
from tests.rt4chart_collector.console.web import browser
from tests.rt4chart_collector.records import NOON, SECOND

EVIL = "<b>1</b>\u202e"


@pytest.fixture(scope="module")
def client(store_dsn: str) -> Iterator[Client]:
    """A bad release, a question that both were asked, and a prompt of its own on another route."""
    for client in fresh(store_dsn):
        asked = "How long is the trial?"
        insert_verdicts(
            client,
            [
                *bad_release(),
                answered(9001, OLD, question=asked, start_ns=NOON - 2 * HOUR),
                answered(9002, NEW, DENIED, question=asked.upper()),
                answered(9003, EVIL, question="<i>Which?</i>", route="other", model="m-2"),
            ],
        )
        yield client


@pytest.fixture
def visitor(client: Client) -> TestClient:
    """Somebody who looks at it an hour after the last answers."""
    return browser(client, clock=lambda: NOON + HOUR)


def text_of(page: str) -> str:
    """The text of a page."""
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", page)).split())


def test_the_newest_releases_are_compared_in_a_sentence(visitor: TestClient) -> None:
    """With rates, n, interval, statuses, and the routes that the rates are of."""
    text = text_of(visitor.get("/compare?service=shop&route=support").text)

    assert re.search(
        r"Unfaithful claims: 2\.4\.0 is worse than 2\.3\.0 by 32\.2 points, between 2\d\.\d and 4",
        text,
    )
    assert "n = 121 claims of 121 answers" in text
    assert re.search(r"Contradicted 1\.7% .* 33\.9% .* \+32\.2 \(\+.* to \+.*\) worse", text)


def test_a_form_offers_the_last_releases_and_those_that_were_chosen(store_dsn: str) -> None:
    """A hundred, however many there are; an older one that is named is compared all the same."""
    for client in fresh(store_dsn):
        insert_verdicts(
            client,
            [
                answered(at, f"b{at:04}", start_ns=NOON - HOUR + at * SECOND * 10)
                for at in range(300)
            ],
        )
        asked = browser(client, clock=lambda: NOON + HOUR).get("/compare?a=b0000&b=b0299")

        assert asked.status_code == 200
        assert len(re.findall(r'<option value="b', asked.text)) <= 2 * 102
        assert asked.text.count('<option value="b0000" selected') == 1
        assert "of 300 releases. So many look as if" in text_of(asked.text)


def test_answers_to_one_question_stand_side_by_side(visitor: TestClient) -> None:
    """The wrong words are marked, and lead to the claim on the page of the answer."""
    path = f"/compare?service=shop&route=support&a={OLD}&b={NEW}"
    page = visitor.get(f"{path}&partial=1").text
    pair = page[page.index('<article class="pair">') :]
    pair = pair[: pair.index("</article>")]

    assert "HOW LONG IS THE TRIAL?" in pair
    assert pair.count('<mark class="mark mark-contradicted') == 1
    link = f"/answers/{9002:032x}/{9002:016x}?claim=0#claim-0"
    assert re.search(
        rf'<a href="{re.escape(link)}"[^>]*>The trial lasts <span class="differs">30 days</span>\.',
        pair,
    )
    assert "claimed 30 days , found 14 days" in text_of(pair)
    assert f'href="/answers/{9001:032x}/{9001:016x}"' in pair
    assert visitor.get(link.partition("#")[0]).status_code == 200


def test_the_page_asks_for_its_details_itself(visitor: TestClient) -> None:
    """It has the rates at once; the details alone and one page with both have the same in them."""
    path = f"/compare?service=shop&route=support&a={OLD}&b={NEW}"
    page, whole = (unescape(visitor.get(path + part).text) for part in ("", "&part=whole"))
    (asked,) = re.findall(r'<div id="details" data-load="([^"]+)"', page)
    details = unescape(visitor.get(asked).text)

    assert "is worse than" in text_of(page)
    assert '<article class="pair">' not in page
    assert f'href="{path.replace("&a=", "&a=")}&part=whole"' in page
    assert details.count('<article class="pair">') == 1
    assert "<h1>" not in details
    assert text_of(details) in text_of(whole)
    assert "partial=" not in details
    assert visitor.get(f"{path}&part=some").status_code == 400


def test_over_all_routes_it_is_said_what_is_left_out(visitor: TestClient) -> None:
    """Like is compared with like."""
    text = text_of(visitor.get(f"/compare?a={OLD}&b={NEW}").text)

    assert "Rates are of the one route that both versions have." in text
    models = text_of(visitor.get("/compare?by=model&a=m-1&b=m-2").text)
    assert "no difference can be told: one of the versions has no decided claims" in models
    assert "Rates are of no route: they have none with decided claims in common" in models


@pytest.mark.parametrize(
    ("query", "status", "said"),
    [
        ("a=9&service=shop&route=support", 400, "Release 9 has no verified answers here. In this "),
        (f"a={NEW}&b={NEW}", 400, f"Both versions are release {NEW}: choose another one"),
        ("since=1h", 200, "There are no verified answers in this time range: choose a longer one."),
        ("by=time&a=yesterday", 400, "Expected a span of time such as 2026-01-30T12:00Z"),
        ("by=verifier", 200, "In this time range there is only local/test-1 (243 answers)"),
    ],
)
def test_what_cannot_be_compared_is_said_with_the_versions_that_there_are(
    visitor: TestClient, query: str, status: int, said: str
) -> None:
    """The form stays, to choose others."""
    found = visitor.get(f"/compare?{query}")

    assert found.status_code == status
    assert said in text_of(found.text)
    assert "<form" in found.text
    assert 'role="alert"' in found.text
    assert visitor.get(f"/compare?{query}&format=json").status_code == 400


def test_what_is_no_kind_of_version_is_refused(visitor: TestClient) -> None:
    """With those that there are."""
    found = visitor.get("/compare?by=colour")

    assert found.status_code == 400
    assert "release or prompt_version or model" in text_of(found.text)


def test_the_tables_are_files_too(visitor: TestClient) -> None:
    """Rates and differences as shares."""
    path = "/compare?service=shop&route=support&format=json&table="
    rates = visitor.get(path + "rates").json()["rows"]
    issues = visitor.get(path + "issues").json()["rows"]

    assert rates[0]["name"] == "Unfaithful"
    assert rates[0]["difference_low"] < rates[0]["difference"] < rates[0]["difference_high"]
    assert rates[0]["difference"] == pytest.approx(rates[0]["b"] - rates[0]["a"])
    assert issues == []


def test_times_are_compared_too(visitor: TestClient) -> None:
    """The time range with the one before, or two that are named."""
    begin, middle = (f"2096-10-02T{hour}:00" for hour in ("04", "06"))
    found = visitor.get(
        f"/compare?by=time&route=support&service=shop&a={begin}..{middle}&b={middle}..2096-10-03"
    )

    assert found.status_code == 200
    assert "the second span is worse than the first span by" in text_of(found.text)


def test_names_and_texts_are_text(visitor: TestClient, client: Client) -> None:
    """Whatever an application sends, nothing of it is markup."""
    page = visitor.get("/compare?since=24h&part=whole").text

    assert "<b>1</b>" not in page
    assert "<i>Which?</i>" not in page
    assert "\u202e" not in page


def test_a_judge_has_no_issues_of_its_own(visitor: TestClient, client: Client) -> None:
    """The same answers by another judge: the verdict of each is linked."""
    verdicts = [replace(one, verifier="local/other") for one in bad_release()[:30]]
    insert_verdicts(client, verdicts)

    page = visitor.get("/compare?by=verifier&since=7d&part=whole").text

    assert "judges have no issues of their own" in page
    assert "Judges that judged the same answers err together" in text_of(page)
    assert "?verifier=local%2Fother" in page


def test_the_page_of_a_route_leads_there(visitor: TestClient, client: Client) -> None:
    """From each table with two versions or more."""
    page = unescape(visitor.get("/routes/shop/support").text)
    links = re.findall(r'<a href="(/compare\?[^"]+)"', page)

    assert [re.findall("by=([a-z_]+)", link) for link in links] == [["release"]]
    assert visitor.get(links[0]).status_code == 200
