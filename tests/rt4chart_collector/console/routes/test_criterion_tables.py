"""Custom criteria on the pages: shares with their n and interval, and none where there are none."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from dataclasses import replace

from starlette.testclient import TestClient

from otel_rt4chart.verify.criteria.model import CriterionOutcome, CriterionVerdict
from rt4chart_collector.store.answers.verdicts import insert_verdicts
from rt4chart_collector.store.engine.connect import Client
from tests.rt4chart_collector.console.web import browser
from tests.rt4chart_collector.records import SECOND, verdict

PASS, FAIL = CriterionOutcome.PASS, CriterionOutcome.FAIL
ROUTE = "/routes/shop/support"


def filled(client: Client, outcomes: Sequence[CriterionOutcome], *names: str) -> TestClient:
    """A visitor, after answers of the last hour with these outcomes of each criterion."""
    start = time.time_ns() - 600 * SECOND
    insert_verdicts(
        client,
        [
            replace(
                verdict(number, start_ns=start, sample_rate=1.0),
                criteria=tuple(
                    CriterionVerdict(name, "v1", "judged", one, "It says <b>so</b>.", judge="m")
                    for name in names
                ),
            )
            for number, one in enumerate(outcomes)
        ],
    )
    return browser(client)


def test_the_route_page_has_the_share_of_each_criterion(client: Client) -> None:
    """With its interval, how many answers were decided, and a way to those that fail."""
    visitor = filled(client, [PASS, PASS, PASS, FAIL], "cites", "fee")

    page = visitor.get(ROUTE).text
    (cites, fee) = visitor.get(f"{ROUTE}?format=json&table=criteria").json()["rows"]

    table = page[page.index('id="t-criteria"') :]
    assert "<strong>25.0%</strong>" in table
    assert re.search(r'<span class="interval">[\d.]+–[\d.]+%</span>', table)
    assert "1 of 4" in table
    assert "q=fails%3Acites" in table
    assert (cites["criterion"], cites["fails"], cites["failed"], cites["decided"]) == (
        *("cites", 0.25),
        *(1, 4),
    )
    assert fee["low"] < 0.25 < fee["high"]


def test_the_overview_has_each_criterion_over_all_routes(client: Client) -> None:
    """With the route on which it surely fails most: not one of a single answer."""
    visitor = filled(client, [PASS, FAIL, FAIL, FAIL, FAIL], "cites", "fee")
    alone = CriterionVerdict("cites", "v1", "must_cite", FAIL)
    start = time.time_ns() - 600 * SECOND
    single = verdict(90, start_ns=start, route="pay", sample_rate=1.0)
    insert_verdicts(client, [replace(single, criteria=(alone,))])

    page = visitor.get("/").text
    cites, fee = visitor.get("/?format=json&table=criteria").json()["rows"]
    named = visitor.get("/?name=pay").text

    table = page[page.index('id="t-criteria"') :]
    assert "<strong>83.3%</strong>" in table
    assert "/routes/shop/support" in table
    assert (cites["failed"], cites["decided"], cites["worst_route"]) == (5, 6, "support")
    assert (fee["decided"], fee["worst_route"]) == (5, None)
    assert "t-criteria" not in named


def test_without_criteria_the_pages_say_nothing_of_them(client: Client) -> None:
    """No empty table, no empty column."""
    visitor = filled(client, [PASS, FAIL])

    assert "riteri" not in visitor.get("/").text
    assert "riteri" not in visitor.get(ROUTE).text
    assert visitor.get("/?format=json&table=criteria").json()["rows"] == []


def test_an_undecided_criterion_has_no_share(client: Client) -> None:
    """It is not zero."""
    visitor = filled(client, [CriterionOutcome.UNDECIDED], "cites")

    assert "no decided answers" in visitor.get(ROUTE).text
    (found,) = visitor.get("/?format=json&table=criteria").json()["rows"]
    assert (found["fails"], found["undecided"]) == (None, 1)


def test_the_answer_s_page_says_who_gave_a_reason(client: Client) -> None:
    """As text, whatever a model wrote; the JSON has all of it."""
    visitor = filled(client, [FAIL], "fee")
    path = f"/answers/{0:032x}/{0:016x}"

    page = visitor.get(path).text
    (found,) = visitor.get(f"{path}?format=json").json()["criteria"]

    section = page[page.index('id="criteria-title"') :]
    assert "fail" in section
    assert "It says &lt;b&gt;so&lt;/b&gt;." in section
    assert "(says m)" in section
    assert (found["name"], found["outcome"], found["version"]) == ("fee", "fail", "v1")


def test_the_list_of_answers_finds_those_that_fail(client: Client) -> None:
    """By the link of the route page."""
    visitor = filled(client, [PASS, FAIL], "fee")

    page = visitor.get("/answers?q=fails:fee").text
    suggested = visitor.get("/suggest/fails").json()

    assert f"{1:032x}" in page
    assert f"/answers/{0:032x}/" not in page
    assert suggested == ["fee"]
