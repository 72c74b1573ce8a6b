"""The page of an alert on a risen rate, and the acts on it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape

import pytest
from starlette.testclient import TestClient

from rt4chart_collector.core.alerts.alert import Alert
from rt4chart_collector.core.alerts.state import AlertEvent, AlertEventKind
from rt4chart_collector.store.alerts.alert_events import alert_state, record_alert_events
from rt4chart_collector.store.engine.connect import Client
from tests.conftest import fresh
from tests.rt4chart_collector.console.web import browser, post
from tests.rt4chart_collector.incident.rises import HOUR, MINUTE, Rise
from tests.rt4chart_collector.notify.world import ISSUE
from tests.rt4chart_collector.records import NOON

SINCE = NOON - NOON % HOUR + 20 * MINUTE
NOW = SINCE + 6 * HOUR
RELEASES = ((SINCE - 24 * HOUR, "2.3.0"), (SINCE, "2.4.0"))
TICKET = "https://tickets.example.com/OPS-1"
# Statements that one page may run: those of the state and the trail, and those of the incident.
MOST_STATEMENTS = 16


@pytest.fixture(scope="module")
def client(store_dsn: str) -> Iterator[Client]:
    """A bad release on one route, and a rise without releases on another one."""
    for client in fresh(store_dsn):
        Rise(SINCE, releases=RELEASES).fill(client)
        Rise(SINCE, route="bare", first=2_000_000).fill(client)
        yield client


@pytest.fixture
def visitor(client: Client) -> TestClient:
    """Somebody who looks at it six hours after the rise."""
    return browser(client, clock=lambda: NOW)


def alert_of(route: str = "support") -> Alert:
    """The alert on a route."""
    return Rise(SINCE, releases=RELEASES, route=route).alert()


def read(visitor: TestClient, alert: Alert) -> str:
    """The words of the alert's whole page, in one line."""
    answer = visitor.get(f"/alerts/{alert.id}?part=whole")
    assert answer.status_code == 200
    return words_of(answer.text.partition("<main")[2].partition("</main>")[0])


def words_of(html: str) -> str:
    """The words of a page, in one line."""
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", html)).split())


def test_the_page_answers_what_an_engineer_asks(visitor: TestClient) -> None:
    """How bad, since when, how sure, what changed, what to go back to, which words are wrong."""
    page = read(visitor, alert_of())

    for words in (
        "1.0% 0.7–1.4% (95%), n = 4,000 claims of 4,000 answers",
        "(95%)",
        "strong",
        "2.3.0 → 2.4.0, 0% → 100% of the answers ; first seen 2096-10-02 07:20 UTC, when the rise",
        "Roll back to release 2.3.0 ? 2.4.0 replaced release 2.3.0. It last answered at",
        "0.0% (0.0% to 3.1%) of its 120 claims in 120 answers were unfaithful.",
        "5 questions have answers with unfaithful claims since the rise; all were asked",
        "0 of 24 answers to this question unfaithful The trial lasts 14 days.",
        "claimed 30 days , found 14 days",
        "contradicts · passage p1",
        "Nobody was notified: no message about it was sent.",
        "nobody owns it",
        "detected critical",
    ):
        assert words in page, words


def test_the_page_needs_few_statements_and_no_script(
    visitor: TestClient, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its chart is drawn already."""
    statements: list[str] = []
    query = Client.query

    def counted(self: Client, text: str, *given: object, **named: object) -> object:
        statements.append(text)
        return query(self, text, *given, **named)  # type: ignore[arg-type]

    visitor.get("/alerts")
    monkeypatch.setattr(Client, "query", counted)
    page = visitor.get(f"/alerts/{alert_of().id}?part=whole").text

    assert len(statements) <= MOST_STATEMENTS, len(statements)
    assert "plotly" not in page
    assert page.count('class="rate-line"') >= 12


def test_the_page_asks_for_its_answers_itself(visitor: TestClient) -> None:
    """It has all else at once; the answers alone and one page with both have the same in them."""
    path = f"/alerts/{alert_of().id}"
    page = visitor.get(path).text
    (asked,) = re.findall(r'<section id="answers"[^>]* data-load="([^"]+)"', page)
    answers = visitor.get(unescape(asked)).text

    assert "Roll back to release" in words_of(page)
    assert '<article class="pair">' not in page
    assert f'href="{path}?part=whole"' in page
    assert answers.count('<article class="pair">') == 1
    assert "<h1>" not in answers
    assert words_of(answers) in read(visitor, alert_of())
    assert "data-load" not in visitor.get(f"{path}?part=whole").text
    assert visitor.get(f"{path}?part=some").status_code == 400


def test_other_alerts_have_no_answers_before_and_since(visitor: TestClient, client: Client) -> None:
    """Their page asks for none, and there is no such part."""
    record_alert_events(client, [AlertEvent(ISSUE, SINCE, AlertEventKind.FIRED)])

    assert 'id="answers"' not in visitor.get(f"/alerts/{ISSUE.id}").text
    assert visitor.get(f"/alerts/{ISSUE.id}?partial=1").status_code == 404


def test_without_releases_it_says_so(visitor: TestClient) -> None:
    """Nothing to go back to is made up."""
    page = read(visitor, Rise(SINCE, route="bare").alert())

    assert "release no answer names one" in page
    assert "Roll back" not in page


def test_an_alert_is_assigned_and_has_a_ticket(visitor: TestClient, client: Client) -> None:
    """By its buttons; both stand on the page and in what happened, and can be taken back."""
    alert = alert_of()
    path = f"/alerts/{alert.id}"

    assert post(visitor, path, do="assign", owner="  ben\n ")[0] == 303
    assert post(visitor, path, do="link", url=TICKET)[0] == 303
    page = read(visitor, alert)
    assert "owner ben" in page
    assert "owner <bdi>ben</bdi>" in visitor.get("/alerts").text
    assert f"Tickets: {TICKET}" in page
    assert "assigned to ben by local" in page
    assert f"ticket linked {TICKET} by local" in page
    assert post(visitor, path, do="link", url="javascript:alert(1)")[0] == 400
    assert post(visitor, path, do="unlink", url=TICKET)[0] == 303
    assert post(visitor, path, do="assign", owner="")[0] == 303
    assert "nobody owns it" in read(visitor, alert)
    state = alert_state(client, alert.id, now_ns=NOW)
    assert state is not None
    assert (state.owner, state.tickets) == ("", ())


def test_a_hostile_owner_is_only_text(visitor: TestClient) -> None:
    """In the field, in the line and in what happened."""
    path = f"/alerts/{alert_of().id}"
    post(visitor, path, do="assign", owner='"><script>x()</script>\u202e')

    page = visitor.get(path).text
    post(visitor, path, do="assign", owner="")
    assert "<script>x()" not in page
    assert "\u202e" not in page


def test_a_ticket_of_another_program_is_no_script(visitor: TestClient, client: Client) -> None:
    """An address that is none of the web is shown, and not linked."""
    alert = Rise(SINCE, route="bare").alert()
    body = {"url": "javascript:alert(1)"}
    record_alert_events(
        client, [AlertEvent(alert, SINCE + 2 * HOUR, AlertEventKind.LINKED, body, "ann")]
    )

    page = visitor.get(f"/alerts/{alert.id}").text
    assert "javascript:alert(1)" in page
    assert 'href="javascript' not in page
