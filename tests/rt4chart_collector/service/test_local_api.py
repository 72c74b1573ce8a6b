"""The local API: what a guest's client does through it, and what it refuses."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import httpx
import pytest

from otel_rt4chart.core.errors import StoreError
from rt4chart_collector.service.local_api import LocalApiLimits, serve_local_api
from rt4chart_collector.store.answers.spans import insert_spans
from rt4chart_collector.store.answers.trace_sizes import (
    FEW_SPANS,
    LITTLE_MEMORY,
    SMALL_BLOCKS,
    trace_sizes,
)
from rt4chart_collector.store.answers.verifications import FINAL_PER_PARTITION
from rt4chart_collector.store.engine.connect import Client, connect
from rt4chart_collector.store.engine.dsn import parse_dsn
from rt4chart_collector.store.engine.embedded_folder import LocalEndpoint
from rt4chart_collector.store.engine.raw_statements import SETTINGS
from rt4chart_collector.store.schema.migrate import migrate
from rt4chart_collector.store.schema.tenant_client import TenantClient
from tests.polling import wait_until
from tests.rt4chart_collector.records import SPAN
from tests.rt4chart_collector.service.beside import beside, endpoint_of, guest

DATABASE = "test_local_api"
SLOW = "SELECT count() FROM numbers(1000000000000) WHERE rand() = number"
RUNNING = (
    "SELECT count() FROM system.processes WHERE query LIKE 'SELECT count() FROM numbers(1000%'"
)
PATIENCE_S = 30


@dataclass(frozen=True, slots=True)
class Place:
    """A running local API, the client of its owner, and a guest's."""

    owner: Client
    guest: Client
    endpoint: LocalEndpoint

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self.endpoint.port}/"

    def post(self, body: str, *, token: str | None = None, **headers: str) -> httpx.Response:
        """One request by hand."""
        bearer = f"Bearer {self.endpoint.token}" if token is None else token
        given = {"Authorization": bearer, **headers}
        return httpx.post(self.url, content=body, headers=httpx.Headers(given, encoding="latin-1"))

    def send(self, head: str) -> socket.socket:
        """A request as it is written, which need not be whole."""
        sent = socket.create_connection(("127.0.0.1", self.endpoint.port), timeout=PATIENCE_S)
        sent.sendall(head.encode())
        return sent


@pytest.fixture(scope="module")
def owner(store_dsn: str) -> Iterator[Client]:
    """The embedded database of this process."""
    with connect(store_dsn, database=DATABASE) as client:
        migrate(client)
        yield client
        client.command(f"DROP DATABASE {DATABASE}")


@pytest.fixture(scope="module")
def place(owner: Client) -> Iterator[Place]:
    """Its local API with the limits of the service."""
    with beside(owner) as client:
        yield Place(owner, client, endpoint_of(owner))


def until_running(owner: Client, count: int = 1) -> None:
    """Wait until so many slow statements run."""
    wait_until(lambda: owner.query(RUNNING).result_rows == [(count,)])


def test_guest_reads_what_the_owner_reads(place: Place) -> None:
    """Rows by the hundred thousand, parameters of any size and text, empty results, one value."""
    query = "SELECT number AS n, {s:String} AS s FROM numbers({n:UInt32})"
    keys = [f"{number:032x}" for number in range(20_000)]

    rows = place.guest.query(query, {"n": 100_000, "s": "a\t'\\ü\n"}).result_rows
    many = place.guest.query("SELECT length({keys:Array(String)})", {"keys": keys}).result_rows

    assert (len(rows), rows[-1]) == (100_000, (99_999, "a\t'\\ü\n"))
    assert many == [(20_000,)]
    assert place.guest.query("SELECT Title FROM rt4chart_issues WHERE 0").result_rows == []
    assert place.guest.command("SELECT 5") == 5
    assert "otel_traces" in str(place.guest.command("SHOW TABLES"))


def test_settings_end_with_the_statement(place: Place) -> None:
    """Those of one statement are in force for it alone, and the owner never sees them."""
    query = "SELECT getSetting('extremes')"

    assert place.guest.query(query, settings={"extremes": "1"}).result_rows == [(True,)]
    assert place.guest.query(query).result_rows == [(False,)]
    assert place.owner.query(query).result_rows == [(False,)]


