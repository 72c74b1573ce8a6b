"""What somebody sees who signs in for one tenant, in a database of several."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from starlette.routing import Route
from starlette.testclient import TestClient

from rt4chart_collector.console.app.auth_middleware import AuthMiddleware
from rt4chart_collector.console.app.tenant_pages import (
    REFUSED_FOLDERS,
    REFUSED_PAGES,
    TENANT_PAGES,
)
from rt4chart_collector.console.site import build_site
from rt4chart_collector.console.view.urls import route_url
from rt4chart_collector.core.settings import ConsoleSettings
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.schema.tenant_client import (
    HIDDEN,
    OPEN,
    ROW_FILTERS,
    TenantClient,
)
from tests.conftest import fresh
from tests.rt4chart_collector.console.tenants.tenant_data import TenantData, fill_tenants
from tests.rt4chart_collector.console.web import HERE

TENANT_OF_SPAN = "ResourceAttributes['rt4chart.tenant']"
NOW = time.time_ns()
# What everything of the other tenant has in it: its name, or the begin of its own trace ids.
MARKS = ("zeta", "f0f0")
ACME, ZETA = TenantData("acme", NOW), TenantData("zeta", NOW, seed=8, own_ids=True)
ROUTE = route_url("~acme/shop", "support/refunds")
SEEDS = (
    "/",
    ROUTE,
    "/answers",
    "/alerts",
    "/alerts?state=all",
    "/answers?q=refund",
    *(f"/suggest/{key}?q=" for key in ("service", "route", "model", "release", "session")),
    *(
        f"/compare?service=~acme/shop&route=support/refunds&by={by}&part={part}"
        for by in ("model", "time")
        for part in ("", "whole")
    ),
)
MOST_PAGES = 70
ADMINS = "for-admins"


@pytest.fixture(scope="module")
def both(store_dsn: str) -> Iterator[Client]:
    """The data of both tenants."""
    for client in fresh(store_dsn):
        fill_tenants(client, ACME, ZETA)
        yield client


@pytest.fixture(scope="module")
def alone(store_dsn: str) -> Iterator[Client]:
    """The data of one tenant, as if there were no other."""
    for client in fresh(store_dsn):
        fill_tenants(client, ACME)
        yield client


def write_tokens(folder: Path) -> None:
    """The file of all tokens of the console."""
    lines = ("all", "tenant=acme for-acme", "tenant=zeta for-zeta", "tenant=new for-new")
    (folder / "tokens").write_text("\n".join(lines))


def visitor(client: Client, folder: Path, token: str) -> TestClient:
    """A script with this token, of the file of all tokens."""
    write_tokens(folder)
    settings = ConsoleSettings(console_token_file=str(folder / "tokens"))
    site = build_site(client.sibling, settings, clock=lambda: NOW)
    headers = {"accept": "text/html", "authorization": f"Bearer {token}"}
    return TestClient(site.app, base_url=HERE, headers=headers, follow_redirects=False)


def crawled(reader: TestClient) -> dict[str, tuple[int, str]]:
    """The status and the text of every page that can be reached, with the tables as JSON."""
    waiting, found = list(SEEDS), dict[str, tuple[int, str]]()
    while waiting and len(found) < MOST_PAGES:
        path = waiting.pop(0)
        if path in found:
            continue
        answer = reader.get(path)
        found[path] = (answer.status_code, answer.text)
        if "format=" not in path:
            waiting.append(f"{path}{'&' if '?' in path else '?'}format=json")
        for link in re.findall(r'href="([^"]+)"', answer.text):
            target = urlsplit(unescape(link))
            if not target.netloc and target.path and not target.path.startswith("/static"):
                waiting.append(target._replace(fragment="").geturl())
    return found


@pytest.fixture(scope="module")
def of_acme(both: Client, tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[int, str]]:
    """What a tenant finds, beside another one."""
    return crawled(visitor(both, tmp_path_factory.mktemp("tokens"), "for-acme"))


def with_marks(pages: dict[str, tuple[int, str]]) -> list[str]:
    """The pages with something of the other tenant."""
    return [
        path
        for path, (_, text) in pages.items()
        if any(mark in f"{path} {text}".lower() for mark in MARKS)
    ]


def test_no_page_of_a_tenant_has_anything_of_another(
    both: Client, of_acme: dict[str, tuple[int, str]], tmp_path: Path
) -> None:
    """Of everything that its pages lead to; the operator's pages have both tenants' names."""
    all_pages = crawled(visitor(both, tmp_path, "all"))

    assert with_marks(of_acme) == []
    assert of_acme[ROUTE][0] == 200
    shown = [path for path, (status, text) in of_acme.items() if status == 200 and "acme" in text]
    assert len(shown) > 30
    assert {status for status, _ in of_acme.values()} <= {200, 303, 400, 403, 404}
    assert len(with_marks(all_pages)) > 30


def test_pages_of_a_tenant_are_as_if_it_were_alone(
    alone: Client, of_acme: dict[str, tuple[int, str]], tmp_path: Path
) -> None:
    """To the byte: no number of another tenant is in any sum, rate, interval or order."""
    expected = crawled(visitor(alone, tmp_path, "for-acme"))

    assert list(of_acme) == list(expected)
    assert [path for path in of_acme if of_acme[path] != expected[path]] == []


def test_a_tenant_without_data_sees_nothing(both: Client, tmp_path: Path) -> None:
    """Its overview says that there are no answers, and the answers of others are not found."""
    pages = crawled(visitor(both, tmp_path, "for-new"))

    assert with_marks(pages) == []
    assert not any("working days" in text for _, text in pages.values())


@pytest.mark.parametrize("table", sorted(ROW_FILTERS))
def test_every_table_shows_a_tenant_its_rows(both: Client, table: str) -> None:
    """Those of its services and spans; of tables with rows of several tenants, none."""
    of_table, own = ROW_FILTERS[table], TenantClient(both, "acme")
    name = TENANT_OF_SPAN if table == "otel_traces" else "ServiceName"
    rows = f"SELECT DISTINCT {name} FROM {table}"  # noqa: S608 - names of our own
    count = f"SELECT count() FROM {table}"  # noqa: S608
    if of_table == HIDDEN:
        assert own.query(count).result_rows == [(0,)]
    elif of_table != OPEN:
        found = {str(one) for (one,) in own.query(rows).result_rows}
        assert found
        assert all(one == "acme" or one.startswith("~acme/") for one in found)
        assert len(both.query(rows).result_rows) > len(found)


def site_routes() -> list[Route]:
    """The pages of the console with those of other packages, and of no interface for programs."""
    app = build_site(lambda: pytest.fail("a page was read"), ConsoleSettings()).app
    assert isinstance(app, AuthMiddleware)
    free = ("/static", "/login", "/logout", "/healthz")
    found = [route for route in app.routes if isinstance(route, Route)]
    return [route for route in found if not route.path.startswith(free)]


def test_every_page_is_shown_to_tenants_or_refused() -> None:
    """A new page is refused, and fails here until somebody has decided about it."""
    paths = {route.path for route in site_routes()}
    others = {path for path in paths if not path.startswith(REFUSED_FOLDERS)}

    assert others == TENANT_PAGES | REFUSED_PAGES
    assert not TENANT_PAGES & REFUSED_PAGES
    assert not any(path.startswith(REFUSED_FOLDERS) for path in TENANT_PAGES)


def test_every_other_page_is_refused(both: Client, tmp_path: Path) -> None:
    """Whatever it shows or changes, and also what there is not, before anything is read."""
    reader = visitor(both, tmp_path, "for-acme")
    refused = [route for route in site_routes() if route.path not in TENANT_PAGES]
    paths = [(route, re.sub(r"{\w+}", "1", route.path)) for route in refused]
    answers = [
        reader.request("POST" if "POST" in (route.methods or ()) else "GET", path)
        for route, path in paths
    ]

    assert {answer.status_code for answer in answers} == {403}
    assert len(answers) > 30
    assert reader.get("/nothing").status_code == 403
    told = reader.get("/health", headers={"accept": "application/json"}).json()["error"]
    assert told.startswith("this page is not shown to who signs in for one tenant (acme)")


def signed_in(client: Client, folder: Path, token: str, admin_token: str = "") -> TestClient:
    """A person who has entered this token."""
    write_tokens(folder)
    settings = ConsoleSettings(console_token_file=str(folder / "tokens"), admin_token=admin_token)
    site = build_site(client.sibling, settings, clock=lambda: NOW)
    person = TestClient(
        site.app,
        base_url=HERE,
        headers={"accept": "text/html", "origin": HERE},
        follow_redirects=False,
    )
    assert person.post("/login", data={"token": token}).status_code == 303
    return person


def test_a_person_signs_in_for_a_tenant(both: Client, tmp_path: Path) -> None:
    """The cookie stands for the token: the pages are that tenant's, until the person signs out."""
    person = signed_in(both, tmp_path, "for-acme")
    page = person.get("/").text

    assert "Signed in for the tenant acme" in page
    assert "support/refunds" in page
    assert "zeta" not in page
    assert person.get("/settings").status_code == 403
    cookie = person.cookies["rt4chart_console"]
    csrf = re.findall(r'name="csrf" content="([^"]+)"', page)[0]
    assert person.post("/logout", data={"csrf": csrf}).status_code == 303
    person.cookies["rt4chart_console"] = cookie
    assert person.get("/").status_code == 303


