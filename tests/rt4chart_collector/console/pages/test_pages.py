"""The pages over a day of a shop's answers: what they show, and what they let people do."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from html import unescape

import pytest
from starlette.testclient import TestClient

from otel_rt4chart.core.settings import in_force
from otel_rt4chart.verify.core.rates import Measure
from rt4chart_collector.console.app.process_info import ProcessInfo
from rt4chart_collector.core.settings import ConsoleSettings
from rt4chart_collector.store.alerts.alert_events import open_alerts
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.scope import QueryScope
from rt4chart_collector.store.rates.trends import deployments, route_trends
from tests.browser.world import HOUR_NS, RISING, VERIFIER, World
from tests.conftest import fresh
from tests.rt4chart_collector.console.web import browser, post

ROUTE = "/routes/shop/support~2Frefunds"


@pytest.fixture(scope="module")
def world() -> World:
    """A few answers of each route."""
    return World(time.time_ns(), busy=0.3)


@pytest.fixture(scope="module")
def client(store_dsn: str, world: World) -> Iterator[Client]:
    """That day in a database."""
    for client in fresh(store_dsn):
        world.fill(client)
        yield client


@pytest.fixture(scope="module")
def empty(store_dsn: str) -> Iterator[Client]:
    """A database that nothing was sent to."""
    yield from fresh(store_dsn)


@pytest.fixture
def visitor(client: Client) -> TestClient:
    """Somebody who looks at it."""
    settings = ConsoleSettings()
    return browser(client, settings, facts=ProcessInfo(in_force(settings), lambda: {"ready": True}))


def test_the_overview_puts_the_alarm_first(visitor: TestClient) -> None:
    """The alert, then its route with rate, n, interval and evidence."""
    page = visitor.get("/").text

    assert page.index("rose from 6.1%") < page.index("Routes <span")
    rows = re.findall(r'href="(/routes/[^"]+)"', page)
    assert rows[0] == ROUTE
    assert ">strong<" in page
    assert "(no route)" in page


def test_the_overview_sorts_and_exports(visitor: TestClient) -> None:
    """By a column of the address; the same rows as CSV and JSON."""
    rows = visitor.get("/?sort=rate&format=json").json()["rows"]
    rates = [row["rate"] for row in rows]

    assert rates == sorted(rates)
    assert all(row["low"] - 1e-9 <= row["rate"] <= row["high"] + 1e-9 for row in rows)
    header = visitor.get("/?format=csv").text.partition("\r\n")[0].split(",")
    assert header[:5] == ["service", "route", "rate", "low", "high"]
    assert {"misleading", "misleading_claims", "either", "claims", "answers"} <= set(header)
    assert visitor.get("/?sort=nothing").status_code == 400
    assert visitor.get("/?since=2h").status_code == 400
    assert visitor.get("/?name=refunds&format=json").json()["rows"][0]["route"] == RISING[1]


def test_the_overview_shows_both_rates_and_sorts_by_the_chosen_one(visitor: TestClient) -> None:
    """Each with its interval; a rate of a part of the answers says of how many."""
    page = visitor.get("/?measure=misleading").text
    rows = visitor.get("/?measure=misleading&format=json").json()["rows"]
    by_route = {row["route"]: row for row in rows}

    assert 'href="/?measure=either"' in page
    assert "Unfaithful claims" in page
    assert "Misleading claims" in page
    assert all(
        row["misleading_low"] - 1e-9 <= row["misleading"] <= row["misleading_high"] + 1e-9
        for row in rows
    )
    assert by_route["search/answers"]["misleading"] > 0 == by_route[RISING[1]]["misleading"]
    # The urgent routes come first; of the others the worse of this measure.
    calm = [row["misleading"] for row in rows if not row["attention"] // 1000]
    assert calm[0] == max(calm)
    assert visitor.get("/?measure=nothing").status_code == 400


def test_a_route_has_its_statuses_and_the_worst_of_the_chosen_measure(visitor: TestClient) -> None:
    """A claim that a check found on half of the answers counts twice."""
    path = "/routes/shop/search~2Fanswers"
    worst = visitor.get(f"{path}?measure=misleading&format=json&table=worst").json()["rows"]
    statuses = visitor.get(f"{path}?format=json&table=statuses").json()["rows"]
    found = {row["status"]: row["claims"] for row in statuses}

    assert {(row["label"], row["status"]) for row in worst} == {("entailed", "cherry_picked")}
    assert found["cherry_picked"] == 2 * len(worst)
    assert all(0 < row["share"] < 1 for row in statuses)
    assert "supported" not in found
    page = visitor.get(f"{path}?measure=misleading").text
    assert "Misleading claims over time" in page
    assert "cherry-picked" in page
    assert "measure=misleading&amp;order=worst" in page


def test_the_list_of_answers_shows_statuses(visitor: TestClient) -> None:
    """Misleading answers have a filter; the page calls none of them entailed."""
    page = visitor.get("/answers?measure=misleading").text
    rows = visitor.get("/answers?status=cherry_picked&format=json").json()["rows"]
    old = visitor.get("/answers?label=unfaithful&format=json").json()["rows"]
    table = page.partition("<tbody>")[2]

    assert 'class="label label-misleading"' in table
    assert '<span class="status">cherry-picked</span>' in table
    assert "label-entailed" not in table
    assert rows
    assert all("cherry_picked" in row["statuses"] and row["misleading"] == 1 for row in rows)
    assert {(row["checked"], row["action"], row["edits"]) for row in rows} == {("fully", "", "")}
    assert all(row["unfaithful"] > 0 for row in old)
    assert visitor.get("/answers?status=nothing").status_code == 400
    assert visitor.get("/answers?measure=nothing").status_code == 400


def test_the_part_that_renews_itself_is_one_element(visitor: TestClient) -> None:
    """What the script puts in its place."""
    part = visitor.get("/?partial=1").text.strip()

    assert part.startswith('<div id="live" data-refresh="/?partial=1"')
    assert part.endswith("</div>")
    assert "<html" not in part


def test_a_new_console_says_what_to_do(empty: Client) -> None:
    """The exact command and the lines of the application."""
    page = browser(empty).get("/").text

    assert "RT4ChartInstrumentor().instrument(" in page
    assert "rt4chart demo --serve" in page


@pytest.mark.parametrize("path", ["/", "/answers", "/alerts", "/health", "/settings"])
def test_every_page_has_an_empty_state(empty: Client, path: str) -> None:
    """No page fails where nothing is."""
    assert browser(empty).get(path).status_code == 200


def test_a_route_shows_what_may_have_moved_its_rate(visitor: TestClient) -> None:
    """The new prompt version, the alert, the smallest rise that can be found, the worst answers."""
    page = visitor.get(f"{ROUTE}?part=whole").text

    assert "+3.1 points" in page
    assert "kb/1" in page
    assert re.search(r'href="/answers/0[0-9a-f]{31}/[0-9a-f]{16}#claim-[0-9]', page)
    rows = visitor.get(f"{ROUTE}?format=json&table=prompt_version").json()["rows"]
    assert {row["prompt_version"] for row in rows} == {"7", "8"}
    found = visitor.get(f"{ROUTE}?format=json&table=deployments").json()["rows"]
    assert [(row["attribute"], row["value"]) for row in found] == [("prompt version", "8")]


def test_a_route_asks_for_what_failed_when_it_is_shown(visitor: TestClient) -> None:
    """It has the rates at once; what failed alone and one page with both have the same in them."""
    page, whole = (visitor.get(ROUTE + part).text for part in ("", "?part=whole"))
    (asked,) = re.findall(r'<div id="failures" data-load="([^"]+)"', page)
    failures = visitor.get(asked.replace("&amp;", "&")).text

    assert "+3.1 points" in page
    assert f'href="{ROUTE}?part=whole"' in page
    assert failures.startswith('<div id="failures">')
    assert failures.rstrip().endswith("</div>")
    assert "kb/1" in failures
    assert "kb/1" not in page
    assert "kb/1" in whole
    assert "data-load" not in whole
    assert visitor.get(f"{ROUTE}?format=json&table=worst").json()["rows"]
    assert visitor.get(f"{ROUTE}?part=some").status_code == 400


def test_a_route_that_there_is_not_is_not_here(visitor: TestClient) -> None:
    """404, with a longer time as a way out; a table that there is not is 400."""
    assert visitor.get("/routes/shop/nothing").status_code == 404
    assert visitor.get(f"{ROUTE}?format=csv&table=nothing").status_code == 400
    assert visitor.get("/routes/-/-").status_code == 200


def test_from_the_alarm_to_the_sentence_in_three_clicks(visitor: TestClient) -> None:
    """Overview, alert, worst answer: the address ends at the claim."""
    alert = re.search(r'class="alert-title" href="(/alerts/[0-9a-f]+)"', visitor.get("/").text)
    assert alert is not None
    worst = re.search(
        r'class="claim-text" href="(/answers/[^"#]+)#(claim-[0-9]+)"',
        visitor.get(alert.group(1)).text,
    )
    assert worst is not None
    answer = visitor.get(worst.group(1))

    assert answer.status_code == 200
    assert f'id="{worst.group(2)}"' in answer.text


def test_an_alert_says_how_sure_it_is_and_what_to_do(visitor: TestClient) -> None:
    """What changed stands before the worst answers, and all of them are a link away."""
    alert = re.search(r'class="alert-title" href="(/alerts/[0-9a-f]+)"', visitor.get("/").text)
    assert alert is not None
    shown = visitor.get(alert.group(1)).text
    link = re.search(r'href="(/answers[^"]+)">All such answers since then', shown)
    assert link is not None

    assert visitor.get(unescape(link.group(1))).status_code == 200
    assert all(part in link.group(1) for part in ("service=shop", "measure=unfaithful", "since=6h"))
    marks = ("Evidence of a rise", "What changed", "Next:", "Worst answers", "More figures")
    assert sorted(marks, key=shown.index) == list(marks)


def test_a_risen_rate_is_accepted_after_a_confirmation_and_that_is_undone(
    visitor: TestClient, client: Client, world: World
) -> None:
    """To resolve the alert is another act; one on an issue has no rate to accept."""
    states = open_alerts(client, now_ns=time.time_ns())
    drift = next(each for each in states if each.alert.accepting)
    issue = next(each for each in states if each.alert.issue_id)
    path = f"/alerts/{drift.id}"

    assert "Accept as the usual rate" not in visitor.get(f"/alerts/{issue.id}").text
    assert post(visitor, path, do="accept")[0] == 400
    assert post(visitor, path, do="resolve")[0] == 303
    assert "Accept as the usual rate" in visitor.get(path).text
    assert post(visitor, path, do="accept", sure="on")[0] == 303
    page = visitor.get(path).text
    assert "was accepted as the usual one" in page
    assert "Accept as the usual rate" not in page
    assert post(visitor, path, do="retract")[0] == 303
    assert "was accepted as the usual one" not in visitor.get(path).text


def test_an_alert_is_taken_on_silenced_and_resolved(
    visitor: TestClient, client: Client, world: World
) -> None:
    """Each by a button, with who it was."""
    now_ns = time.time_ns()
    one = next(each for each in open_alerts(client, now_ns=now_ns) if each.alert.issue_id)
    path = f"/alerts/{one.id}"

    assert post(visitor, path, do="ack", note="looking")[0] == 303
    assert "acknowledged by local" in visitor.get(path).text
    assert post(visitor, path, do="snooze", minutes="30")[0] == 303
    assert "silenced" in visitor.get(path).text
    assert post(visitor, path, do="resolve")[0] == 303
    assert "resolved" in visitor.get(path).text
    assert post(visitor, path, do="resolve")[0] == 400
    assert post(visitor, path, do="dance")[0] == 400
    assert post(visitor, path, do="snooze", minutes="31")[0] == 400
    assert visitor.get("/alerts/nobody").status_code == 404
    assert visitor.get(f"/alerts/{one.id[:6]}").headers["location"] == path


def test_a_maintenance_window_begins_and_ends(visitor: TestClient) -> None:
    """Of what it names, until somebody ends it."""
    fields = {"service": "docs", "minutes": "60", "note": "a move"}
    assert post(visitor, "/silences", **fields)[0] == 303
    page = visitor.get("/alerts").text
    found = re.search(r'name="remove" value="([0-9a-f]+)"', page[page.index("a move") :])
    assert found is not None

    assert post(visitor, "/silences", remove=found.group(1))[0] == 303
    assert "a move" not in visitor.get("/alerts").text
    assert post(visitor, "/silences", remove=found.group(1))[0] == 400


def test_health_says_why_an_answer_was_not_verified(visitor: TestClient, world: World) -> None:
    """By its trace id, with what to do."""
    blocked = next(one for one in world.verdicts() if one.decision == "no_content")

    page = visitor.get(f"/health?trace={blocked.candidate.trace_id}").text

    assert "Let the instrumentation capture message content" in page
    assert "No span of this trace is stored" in visitor.get(f"/health?trace={'f' * 32}").text
    assert visitor.get("/health?trace=a%20b").status_code == 400
    rows = visitor.get("/health?format=json&table=reasons").json()["rows"]
    assert rows == [{"reason": "timeout", "answers": 2}, {"reason": "too_long", "answers": 1}]


def test_settings_tell_where_a_value_is_the_default(visitor: TestClient) -> None:
    """And of what each means."""
    rows = visitor.get("/settings?format=json").json()["rows"]

    told = {row["variable"]: row["value"] for row in rows}
    assert told["RT4CHART_CONSOLE"] == "127.0.0.1:8321"
    assert told["RT4CHART_CONSOLE_TOKEN"].startswith("not")


def test_trends_and_deployments_are_of_their_time(client: Client, world: World) -> None:
    """Steps without an answer are None, and what was there before is no deployment."""
    since_ns = world.now_ns - 48 * HOUR_NS
    lines = route_trends(client, QueryScope(since_ns, world.now_ns, VERIFIER), steps=48)
    line = lines[RISING]
    spared = route_trends(
        client, QueryScope(since_ns, world.now_ns, VERIFIER), steps=1, measure=Measure.MISLEADING
    )
    assert spared[RISING].rates == (0.0,)
    assert (spared["shop", "search/answers"].rates[0] or 0.0) > 0
    assert line.rates[:20] == (None,) * 20
    assert sum(line.answers) == sum(one.candidate.route == RISING[1] for one in world.verdicts())

    scope = QueryScope(world.now_ns - HOUR_NS, world.now_ns, VERIFIER, *RISING)
    found = deployments(client, scope)
    assert found == []