def test_guest_inserts_once(place: Place) -> None:
    """Every block of an insert is stored; a repeated token stores nothing again."""
    rows = [[number, "x"] for number in range(20_000)]
    token = {"insert_deduplication_token": "t-1"}
    place.owner.command("TRUNCATE TABLE rt4chart_issues")

    for _ in range(2):
        done = place.guest.insert("rt4chart_issues", rows, ["IssueId", "Title"], settings=token)
        assert done == 20_000

    count = place.owner.query("SELECT count() FROM rt4chart_issues").result_rows
    place.owner.command("TRUNCATE TABLE rt4chart_issues")
    assert count == [(20_000,)]


@pytest.mark.parametrize(
    ("query", "code"),
    [("SELECT nope", 47), ("SELECT * FROM nowhere", 60), ("SELECT (1", 62)],
)
def test_failures_have_clickhouses_codes(place: Place, query: str, code: int) -> None:
    """The message names the database and keeps the engine's words."""
    with pytest.raises(StoreError, match=rf"chdb:///.*Code: {code}\. DB::Exception"):
        place.guest.query(query)


@pytest.mark.parametrize(
    ("setting", "most"), [("max_execution_time", 60), ("max_result_bytes", 256 * 2**20)]
)
def test_statement_has_a_limit(place: Place, setting: str, most: int) -> None:
    """A guest may ask for less, never for more."""
    given = {
        asked: place.guest.query(
            f"SELECT getSetting('{setting}')", settings={setting: asked}
        ).result_rows
        for asked in ("7", "1000000000", "0", "")
    }

    assert given == {"7": [(7,)], "1000000000": [(most,)], "0": [(most,)], "": [(most,)]}


def test_statement_over_its_limit_is_ended(place: Place) -> None:
    """By its time, and by the size of its result before it fills the service's memory."""
    with pytest.raises(StoreError, match=r"Code: 159\."):
        place.guest.query(SLOW, settings={"max_execution_time": "1"})
    with pytest.raises(StoreError, match=r"Code: 396\."):
        place.guest.query(
            "SELECT toString(number) FROM numbers(10000)", settings={"max_result_bytes": "1000"}
        )


@pytest.mark.parametrize("token", ["", "Bearer", "Bearer wrong", "Basic cnQ6", "Bearer \xff"])
def test_wrong_token_is_refused(place: Place, token: str) -> None:
    """Whatever is asked; the answer does not say what would be right."""
    answer = place.post("SELECT 1", token=token)

    assert (answer.status_code, answer.text) == (
        401,
        "expected the token that this service has published\n",
    )


def test_token_is_looked_at_before_the_body_is_read(place: Place) -> None:
    """A stranger is answered though nothing of the body has come."""
    head = "POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 1000000\r\n\r\n"
    with place.send(head) as sent:
        assert sent.recv(100).startswith(b"HTTP/1.1 401 ")


@pytest.mark.parametrize("host", ["localhost", "evil.example", "evil.example:80", "127.0.0.2", ""])
def test_other_host_is_refused(place: Place, host: str) -> None:
    """A web page that reaches the port by a name of its own gets nothing, with the token either."""
    answer = place.post("SELECT 1", Host=host)

    assert answer.status_code == 403


def test_only_statements_are_taken(place: Place) -> None:
    """Another method and another path are not found."""
    bearer = {"Authorization": f"Bearer {place.endpoint.token}"}

    assert httpx.get(place.url, params={"query": "SELECT 1"}, headers=bearer).status_code == 404
    assert httpx.post(f"{place.url}ping", headers=bearer).status_code == 404
    assert place.post("SELECT 1").text == "1\n"


def test_statement_that_is_no_text_is_refused(place: Place) -> None:
    """As is a setting whose name is none."""
    bearer = {"Authorization": f"Bearer {place.endpoint.token}"}
    bytes_only = httpx.post(place.url, content=b"SELECT '\xff'", headers=bearer)
    named = httpx.post(place.url, params={"a=1,b": "2"}, content="SELECT 1", headers=bearer)

    assert (bytes_only.status_code, named.status_code) == (400, 500)
    assert named.text.startswith("expected settings that rt4chart sets itself, got 'a=1,b'; set")


def test_body_over_its_bound_is_refused(owner: Client) -> None:
    """Of a statement and of an insert's rows."""
    with beside(owner, LocalApiLimits(statement_bytes=5000, rows_bytes=9000)) as client:
        with pytest.raises(StoreError, match="expected a body of at most 5000 bytes"):
            client.query(f"SELECT '{'x' * 5000}'")
        with pytest.raises(StoreError, match="expected a body of at most 9000 bytes"):
            client.insert("rt4chart_issues", [[1, "x" * 9000]], ["IssueId", "Title"])

        assert client.query("SELECT count() FROM rt4chart_issues").result_rows == [(0,)]