def test_a_tenant_does_not_become_an_administrator(both: Client, tmp_path: Path) -> None:
    """Even with the token for that: who changes anything sees all tenants."""
    person = signed_in(both, tmp_path, "for-acme", ADMINS)
    csrf = re.findall(r'name="csrf" content="([^"]+)"', person.get("/").text)[0]
    answer = person.post("/login", data={"csrf": csrf, "token": ADMINS})

    assert answer.status_code == 403
    assert "sign out first" in answer.text
    assert person.get("/settings").status_code == 403


def test_a_session_ends_with_its_token_or_follows_it(both: Client, tmp_path: Path) -> None:
    """What the cookie shows is what the file says now of the token that signed it."""
    person = signed_in(both, tmp_path, "for-acme")
    (tmp_path / "tokens").write_text("tenant=zeta for-acme\n")
    moved = person.get("/").text
    (tmp_path / "tokens").write_text("tenant=acme another\n")

    assert "for the tenant zeta" in moved
    assert person.get("/").status_code == 303


def test_who_a_proxy_names_sees_all(both: Client, tmp_path: Path) -> None:
    """The proxy lets in whoever it names, also where all tokens are of tenants."""
    file = tmp_path / "tokens"
    file.write_text("tenant=acme for-acme\n")
    settings = ConsoleSettings(console_token_file=str(file), console_user_header="X-Email")
    site = build_site(both.sibling, settings, clock=lambda: NOW)
    reader = TestClient(
        site.app,
        base_url=HERE,
        headers={"accept": "text/html", "x-email": "ann@example.org"},
        client=("127.0.0.1", 5000),
    )

    assert "~zeta/shop" in reader.get("/").text
    assert "~zeta/shop" in reader.get("/").text  # with the cookie of the first
