"""Settings and statements from outside write no file, read none, and open no connection."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from pathlib import Path

import httpx
import pytest
from starlette.testclient import TestClient

from otel_rt4chart.core.errors import RT4ChartError
from rt4chart_collector.console.site import build_site
from rt4chart_collector.core.settings import ConsoleSettings
from rt4chart_collector.service.local_api import FORM, TRANSPORT, serve_local_api
from rt4chart_collector.store.engine.connect import Client, connect
from rt4chart_collector.store.engine.raw_statements import SETTINGS
from rt4chart_collector.store.engine.read_only import check_read_only, make_read_only
from rt4chart_collector.store.schema.migrate import migrate
from tests.attacks.scale import scaled
from tests.rt4chart_collector.service.beside import beside, endpoint_of

DATABASE = "test_settings_fuzz"
PAGES = ("/", "/answers", "/alerts", "/health", "/routes/s/r")
HERE = "http://localhost:8321"
# Of each kind that the engine has, some that write, read, send or lift a limit.
NAMES = "SELECT name FROM system.settings ORDER BY cityHash64(name)"
WRITING = (
    "output_format_schema",
    "format_schema",
    "format_schema_path",
    "log_queries",
    "allow_ddl",
)
CLAUSES = (
    "",
    " SETTINGS output_format_schema='{bad}'",
    " SETTINGS readonly=0, output_format_schema='{bad}'",
    " INTO OUTFILE '{bad}'",
    " INTO OUTFILE '{bad}' TRUNCATE FORMAT Protobuf",
    " FORMAT Protobuf SETTINGS output_format_schema='{bad}'",
    "; SELECT 1 INTO OUTFILE '{bad}'",
    " UNION ALL SELECT 1 INTO OUTFILE '{bad}'",
)
QUERIES = (
    "SELECT 1 AS a",
    "SELECT 1 AS `x\nimport os`",
    "(SELECT 1 AS a)",
    "SELECT * FROM (SELECT 1 AS a SETTINGS readonly=0, output_format_schema='{bad}')",
    "WITH a AS (SELECT 1) SELECT * FROM a",
    "SHOW TABLES",
    "EXPLAIN SELECT 1",
    "SELECT file('{secret}')",
    "SELECT * FROM file('{secret}', 'LineAsString', 'a String')",
    "SELECT * FROM fileCluster('x', '{secret}', 'LineAsString', 'a String')",
    "SELECT * FROM url('{url}', 'LineAsString', 'a String')",
    "SELECT * FROM s3('{url}/bucket/key', NOSIGN, 'LineAsString', 'a String')",
    "SELECT * FROM remote('{host}', 'system', 'one')",
    "SELECT * FROM `{secret}`",
    "SELECT * FROM Python(secret)",
)


@pytest.fixture(scope="module")
def owner(store_dsn: str) -> Iterator[Client]:
    """The embedded database of this process."""
    with connect(store_dsn, database=DATABASE) as client:
        migrate(client)
        yield client
        client.command(f"DROP DATABASE {DATABASE}")


@pytest.fixture
def bait(tmp_path: Path) -> dict[str, str]:
    """A file that nobody may write, one that nobody may read, and nobody's address."""
    secret = tmp_path / "secret.txt"
    secret.write_text("t0p-secret")
    places = {"bad": str(tmp_path / "bad"), "secret": str(secret)}
    return {**places, "url": "http://127.0.0.1:9", "host": "127.0.0.1:9"}


def files(bait: dict[str, str]) -> list[str]:
    """What lies beside the bait."""
    return [path.name for path in Path(bait["secret"]).parent.iterdir()]


@pytest.mark.parametrize("kind", ["embedded", "beside a service"])
def test_statements_that_people_type_stay_inside(
    owner: Client, bait: dict[str, str], kind: str
) -> None:
    """Each query with each clause: it is refused, or reads the database alone."""
    with owner.sibling() if kind == "embedded" else beside(owner) as client:
        make_read_only(client)
        results = []
        for query, clause in product(QUERIES, CLAUSES):
            try:
                checked = check_read_only(client, (query + clause).format(**bait))
                results.append(str(client.query(checked).result_rows))
            except RT4ChartError:
                continue

    assert len(results) >= 7
    assert not [result for result in results if "t0p-secret" in result]
    assert files(bait) == ["secret.txt"]


def test_local_api_takes_settings_by_name_alone(owner: Client, bait: dict[str, str]) -> None:
    """By URL and by form; with a format that would write the file, nothing is written."""
    known = [str(name) for (name,) in owner.query(NAMES).result_rows]
    # The API drops the parameters of the transport and passes none of them on.
    others = [name for name in known if name not in {*SETTINGS, *TRANSPORT}]
    tried = [*WRITING, *others[: scaled(60, len(others))]]
    text = "SELECT 1 AS a FORMAT Protobuf"
    with serve_local_api(owner.target), httpx.Client() as web:
        endpoint = endpoint_of(owner)
        url = f"http://127.0.0.1:{endpoint.port}/"
        web.headers["authorization"] = f"Bearer {endpoint.token}"
        web.headers["content-type"] = FORM
        answers = {}
        for name in tried:
            by_url = web.post(url, params={name: bait["bad"], "query": text})
            by_form = web.post(url, data={name: bait["bad"], "query": text})
            answers[name] = (by_url.text, by_form.text)
        fine = web.post(url, params={"query": "SELECT 1", "max_result_bytes": "1000"}).text

    refused = "expected settings that rt4chart sets itself"
    assert {
        name for name, texts in answers.items() if not all(refused in t for t in texts)
    } == set()
    assert fine == "1\n"
    assert files(bait) == ["secret.txt"]


def test_pages_pass_no_setting_on(owner: Client, bait: dict[str, str]) -> None:
    """Parameters of any name and text are values or nothing: no page fails, no file is written."""
    site = build_site(owner.sibling, ConsoleSettings())
    asking = TestClient(site.app, base_url=HERE, raise_server_exceptions=False)
    values = (bait["bad"], "' FORMAT Protobuf SETTINGS output_format_schema='" + bait["bad"])
    given = (
        "since",
        "q",
        "route",
        "service",
        "verifier",
        "format",
        "table",
        "output_format_schema",
    )
    codes = {
        (path, name): asking.get(path, params={name: value, "query": "SELECT 1"}).status_code
        for path in scaled(
            ("/", "/answers"), ("/", "/answers", "/alerts", "/health", "/routes/s/r")
        )
        for name in given
        for value in values
    }

    assert {code for code in codes.values() if code >= 500} == set()
    assert files(bait) == ["secret.txt"]