def test_slow_clients_hold_nobody_up(place: Place) -> None:
    """Some do not read their result, some do not send their body; the others are answered."""
    token = f"Authorization: Bearer {place.endpoint.token}"
    query = "SELECT repeat('x', 1000) FROM numbers(20000)"
    head = f"POST / HTTP/1.1\r\nHost: 127.0.0.1\r\n{token}\r\nContent-Length: "
    readers = [place.send(f"{head}{len(query)}\r\n\r\n{query}") for _ in range(6)]
    senders = [place.send(f"{head}1000\r\n\r\nSELECT") for _ in range(6)]
    for one in readers:
        assert one.recv(1) == b"H"

    assert place.post("SELECT 1").text == "1\n"
    for one in [*readers, *senders]:
        one.close()


def test_slow_reader_is_cut_off(owner: Client) -> None:
    """One that takes too long loses its connection, and makes room for another."""
    with serve_local_api(owner.target, LocalApiLimits(requests=1, reading_s=0.1)):
        place = Place(owner, owner, endpoint_of(owner))
        query = "SELECT repeat('x', 1000) FROM numbers(100000)"
        token = f"Authorization: Bearer {place.endpoint.token}"
        head = f"POST / HTTP/1.1\r\nHost: 127.0.0.1\r\n{token}\r\nContent-Length: {len(query)}"
        slow = place.send(f"{head}\r\n\r\n{query}")
        assert slow.recv(1) == b"H"
        wait_until(lambda: place.post("SELECT 1").status_code != 503)
        slow.close()


def test_too_many_requests_are_told_to_wait(owner: Client) -> None:
    """With 503, after which clickhouse_connect tries a read again."""
    with ThreadPoolExecutor() as pool:
        with serve_local_api(owner.target, LocalApiLimits(running=1, requests=1)):
            endpoint = endpoint_of(owner)
            slow = pool.submit(_cancelled, guest(owner, endpoint))
            until_running(owner)
            busy = Place(owner, owner, endpoint).post("SELECT 1")
        ended = slow.result(PATIENCE_S)

    assert (busy.status_code, busy.text) == (503, "expected at most 1 requests at once\n")
    assert ended


def test_service_that_stops_ends_what_runs(owner: Client) -> None:
    """The client gets an error, the engine is free, and new requests find nobody."""
    with ThreadPoolExecutor() as pool:
        with serve_local_api(owner.target):
            client = guest(owner, endpoint_of(owner))
            slow = pool.submit(_cancelled, client)
            until_running(owner)
        assert slow.result(PATIENCE_S)

    until_running(owner, 0)
    with pytest.raises(StoreError):
        client.query("SELECT 1")


def test_server_needs_no_local_api() -> None:
    """Others reach a ClickHouse server themselves."""
    with serve_local_api(parse_dsn("http://localhost:8123")) as nothing:
        assert nothing is None


def _cancelled(client: Client) -> bool:
    """True where a statement without end was ended by an error."""
    with client:
        try:
            client.query(SLOW)
        except StoreError:
            return True
    return False


def test_a_tenant_reads_its_rows_through_it(place: Place) -> None:
    """The console of another process has the same filters, also where it is a guest."""
    now = int(time.time())
    place.owner.insert(
        "rt4chart_route_5m",
        [["~acme/shop", now, 3], ["~zeta/shop", now, 5], ["shop", now, 7]],
        ["ServiceName", "Tick", "Answers"],
    )
    query = "SELECT ServiceName, sum(Answers) FROM rt4chart_route_5m GROUP BY 1"

    assert len(place.guest.query(query).result_rows) == 3
    assert TenantClient(place.guest, "acme").query(query).result_rows == [("~acme/shop", 3)]
    with pytest.raises(StoreError, match="Cannot modify"):
        TenantClient(place.guest, "acme").query(f"{query} SETTINGS additional_table_filters = {{}}")


def test_settings_of_our_own_statements_are_admitted() -> None:
    """Else every command fails beside a running service, and beside none it works."""
    assert {*FINAL_PER_PARTITION, *FEW_SPANS, *LITTLE_MEMORY, *SMALL_BLOCKS} <= SETTINGS


def test_a_guest_counts_the_bytes_of_a_trace_also_where_memory_is_short(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The engine's error has the same name through the local API."""
    insert_spans(place.owner, [SPAN])
    sizes = trace_sizes(place.owner, [SPAN.trace_id])
    assert sizes[SPAN.trace_id] > 0

    monkeypatch.setitem(LITTLE_MEMORY, "max_memory_usage", 1)

    assert trace_sizes(place.guest, [SPAN.trace_id]) == sizes
