"""The access with the clients that people use: clickhouse-connect, synchronous or not, and HTTP."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import clickhouse_connect
import httpx
import pytest
from clickhouse_connect.driver.client import Client as Driver
from clickhouse_connect.driver.exceptions import DatabaseError

from otel_rt4chart.core.settings_parsers import Address
from rt4chart_collector.store.access.address import address_in
from rt4chart_collector.store.access.serve import accessible
from rt4chart_collector.store.connect import Client, connect
from rt4chart_collector.store.migrate import migrate

TOKEN = "for-reading"  # noqa: S105 - of this test
DATABASE = "test_access"


@dataclass(frozen=True, slots=True)
class Place:
    """A running access and the client of its owner."""

    url: str
    owner: Client
    write_token: str

    def driver(self, *, token: str = TOKEN, compress: str | bool = True) -> Driver:
        """The stock client."""
        return clickhouse_connect.get_client(
            host="127.0.0.1",
            port=urlsplit(self.url).port,
            username="me",
            password=token,
            database=DATABASE,
            compress=compress,
        )

    def get(self, query: str, *, token: str = TOKEN, **more: str) -> httpx.Response:
        """One request by hand."""
        given = {"query": query, "database": DATABASE, **more}
        bearer = {"authorization": f"Bearer {token}"} if token else {}
        return httpx.get(self.url, params=given, headers=bearer)


@pytest.fixture(scope="module")
def place(store_dsn: str) -> Iterator[Place]:
    """An access to the embedded database of this process, on a free port."""
    with connect(store_dsn, database=DATABASE) as client:
        migrate(client)
        with accessible(client.target, Address("127.0.0.1", 0), token=TOKEN) as url:
            address = address_in(Path(client.target.path))
            assert address is not None
            yield Place(url, client, address.token)
        client.command(f"DROP DATABASE {DATABASE}")


@pytest.mark.parametrize("compress", ["lz4", "zstd", "gzip", False])
def test_stock_client_reads(place: Place, compress: str | bool) -> None:
    """Rows by the hundred thousand, parameters, empty results with columns, single values."""
    with place.driver(compress=compress) as driver:
        rows = driver.query(
            "SELECT number AS n, {s:String} AS s FROM numbers({n:UInt32})",
            parameters={"n": 100_000, "s": "a\t'\\ü"},
        ).result_rows

        assert (len(rows), rows[-1]) == (100_000, (99_999, "a\t'\\ü"))
        assert driver.query("SELECT IssueId, Title FROM rt4chart_issues").column_names == (
            "IssueId",
            "Title",
        )
        assert driver.query("SELECT 1 AS x", settings={"final": 1}).result_rows == [(1,)]
        assert driver.command("SELECT 5") == 5
        assert "otel_traces" in str(driver.command("SHOW TABLES"))


def test_a_client_may_give_itself_less_time(place: Place) -> None:
    """The stock client sends it along with every statement."""
    with place.driver() as driver:
        driver.set_client_setting("max_execution_time", "1")
        with pytest.raises(DatabaseError) as raised:
            driver.query("SELECT count() FROM numbers(1000000000000) WHERE rand() = number")

    assert raised.value.code == 159


def test_asynchronous_client_reads_at_once(place: Place) -> None:
    """Many queries in flight each get their own answer; the token may be a bearer's."""

    async def read() -> list[int]:
        client = await clickhouse_connect.get_async_client(
            host="127.0.0.1", port=urlsplit(place.url).port, access_token=TOKEN, database=DATABASE
        )
        asked = [client.query("SELECT {i:UInt8}", parameters={"i": i}) for i in range(20)]
        answers = await asyncio.gather(*asked)
        await client.close()
        return [answer.result_rows[0][0] for answer in answers]

    assert asyncio.run(read()) == list(range(20))


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ("SELECT nope", 47),
        ("SELECT * FROM nowhere", 60),
        ("SELECT (1", 62),
        ("DROP TABLE otel_traces", 164),
        ("SELECT file('/etc/passwd')", 497),
        ("SELECT 1 SETTINGS readonly = 0", 164),
        ("SELECT throwIf(1)", 395),
    ],
)
def test_failures_have_clickhouses_codes(place: Place, query: str, code: int) -> None:
    """The client raises its own error with the number."""
    with place.driver() as driver, pytest.raises(DatabaseError) as raised:
        driver.query(query)

    assert raised.value.code == code


