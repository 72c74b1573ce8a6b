from __future__ import annotations

import asyncio
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from urllib.parse import urlencode

import pytest
from starlette.testclient import TestClient
from starlette.types import Message, Scope

from rt4chart_collector.console.answers import answers_page
from rt4chart_collector.console.app.process_info import ProcessInfo
from rt4chart_collector.console.site import build_site
from rt4chart_collector.console.tries.trials import (
    ANSWER_CHARS,
    MAX_PASSAGES,
    PASSAGES_CHARS,
    QUESTION_CHARS,
    Trials,
)
from rt4chart_collector.console.tries.try_page import EXAMPLE, try_section
from rt4chart_collector.core.settings import ConsoleSettings
from rt4chart_collector.store.engine.connect import Client
from tests.rt4chart_collector.console.web import HERE, csrf_of

GIVEN = {
    "question": "How long?",
    "answer": "The trial lasts 30 days.",
    "passages": "The trial lasts 14 days.",
    "judge": "rules",
}
HOSTILE = "<script>window.hacked=1</script>\"'><img src=x onerror=alert(1)> \u202edrow\x1b[31m"
TABLES = ("rt4chart_verifications", "rt4chart_claims", "otel_traces")


@contextmanager
def visitor(
    client: Client, trials: Trials | None = None, judge: str = "", **settings: object
) -> Iterator[TestClient]:
    """A browser before a console with this page, and the answers' for its templates."""
    site = build_site(
        client.sibling,
        replace(ConsoleSettings(), **settings),  # type: ignore[arg-type]
        ProcessInfo(judge=judge),
        sections=[answers_page.SECTION, try_section(trials)],
    )
    headers = {"accept": "text/html", "origin": HERE}
    browser = TestClient(site.app, base_url=HERE, headers=headers, follow_redirects=False)
    yield browser
    browser.close()
    site.console.close()


def sent(browser: TestClient, **fields: str) -> tuple[int, str]:
    """Send the form; the status and the page."""
    answer = browser.post("/try", data={"csrf": csrf_of(browser, "/try"), **GIVEN, **fields})
    return answer.status_code, answer.text


def text_of(html: str) -> str:
    """The page's text without its elements."""
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", "", html))


def test_a_pasted_answer_gets_its_verdict(client: Client) -> None:
    """The words are underlined in the answer and marked in the passage, with what to do."""
    with visitor(client) as browser:
        status, page = sent(browser)

    assert status == 200
    answer = page.partition('id="answer" dir="auto">')[2].partition("</div>")[0]
    assert re.findall(r'mark-(\w+) [^>]*data-claims="0"><a [^>]*>([^<]*)<', answer) == [
        ("contradicted", "30 days")
    ]
    assert '<mark class="named">14 days</mark>' in page
    told = text_of(page)
    assert "1 of 1 decided claim is not supported" in told
    assert "claimed 30 days, found 14 days" in told
    assert "Revise: 1 claim: contradicted" in told
    assert "Is this verdict right?" not in told


def test_the_example_shows_a_contradiction_and_what_was_left_out(client: Client) -> None:
    """Its passages are two; the words that the answer leaves out are marked in theirs."""
    with visitor(client) as browser:
        form = browser.get("/try?example=yes").text
        _, page = sent(browser, **EXAMPLE, judge="local")

    assert EXAMPLE["answer"] in form
    assert "restriction left out" in text_of(page)
    assert '<mark class="named">if the request was approved</mark>' in page
    assert len(re.findall(r'id="passage-\d"', page)) == 2


def test_nothing_is_stored(client: Client) -> None:
    """No span, no verdict, no claim."""
    with visitor(client) as browser:
        status, _ = sent(browser)

    assert status == 200
    for table in TABLES:
        assert client.query(f"SELECT count() FROM {table}").result_rows == [(0,)]  # noqa: S608 - our own names


def test_texts_are_only_text(client: Client) -> None:
    """In the result, in the form, and in an error."""
    with visitor(client) as browser:
        _, page = sent(browser, question=HOSTILE, answer=HOSTILE, passages=f"{HOSTILE}\n---\n14")
        _, wrong = sent(browser, question=HOSTILE, answer=HOSTILE, judge=HOSTILE)

    for html in (page, wrong):
        assert "<script>window" not in html
        assert "<img" not in html
        assert "&lt;script&gt;window" in html
    assert "\x1b" not in page.partition("<form")[0]


@pytest.mark.parametrize(
    ("field", "value", "status", "told"),
    [
        ("answer", " \n", 400, "The answer is empty: paste"),
        ("passages", "\n---\n\n", 400, "There is no passage: paste"),
        ("judge", "onnx:/etc/passwd", 400, "is none of local, rules: choose one"),
        ("judge", "openai", 400, "is none of local, rules: choose one"),
        ("answer", "x" * (ANSWER_CHARS + 1), 413, "The answer has 8,001 characters"),
        ("question", "x" * (QUESTION_CHARS + 1), 413, "The question has 2,001 characters"),
        ("passages", "x" * (PASSAGES_CHARS + 1), 413, "The passages have 30,001 characters"),
        ("passages", "x\n---\n" * (MAX_PASSAGES + 1), 400, "There are 51 passages"),
    ],
)
def test_what_cannot_be_checked_is_said_above_the_form(
    client: Client, field: str, value: str, status: int, told: str
) -> None:
    """In one line with what to do, and the form keeps what was pasted."""
    with visitor(client) as browser:
        found, page = sent(browser, **{field: value})

    assert found == status
    notice = page.partition('role="alert">')[2].partition("</p>")[0]
    assert told in notice
    assert "\n" not in notice
    if field != "passages":
        assert GIVEN["passages"] in page


