"""The console's doors: hosts, tokens, proxies, forms, headers."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest
from starlette.types import Message, Scope

from otel_rt4chart.core.errors import NoStoreError, StoreDamagedError, StoreError
from rt4chart_collector.core.settings import ConsoleSettings
from rt4chart_collector.store.engine.connect import Client, connect
from rt4chart_collector.store.schema.migrate import is_schema_missing
from tests.conftest import fresh
from tests.rt4chart_collector.console.web import HERE, browser, csrf_of, post

TOKEN = ConsoleSettings(console_token="let-me-in")  # noqa: S106 - the test's
PROXY = ConsoleSettings(
    console_user_header="X-Forwarded-Email", console_hosts=frozenset({"console.example"})
)
FORM = "application/x-www-form-urlencoded"
PAGES = ("/", "/answers", "/alerts", "/health", "/settings")


@pytest.fixture(scope="module")
def client(store_dsn: str) -> Iterator[Client]:
    """One database for all: what a test writes has a name of its own."""
    yield from fresh(store_dsn)


@pytest.mark.parametrize("host", ["localhost:8321", "127.0.0.1:8321", "[::1]:8321", "LOCALHOST"])
def test_an_open_console_answers_to_names_of_this_machine(client: Client, host: str) -> None:
    """Whatever the port: it may be forwarded."""
    assert browser(client).get("/settings", headers={"host": host}).status_code == 200


@pytest.mark.parametrize(
    "host", ["evil.example", "localhost.evil.example:8321", "", "[x", "10.0.0.1"]
)
def test_an_open_console_answers_to_no_other_name(client: Client, host: str) -> None:
    """A stranger's name that leads to 127.0.0.1 does not read it through the browser."""
    for path in (*PAGES, "/static/console.css", "/login"):
        assert browser(client).get(path, headers={"host": host}).status_code == 421


def test_every_answer_has_the_headers(client: Client) -> None:
    """Pages, errors and files: no inline script, no frame, no outside host, nothing kept."""
    visitor = browser(client)
    for path in ("/settings", "/nothing", "/static/console.js", "/login", "/healthz"):
        headers = visitor.get(path).headers
        policy = headers["content-security-policy"]
        assert "default-src 'none'; script-src 'self'; style-src 'self';" in policy
        assert "frame-ancestors 'none'" in policy
        assert "unsafe" not in policy
        assert "http" not in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "same-origin"
        assert ("no-store" in headers["cache-control"]) is ("static" not in path)


def test_a_token_is_asked_for_and_kept_in_a_cookie(client: Client) -> None:
    """A page leads to the login and back; no script reads the cookie, no other site sends it."""
    visitor = browser(client, TOKEN, base_url="https://console.example")
    away = visitor.get("/alerts?since=1h")
    assert (away.status_code, away.headers["location"]) == (
        303,
        "/login?next=%2Falerts%3Fsince%3D1h",
    )

    headers = {"origin": "https://console.example"}
    form = {"token": "let-me-in", "next": "/alerts?since=1h"}
    entered = visitor.post("/login", data=form, headers=headers)

    assert (entered.status_code, entered.headers["location"]) == (303, "/alerts?since=1h")
    cookie = entered.headers["set-cookie"].lower()
    assert all(word in cookie for word in ("httponly", "samesite=strict", "secure"))
    assert visitor.get("/settings").status_code == 200
    kept = dict(visitor.cookies)
    assert post(visitor, "/logout")[0] == 303
    visitor.cookies.update(kept)
    assert visitor.get("/settings").status_code == 303


@pytest.mark.parametrize("path", PAGES)
def test_without_the_token_nothing_is_shown(client: Client, path: str) -> None:
    """A script is told 401, a browser is led to the login."""
    visitor = browser(client, TOKEN)
    assert visitor.get(path).status_code == 303
    assert visitor.get(path, headers={"accept": "application/json"}).status_code == 401
    assert visitor.get(path, headers={"authorization": "Bearer wrong"}).status_code == 401
    assert visitor.post(path, headers={"origin": HERE}).status_code in (401, 403)