@pytest.mark.parametrize("compress", ["lz4", "zstd", False])
def test_commands_insert_and_readers_do_not(place: Place, compress: str | bool) -> None:
    """Every block of an insert is stored, a token is obeyed; a reader's insert is refused."""
    rows = [[number, "x"] for number in range(20_000)]
    token = {"insert_deduplication_token": f"t-{compress}"}
    place.owner.command("TRUNCATE TABLE rt4chart_issues")
    with place.driver(token=place.write_token, compress=compress) as driver:
        for _ in range(2):
            done = driver.insert("rt4chart_issues", rows, ["IssueId", "Title"], settings=token)
            assert done.written_rows == 20_000
    with place.driver() as driver, pytest.raises(DatabaseError) as raised:
        driver.insert("rt4chart_issues", [[1, "x"]], ["IssueId", "Title"])

    assert raised.value.code == 164
    assert place.owner.query("SELECT count() FROM rt4chart_issues").result_rows == [(20_000,)]


def test_plain_http_says_what_came(place: Place) -> None:
    """Format, summary and time zone are in the headers, errors have their status."""
    answer = place.get("SELECT number FROM numbers(2)", default_format="JSONEachRow")

    assert answer.text == '{"number":0}\n{"number":1}\n'
    assert answer.headers["x-clickhouse-format"] == "JSONEachRow"
    assert '"read_rows": "2"' in answer.headers["x-clickhouse-summary"]
    assert httpx.get(f"{place.url}/ping").text == "Ok.\n"
    statuses = [
        place.get("SELECT 1", token="").status_code,
        place.get("SELECT 1", token="wrong").status_code,  # noqa: S106
        place.get("SELECT * FROM nowhere").status_code,
        place.get("SELECT").status_code,
        place.get("SELECT 1", readonly="0").status_code,
        place.get("SELECT count() FROM numbers(1e12)", max_execution_time="1").status_code,
    ]
    assert statuses == [401, 403, 404, 400, 404, 408]


def test_statement_may_come_in_the_body(place: Place) -> None:
    """As curl sends it: in the body alone, or behind what is in the URL; a password is a token."""
    auth = ("anybody", TOKEN)

    alone = httpx.post(place.url, content="SELECT 1", auth=auth)
    behind = httpx.post(place.url, params={"query": "SELECT 1 +"}, content="1", auth=auth)
    form = httpx.post(
        place.url, files={"query": (None, "SELECT {a:UInt8}"), "param_a": (None, "7")}, auth=auth
    )

    assert [alone.text, behind.text, form.text] == ["1\n", "2\n", "7\n"]


def test_slow_reader_holds_nobody_up(place: Place) -> None:
    """One that never reads its result leaves the engine to the others."""
    port = urlsplit(place.url).port or 0
    query = "SELECT repeat('x', 1000) FROM numbers(20000)".replace(" ", "+")
    head = f"GET /?query={query} HTTP/1.1\r\nHost: x\r\nX-ClickHouse-Key: {TOKEN}\r\n\r\n"
    slow = [socket.create_connection(("127.0.0.1", port)) for _ in range(6)]
    for one in slow:
        one.sendall(head.encode())
        assert one.recv(1)

    assert place.get("SELECT 1").text == "1\n"
    place.owner.command("TRUNCATE TABLE rt4chart_issues")
    for one in slow:
        one.close()


def test_port_in_use_names_the_setting(place: Place) -> None:
    """The start stops and says what to change."""
    port = urlsplit(place.url).port or 0

    with (
        pytest.raises(Exception, match=r"RT4CHART_ACCESS: cannot listen .*--access"),
        accessible(place.owner.target, Address("127.0.0.1", port)),
    ):
        pass


def test_off_is_off(place: Place) -> None:
    """Without an address nothing listens, and a server needs no access."""
    before = set(threading.enumerate())

    with accessible(place.owner.target, None) as url:
        assert url == ""
        assert set(threading.enumerate()) <= before  # an earlier test's may end meanwhile


def test_readers_may_take_each_day_alone(place: Place) -> None:
    """The setting with which rates are read from outside, too."""
    asked = place.get("SELECT 1", do_not_merge_across_partitions_select_final="1")

    assert (asked.status_code, asked.text.strip()) == (200, "1")
