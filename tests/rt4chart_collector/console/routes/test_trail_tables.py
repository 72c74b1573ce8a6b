"""Where the unfaithful claims of a route entered: on its page, its alert's page and the report."""

from __future__ import annotations

import re
import time
from dataclasses import replace

import pytest

from otel_rt4chart.verify import RulesJudge
from rt4chart_collector.core.alerts.state import AlertEvent, AlertEventKind
from rt4chart_collector.report.gather import gather_report
from rt4chart_collector.report.page import render_report
from rt4chart_collector.store.alerts.alert_events import record_alert_events
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.scope import QueryScope
from tests.rt4chart_collector.chain_app import ANSWER
from tests.rt4chart_collector.console.web import browser
from tests.rt4chart_collector.notify.world import DRIFT, MINUTE
from tests.rt4chart_collector.traced import WRONG_ANSWER, WRONG_SUMMARY, research

SENTENCE = re.compile(
    r"66\.7% \([\d.]+–[\d.]+%\) of 3 traced unfaithful claims entered in summarise"
)


def text_of(html: str) -> str:
    """The text without its elements."""
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", "", html))


@pytest.fixture
def answers(client: Client) -> list[str]:
    """Three wrong answers, two of them by their summary; the paths of their pages."""
    made = [WRONG_SUMMARY, WRONG_ANSWER, WRONG_SUMMARY]
    found = [research(client, one) for one in made]
    return [f"/answers/{one.trace_id}/{one.span_id}" for one in found]


def test_route_page_says_in_which_step_claims_entered(client: Client, answers: list[str]) -> None:
    """With interval and number; the newest example is one click away."""
    page = browser(client).get("/routes/shop/research").text

    assert SENTENCE.search(text_of(page))
    assert f'href="{answers[2]}#claim-0"' in page
    table = page.partition('id="t-stages"')[2].partition("</table>")[0]
    steps = re.findall(r'data-title="Step"[^>]*><span><a href="([^"]+)">(\w+)', table)
    assert [step for _, step in steps] == ["summarise", "answer"]
    listed = browser(client).get(steps[1][0].replace("&amp;", "&")).text
    assert [path in listed for path in answers] == [False, True, False]
    assert "ignored by the step that had read it" in page


def test_figures_of_the_steps_are_a_file(client: Client, answers: list[str]) -> None:
    """Every table of the console is."""
    found = browser(client).get("/routes/shop/research?format=json&table=stages").json()["rows"]

    assert [(row["stage"], row["claims"], row["answers"]) for row in found] == [
        ("summarise", 2, 2),
        ("answer", 1, 1),
    ]
    assert all(0 <= row["low"] < row["share"] < row["high"] <= 1 for row in found)


def test_route_of_one_step_has_no_such_table(client: Client) -> None:
    """Nor has one whose claims are all entailed."""
    research(client, replace(WRONG_ANSWER, answer=ANSWER))

    page = browser(client).get("/routes/shop/research").text

    assert "t-stages" not in page
    assert "entered in" not in page


def test_alert_page_leads_to_the_step_in_two_clicks(client: Client, answers: list[str]) -> None:
    """From the alert to the newest answer, and from its claim to the step."""
    now = time.time_ns()
    alert = replace(DRIFT, service="shop", route="research", starts_ns=now - MINUTE)
    record_alert_events(client, [AlertEvent(alert, now, AlertEventKind.FIRED)])
    visitor = browser(client)

    page = visitor.get(f"/alerts/{alert.id}").text
    assert SENTENCE.search(text_of(page))
    assert f'href="{answers[2]}#claim-0"' in page
    step = re.findall(r'Entered in step <a href="#(step-\d+)"', visitor.get(answers[2]).text)
    assert step == ["step-3"]


def test_report_has_the_sentence(client: Client, answers: list[str]) -> None:
    """Also without texts: the name of a step quotes no answer."""
    now = time.time_ns()
    report = gather_report(client, QueryScope(now - 3600 * 10**9, now, RulesJudge().id))

    told = text_of(render_report(report, made_ns=now, has_texts=False))
    assert SENTENCE.search(told.replace("“", "").replace("”", ""))