def test_a_script_sends_the_token_as_a_bearer(client: Client) -> None:
    """It needs neither a cookie nor a form's token."""
    headers = {"authorization": "Bearer let-me-in", "accept": "application/json"}
    visitor = browser(client, TOKEN)

    rows = visitor.get("/alerts?format=json", headers=headers).json()
    assert rows == {"rows": [], "next": None}
    form = {"minutes": "60", "note": "by a script"}
    assert visitor.post("/silences", data=form, headers=headers).status_code == 303


def test_wrong_tokens_are_slowed_down(client: Client) -> None:
    """After twenty a minute, by form or bearer; the right one still gets in."""
    visitor = browser(client, TOKEN)
    codes = [
        visitor.post("/login", data={"token": "x"}, headers={"origin": HERE}).status_code
        for _ in range(40)
    ]

    assert codes[:20] == [403] * 20
    assert codes[-1] == 429
    bearer = {"authorization": "Bearer x", "accept": "application/json"}
    assert visitor.get("/alerts", headers=bearer).status_code == 429
    right = visitor.post("/login", data={"token": "let-me-in"}, headers={"origin": HERE})
    assert right.status_code == 303


@pytest.mark.parametrize("to", ["//evil.example", "https://evil.example", "/\\evil.example", "x"])
def test_the_login_leads_nowhere_else(client: Client, to: str) -> None:
    """What it was asked for is a path of this console or the overview."""
    form = {"token": "let-me-in", "next": to}
    answer = browser(client, TOKEN).post("/login", data=form, headers={"origin": HERE})

    assert answer.headers["location"] == "/"


def test_a_proxy_says_who_it_is(client: Client) -> None:
    """Its name for them stands on the page, and behind what they do."""
    visitor = browser(client, PROXY, base_url="https://console.example")
    visitor.headers["x-forwarded-email"] = "ann@example.org"

    assert "Signed in as ann@example.org." in visitor.get("/settings").text
    assert post(visitor, "/silences", minutes="60")[0] == 303
    assert "ann@example.org" in visitor.get("/alerts").text


def test_only_a_trusted_proxy_is_believed(client: Client) -> None:
    """The same header from elsewhere is nobody."""
    visitor = browser(client, PROXY, peer="10.9.9.9")

    answer = visitor.get("/settings", headers={"x-forwarded-email": "ann@example.org"})

    assert answer.status_code == 303
    assert browser(client, PROXY).get("/settings").status_code == 303


def test_another_person_behind_the_proxy_has_another_session(client: Client) -> None:
    """A form that one loaded is not the other's."""
    visitor = browser(client, PROXY)
    visitor.headers["x-forwarded-email"] = "ann@example.org"
    csrf = csrf_of(visitor)

    visitor.headers["x-forwarded-email"] = "bob@example.org"
    form = {"csrf": csrf, "minutes": "60"}
    assert visitor.post("/silences", data=form, headers={"origin": HERE}).status_code == 403


@pytest.mark.parametrize(
    ("fields", "headers"),
    [
        ({}, {"origin": HERE}),
        ({"csrf": "wrong"}, {"origin": HERE}),
        ({"csrf": "right"}, {"origin": "https://evil.example"}),
        ({"csrf": "right"}, {"origin": "null"}),
        ({"csrf": "right"}, {}),
    ],
)
def test_a_form_from_elsewhere_changes_nothing(
    client: Client, fields: dict[str, str], headers: dict[str, str]
) -> None:
    """It needs its session's token and an Origin of this console."""
    visitor = browser(client)
    csrf = csrf_of(visitor)
    form = {"minutes": "60", "note": "not from here", **fields}
    form |= {"csrf": csrf} if fields.get("csrf") == "right" else {}

    assert visitor.post("/silences", data=form, headers=headers).status_code == 403
    assert "not from here" not in visitor.get("/alerts").text


