"""Each interface opens to a token of its own purpose alone: every route, gRPC, the local API."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

import grpc
import httpx
import pytest
from starlette.routing import BaseRoute, Mount, Route
from starlette.testclient import TestClient

from rt4chart_collector.console.app.auth_middleware import AuthMiddleware
from rt4chart_collector.console.site import build_site
from rt4chart_collector.core.metrics import ServiceMetrics
from rt4chart_collector.core.settings import (
    AlertSettings,
    ConsoleSettings,
    MonitoringSettings,
    MonitorSettings,
)
from rt4chart_collector.core.token_guard import TokenGuard
from rt4chart_collector.core.tokens import Purpose, TokenSource
from rt4chart_collector.ingest.otlp.http_server import build_app
from rt4chart_collector.ingest.otlp.intake import Intake
from rt4chart_collector.service.http_routes import operations_routes
from rt4chart_collector.service.local_api import serve_local_api
from rt4chart_collector.service.monitor import StandaloneMonitor, rates_route, standalone_routes
from rt4chart_collector.service.status import Status
from rt4chart_collector.store.engine.connect import Client
from tests.conftest import fresh
from tests.rt4chart_collector.ingest.otlp.ways_in import Queue, ways_in
from tests.rt4chart_collector.service.beside import endpoint_of

HERE = "http://localhost:8321"
TOKENS = {purpose: f"{purpose}-{'x' * 24}" for purpose in Purpose}
SERVICE = {
    ("POST", "/v1/traces"): Purpose.INGEST,
    ("GET", "/metrics"): Purpose.READ,
    ("GET", "/status"): Purpose.READ,
    ("GET", "/v1/rates"): Purpose.READ,
    ("GET", "/healthz"): None,
    ("GET", "/readyz"): None,
}
# All other pages need a token for the console, and all other forms one of an administrator.
CONSOLE = {
    # It changes nothing: whoever may read may try.
    ("POST", "/try"): Purpose.CONSOLE,
    ("GET", "/metrics"): Purpose.READ,
    ("GET", "/v1/rates"): Purpose.READ,
    ("GET", "/healthz"): None,
    ("GET", "/login"): None,
    ("POST", "/login"): None,
    ("POST", "/logout"): None,
    ("GET", "/static/x"): None,
}
Door = tuple[str, str]
SETTINGS = MonitoringSettings(MonitorSettings(), AlertSettings())
SIGN_IN = ConsoleSettings(console_token=TOKENS[Purpose.CONSOLE], admin_token=TOKENS[Purpose.ADMIN])
FORM = "application/x-www-form-urlencoded"
EXPORT = "/opentelemetry.proto.collector.trace.v1.TraceService/Export"


@pytest.fixture(scope="module")
def client(store_dsn: str) -> Iterator[Client]:
    """A migrated database."""
    yield from fresh(store_dsn)


@pytest.fixture(scope="module")
def guard() -> TokenGuard:
    """A token for each purpose."""
    return TokenGuard([{purpose: TokenSource(purpose, token) for purpose, token in TOKENS.items()}])


def doors(routes: Iterable[BaseRoute], prefix: str = "") -> Iterator[Door]:
    """Method and path of each route, with something in the place of parameters."""
    for route in routes:
        if isinstance(route, Mount):
            yield from doors(route.routes, prefix + route.path)
        else:
            assert isinstance(route, Route), route
            path = re.sub(r"\{[^}]*\}", "x", prefix + route.path)
            for method in sorted((route.methods or {"GET"}) - {"HEAD"}):
                yield method, path


def opened_by(asking: TestClient, door: Door) -> set[Purpose | None]:
    """The purposes whose tokens are let in there; None stands for no token."""
    found = set[Purpose | None]()
    for purpose in (None, *Purpose):
        headers = {
            "accept": "application/json",
            "content-type": "application/x-www-form-urlencoded",
        }
        if purpose is not None:
            headers["authorization"] = f"Bearer {TOKENS[purpose]}"
        if door == ("POST", "/v1/traces"):
            headers["content-type"] = "application/x-protobuf"
        if door in (("POST", "/login"), ("POST", "/logout")):
            headers["origin"] = HERE
        answer = asking.request(*door, headers=headers, follow_redirects=False)
        # The login page answers 403 to a form without a token: anybody may send one.
        if answer.status_code not in (401, 429) and (
            answer.status_code != 403 or "origin" in headers
        ):
            found.add(purpose)
    return found


def expected_at(purpose: Purpose | None) -> set[Purpose | None]:
    """Who is let in where this token is needed; everybody where none is."""
    return {None, *Purpose} if purpose is None else {purpose}


def test_every_route_of_the_service_has_one_token(client: Client, guard: TokenGuard) -> None:
    """Spans are sent with one, figures and rates read with another; health needs none."""
    monitor = StandaloneMonitor(client.sibling, SETTINGS)
    routes = operations_routes(Status(ServiceMetrics()), guard)
    rates = rates_route(monitor.rates, guard, clock=lambda: 1)
    app = build_app(Intake(Queue().offer, guard=guard), [*routes, rates])
    asking = TestClient(app, base_url=HERE)

    found = {door: opened_by(asking, door) for door in doors(app.routes)}

    assert found == {door: expected_at(purpose) for door, purpose in SERVICE.items()}


def test_every_route_of_the_console_has_one_token(client: Client, guard: TokenGuard) -> None:
    """Pages are seen with one, and changed with another; programs read with a third."""
    monitor = StandaloneMonitor(client.sibling, SETTINGS)
    apis = standalone_routes(monitor, SETTINGS, guard)
    site = build_site(client.sibling, SIGN_IN, api_routes=apis, guard=guard)
    assert isinstance(site.app, AuthMiddleware)
    asking = TestClient(site.app, base_url=HERE, raise_server_exceptions=False)
    walked = set(doors(site.app.routes))

    found = {door: opened_by(asking, door) for door in walked}

    usual = {"GET": Purpose.CONSOLE, "POST": Purpose.ADMIN}
    assert len(walked) > 30
    assert walked >= CONSOLE.keys()
    assert found == {door: expected_at(CONSOLE.get(door, usual[door[0]])) for door in walked} | {
        door: expected_at(purpose) for door, purpose in CONSOLE.items()
    }


def test_grpc_opens_to_the_token_of_ingest_alone(guard: TokenGuard) -> None:
    """The other three are refused, and told whose token they are not."""
    queue = Queue()
    with ways_in(Intake(queue.offer, guard=guard)) as served, served.channel() as channel:
        codes = {}
        for purpose, token in TOKENS.items():
            call: grpc.UnaryUnaryMultiCallable[bytes, bytes] = channel.unary_unary(EXPORT)
            try:
                call(b"", metadata=(("authorization", f"Bearer {token}"),))
                codes[purpose] = grpc.StatusCode.OK
            except grpc.RpcError as refused:
                codes[purpose] = refused.code()

    refusals = dict.fromkeys(Purpose, grpc.StatusCode.UNAUTHENTICATED)
    assert codes == {**refusals, Purpose.INGEST: grpc.StatusCode.OK}


def test_local_api_opens_to_no_token_of_the_settings(client: Client) -> None:
    """Its secret is new at each start, in a file that its user alone can read."""
    with serve_local_api(client.target):
        url = f"http://127.0.0.1:{endpoint_of(client).port}/"
        codes = {
            httpx.post(
                url, content="SELECT 1", headers={"authorization": f"Bearer {token}"}
            ).status_code
            for token in TOKENS.values()
        }

    assert codes == {401}


def test_person_signs_in_twice_to_change_something(client: Client, guard: TokenGuard) -> None:
    """The token of the console shows pages; that of an administrator alone shows nothing."""
    site = build_site(client.sibling, SIGN_IN, guard=guard)
    asking = TestClient(
        site.app,
        base_url=HERE,
        headers={"accept": "text/html", "origin": HERE},
        follow_redirects=False,
    )

    def csrf() -> str:
        found = re.search(r'name="csrf" content="([^"]+)"', asking.get("/login").text)
        return found[1] if found else ""

    def sign_in(purpose: Purpose) -> int:
        form = {"token": TOKENS[purpose], "csrf": csrf()}
        return asking.post("/login", data=form).status_code

    def change() -> int:
        form = {"minutes": "60", "csrf": csrf()}
        return asking.post("/silences", data=form).status_code

    steps = [sign_in(Purpose.ADMIN), asking.get("/alerts").status_code, sign_in(Purpose.CONSOLE)]
    seen = asking.get("/alerts").text
    steps += [change(), sign_in(Purpose.INGEST), sign_in(Purpose.ADMIN), change()]

    assert steps == [403, 303, 303, 403, 403, 303, 303]
    assert "Start a maintenance" not in seen
    assert "sign in to make changes" in seen
    assert "Start a maintenance" in asking.get("/alerts").text