def test_one_answer_is_checked_at_a_time(client: Client) -> None:
    """A second one is refused at once, with what to do; after the first, the place is free."""
    statuses: list[int] = []
    with visitor(client) as browser:
        csrf = csrf_of(browser, "/try")

        def check() -> None:
            answer = browser.post("/try", data={"csrf": csrf, **GIVEN})
            statuses.append(answer.status_code)

        threads = [threading.Thread(target=check) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        again, _ = sent(browser)

    assert sorted(statuses) == [200, 503, 503, 503]
    assert again == 200


def test_a_check_that_takes_too_long_is_stopped(client: Client) -> None:
    """Its process ends; the page says what to do, and the place is free again."""
    trials = Trials(seconds=0)
    with visitor(client, trials) as browser:
        first, page = sent(browser)
        second, _ = sent(browser)

    assert (first, second) == (503, 503)
    assert "took longer than 0 seconds and was stopped" in page
    assert "Another answer" not in page


def test_a_client_that_hangs_up_leaves_its_place_to_others(
    client: Client, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Its check is cancelled, which ends the process, and no line is written."""
    ended = []

    async def run(*_: object) -> None:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            ended.append("cancelled")
            raise

    monkeypatch.setattr(Trials, "run", run)
    with visitor(client) as browser:
        body = urlencode({"csrf": csrf_of(browser, "/try"), **GIVEN}).encode()
        cookies = "; ".join(f"{name}={value}" for name, value in browser.cookies.items())
        headers = {"host": "localhost:8321", "origin": HERE, "cookie": cookies,
                   "content-type": "application/x-www-form-urlencoded"}  # fmt: skip
        scope: Scope = {"type": "http", "method": "POST", "path": "/try", "scheme": "http"}
        scope.update(query_string=b"", client=("127.0.0.1", 50_000))
        scope["headers"] = [(name.encode(), value.encode()) for name, value in headers.items()]
        parts: list[Message] = [{"type": "http.request", "body": body}, {"type": "http.disconnect"}]

        async def receive() -> Message:
            return parts.pop(0)

        async def send(_: Message) -> None:
            """Drop it, as a server does for a closed connection."""

        async def ask() -> None:
            async with asyncio.timeout(30):
                await browser.app(scope, receive, send)

        asyncio.run(ask())

    assert (ended, caplog.messages) == (["cancelled"], [])


def test_whoever_may_read_may_try(client: Client) -> None:
    """On a read-only console, and beside a token for changes: with a session, or as a script."""
    with visitor(client, console_readonly=True) as browser:
        status, page = sent(browser)
    assert (status, "found" in page) == (200, True)

    reader, admin = "reader-" * 4, "admin-" * 5
    with visitor(client, console_token=reader, admin_token=admin) as browser:
        headers = {"authorization": f"Bearer {reader}"}
        script = browser.post("/try", data=GIVEN, headers=headers)
        stranger = browser.post("/try", data=GIVEN)

    assert (script.status_code, stranger.status_code) == (200, 401)


def test_the_page_can_be_switched_off(client: Client) -> None:
    """It is no page, and the navigation has no entry."""
    with visitor(client, console_try=False) as browser:
        page, answers = browser.get("/try"), browser.get("/answers")

    assert page.status_code == 404
    assert 'href="/try"' not in answers.text


def test_a_form_of_another_site_is_refused(client: Client) -> None:
    """Without the form's own token, and from another origin."""
    with visitor(client) as browser:
        csrf = csrf_of(browser, "/try")
        bare = browser.post("/try", data=GIVEN)
        foreign = browser.post(
            "/try", data={"csrf": csrf, **GIVEN}, headers={"origin": "https://elsewhere.example"}
        )

    assert (bare.status_code, foreign.status_code) == (403, 403)


def test_the_judges_that_can_run_are_offered(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The one in use first; those behind an endpoint where one is set."""
    with visitor(client, judge="rules") as browser:
        plain = browser.get("/try").text
        monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9")
        monkeypatch.setenv("OPENAI_API_KEY", "none")
        remote = browser.get("/try").text

    def offered(html: str) -> list[str]:
        return re.findall(r"<option[^>]*>([^<]*)", html)

    assert offered(plain) == ["rules", "local"]
    assert offered(remote) == ["rules", "local", "openai", "single", "cascade"]


def test_a_judge_that_fails_is_said(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """An endpoint that nobody serves leaves the claims undecided, with the reason."""
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("RT4CHART_JUDGE_RETRIES", "0")
    with visitor(client) as browser:
        status, page = sent(browser, judge="openai")

    assert status == 200
    assert "undecided" in text_of(page)