def test_a_form_of_this_console_does(client: Client) -> None:
    """The same with both."""
    visitor = browser(client)

    assert post(visitor, "/silences", minutes="60", note="release")[0] == 303
    assert "release" in visitor.get("/alerts").text


def test_read_only_shows_all_and_changes_nothing(client: Client) -> None:
    """Not even with the token of a form."""
    visitor = browser(client, ConsoleSettings(console_readonly=True))

    assert visitor.get("/alerts").status_code == 200
    assert "Start a maintenance" not in visitor.get("/alerts").text
    assert post(visitor, "/silences", minutes="60")[0] == 403


def test_other_methods_and_large_forms_are_refused(client: Client) -> None:
    """Before a page sees them."""
    visitor = browser(client)
    origin = {"origin": HERE}

    assert visitor.put("/settings").status_code == 405
    assert visitor.delete("/alerts/x").status_code == 405
    big = {"note": "x" * 300_000}
    assert visitor.post("/silences", data=big, headers=origin).status_code == 413


def test_a_store_that_is_away_is_a_page_that_says_so(caplog: pytest.LogCaptureFixture) -> None:
    """503, what to do, and no word of the address or the error; logged once, without it."""

    class Away:
        """A store that is not there."""

        def sibling(self) -> Client:
            """Raise what the real one raises."""
            raise StoreError("http://user@host:8123: connection refused by SECRET-HOST")

    visitor = browser(Away())  # type: ignore[arg-type]
    caplog.set_level("WARNING")
    for path in ("/", "/alerts", "/health"):
        answer = visitor.get(path)
        assert answer.status_code == 503
        assert "Database unavailable" in answer.text
        assert "SECRET-HOST" not in answer.text
    assert visitor.get("/healthz").status_code == 200
    assert len(caplog.messages) == 1
    assert "with 503: StoreError" in caplog.text
    assert "SECRET-HOST" not in caplog.text


@pytest.mark.parametrize("path", ["/", "/alerts", "/answers", "/health"])
def test_a_store_that_nobody_migrated_says_what_to_do(store_dsn: str, path: str) -> None:
    """503 with the command, be the database empty or not there at all."""
    with connect(store_dsn, database="unmigrated") as client:
        answer = browser(client).get(path)
        client.command("DROP DATABASE unmigrated")

    assert answer.status_code == 503
    assert "Database not migrated" in answer.text
    assert "rt4chart migrate" in answer.text
    assert is_schema_missing(NoStoreError("expected this database, found none"))
    assert not is_schema_missing(StoreError("connection refused"))


@pytest.mark.parametrize("settings", [TOKEN, PROXY, ConsoleSettings()])
@pytest.mark.parametrize("host", ["x/static/y?", "localhost/static/y?", "localhost/login#"])
def test_the_header_host_chooses_no_path(
    client: Client, settings: ConsoleSettings, host: str
) -> None:
    """What needs no sign-in is decided by the path that is served."""
    assert browser(client, settings).get("/alerts", headers={"host": host}).status_code in (
        303,
        421,
    )


def test_a_console_behind_a_proxy_answers_to_its_names(client: Client) -> None:
    """The proxy's header is believed of whoever comes from there, a rebound name as well."""
    visitor = browser(client, PROXY)
    visitor.headers["x-forwarded-email"] = "ann@example.org"

    assert visitor.get("/settings", headers={"host": "console.example:443"}).status_code == 200
    assert visitor.get("/settings", headers={"host": "evil.example"}).status_code == 421
    assert visitor.get("/healthz", headers={"host": "10.0.0.7:8321"}).status_code == 200


def test_a_proxy_may_pass_the_header_authorization_on(client: Client) -> None:
    """Its name for them counts; an open console does not ask what the header says."""
    given = {"authorization": "Basic YW5uOng=", "x-forwarded-email": "ann@example.org"}

    assert "ann@example.org" in browser(client, PROXY).get("/settings", headers=given).text
    del given["x-forwarded-email"]
    assert browser(client).get("/settings", headers=given).status_code == 200


@pytest.mark.parametrize(
    ("body", "kind", "status"),
    [
        (b"note=a", "text/plain", 415),
        (b"note=a", f"{FORM}; charset=punycode", 415),
        (b"--x--", "multipart/form-data; boundary=x; charset=punycode", 415),
        (b"note=%ED%A0%80", FORM, 400),
        (b"note=\xff", FORM, 400),
        (b"a=1&" * 300, FORM, 400),
        (b"note=%00%F0%9F%98%80", f"{FORM};charset=UTF-8", 403),
    ],
)
@pytest.mark.parametrize("path", ["/login", "/silences"])
def test_a_form_has_one_encoding(
    client: Client, body: bytes, kind: str, status: int, path: str
) -> None:
    """UTF-8, and no other decoder is set to work."""
    headers = {"origin": HERE, "content-type": kind}
    visitor = browser(client, TOKEN if path == "/login" else None)

    assert visitor.post(path, content=body, headers=headers).status_code == status


@pytest.mark.parametrize("path", ["/login", "/silences"])
@pytest.mark.parametrize("origin", ["http://[", "https://evil.example", ""])
def test_a_body_from_elsewhere_is_not_read(client: Client, path: str, origin: str) -> None:
    """It is refused by its headers, however large it is."""
    headers = {"origin": origin, "content-type": "multipart/form-data; charset=punycode"}

    assert browser(client).post(path, content=b"x" * 300_000, headers=headers).status_code == 403


def test_a_client_that_hangs_up_within_its_body_writes_no_line(
    client: Client, caplog: pytest.LogCaptureFixture
) -> None:
    """Else anybody who reaches the sign-in could fill the log."""
    app = browser(client, TOKEN).app
    headers = [(b"host", b"localhost:8321"), (b"origin", HERE.encode()),
               (b"content-type", b"application/x-www-form-urlencoded")]  # fmt: skip
    scope: Scope = {"type": "http", "method": "POST", "path": "/login", "headers": headers}
    scope.update(query_string=b"", scheme="http", client=("127.0.0.1", 50_000))
    parts: list[Message] = [
        {"type": "http.request", "body": b"tok", "more_body": True},
        {"type": "http.disconnect"},
    ]
    sent: list[Message] = []

    async def receive() -> Message:
        return parts.pop(0)

    async def send(message: Message) -> None:
        sent.append(message)

    async def hang_up() -> None:
        await app(scope, receive, send)

    asyncio.run(hang_up())

    assert (sent, caplog.messages) == ([], [])


def test_a_broken_page_leads_to_this_console(client: Client) -> None:
    """Also where its address began as another host's."""
    text = browser(client).get("http://localhost:8321//evil.example/x?a=1").text

    assert 'href="/evil.example/x"' in text
    assert "//evil" not in text


def test_a_page_names_the_damaged_part_it_needs(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It promises no recovery by itself: somebody has to decide what to do."""

    def read(*_: object, **__: object) -> None:
        raise StoreDamagedError("chdb:///db", "rt4chart_claims", "all_1_1_0", "CORRUPTED_DATA")

    monkeypatch.setattr(Client, "query", read)
    told = browser(client).get("/answers")

    assert told.status_code == 503
    assert "Database damaged" in told.text
    assert "part all_1_1_0 of table rt4chart_claims is damaged (CORRUPTED_DATA)" in told.text
    assert "rt4chart repair --detach" in told.text
    assert "as soon as it is back" not in told.text


@pytest.mark.parametrize(
    "users", [["ann@example.org", "eve@example.org"], ["ann@example.org"] * 2, ["a" * 201]]
)
def test_a_user_header_that_comes_twice_or_is_too_long_is_refused(
    client: Client, users: list[str]
) -> None:
    """The proxy has let through what a client sent: whose is it?"""
    headers = [("host", "console.example"), *(("X-Forwarded-Email", user) for user in users)]
    told = browser(client, PROXY).get("/settings", headers=headers)

    assert told.status_code == 400
    assert "expected one header X-Forwarded-Email" in told.text
    assert "eve@" not in told.text
