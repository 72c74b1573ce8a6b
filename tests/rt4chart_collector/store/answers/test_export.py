"""The export: the rows in force in files that the engine reads back, whole or not there."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
import urllib3

from otel_rt4chart.core.errors import InputError, StoreError
from otel_rt4chart.spans.model.blame import ClaimBlame
from otel_rt4chart.verify.core.model import Label
from otel_rt4chart.verify.criteria.model import CriterionOutcome, CriterionVerdict
from rt4chart_collector.service.local_api import serve_local_api
from rt4chart_collector.store.answers.export import FORMATS, SOURCES, ExportRequest, export_table
from rt4chart_collector.store.answers.spans import insert_spans
from rt4chart_collector.store.answers.verdicts import insert_verdicts
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.embedded_folder import LocalEndpoint
from rt4chart_collector.store.engine.scope import QueryScope
from rt4chart_collector.store.issues.issues import Issue, insert_issues
from rt4chart_collector.store.labels.corrected_rates import corrected_rates
from rt4chart_collector.store.labels.draws import DrawRequest, draw_claims
from rt4chart_collector.store.labels.rate_history import write_corrected_rates
from tests.rt4chart_collector.records import NOON, SECOND, VERIFIER, trace_spans, verdict
from tests.rt4chart_collector.service.beside import beside as beside_of
from tests.rt4chart_collector.service.beside import endpoint_of, guest

HOUR = 3600 * SECOND
ISSUE = Issue(7, "late", "a:b", "shop", "support", NOON, NOON, 3, (0.5,), "run")


@pytest.fixture
def filled(client: Client) -> Client:
    """Two days of verdicts, one of them given twice, another taken back; spans that came twice."""
    numbers = range(1, 41)
    insert_verdicts(client, [verdict(n, start_ns=NOON + n * HOUR) for n in numbers])
    insert_verdicts(
        client,
        [verdict(1, [Label.ENTAILED], start_ns=NOON + HOUR, decided_ns=NOON + 60 * SECOND)],
    )
    unlocated = (ClaimBlame(1, problem="no prompt"),)
    cites = (CriterionVerdict("cites", "v1", "must_cite", CriterionOutcome.FAIL),)
    other = replace(verdict(99, route="pay"), trail=unlocated, criteria=cites)
    insert_verdicts(client, [other])
    for half in (slice(0, 2), slice(1, 3)):
        insert_spans(client, trace_spans(1)[half])
    insert_issues(client, [ISSUE], version=1)
    insert_issues(client, [replace(ISSUE, title="later")], version=2)
    scope = QueryScope(NOON, NOON + 60 * HOUR, VERIFIER)
    draw_claims(client, DrawRequest(scope, 10, "ann"), now_ns=NOON + 60 * HOUR)
    for until_ns in (NOON + 60 * HOUR, NOON + 61 * HOUR):
        scope = replace(scope, until_ns=until_ns)
        write_corrected_rates(client, corrected_rates(client, scope), scope)
    return client


@pytest.fixture
def beside(filled: Client) -> Iterator[Client]:
    """The same database through a service's local API."""
    with beside_of(filled) as client:
        yield client


@contextmanager
def cut(endpoint: LocalEndpoint) -> Iterator[LocalEndpoint]:
    """A way to the service that breaks off within a file."""
    pool = urllib3.PoolManager()

    class Cutting(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            there = f"http://127.0.0.1:{endpoint.port}{self.path}"
            answer = pool.request("POST", there, body=body, headers=dict(self.headers.items()))
            self.send_response(answer.status)
            for name, value in answer.headers.items():
                if name.lower() not in ("content-length", "transfer-encoding", "content-encoding"):
                    self.send_header(name, value)
            self.send_header("Content-Length", str(len(answer.data)))
            self.end_headers()
            is_file = b"FORMAT+Parquet" in body
            self.wfile.write(answer.data[: len(answer.data) // 2] if is_file else answer.data)
            self.close_connection = True

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Cutting)
    thread = Thread(target=server.serve_forever)
    thread.start()
    try:
        yield LocalEndpoint(server.server_port, endpoint.token)
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
        pool.clear()


def wanted(folder: Path, **changes: object) -> ExportRequest:
    """Everything around the time of the tests."""
    whole = ExportRequest(
        datetime(2096, 1, 1, tzinfo=UTC), datetime(2097, 1, 1, tzinfo=UTC), "", "parquet", folder
    )
    return replace(whole, **changes)  # type: ignore[arg-type]


def rows(client: Client, paths: list[Path], column: str) -> list[object]:
    """A column of the files, as the engine reads them."""
    query = f"SELECT {column} FROM file({{path:String}}) ORDER BY 1"  # noqa: S608 - ours
    return [
        row[0] for path in paths for row in client.query(query, {"path": str(path)}).result_rows
    ]


@pytest.mark.parametrize("form", FORMATS)
def test_every_table_comes_back(filled: Client, tmp_path: Path, form: str) -> None:
    """Each row in force once, in a file a day, in both formats."""
    found = {
        name: list(export_table(filled, name, wanted(tmp_path, format=form))) for name in SOURCES
    }

    counts = {name: len(rows(filled, paths, "*")) for name, paths in found.items()}
    assert counts == {
        "verifications": 41,
        "claims": 81,
        "trails": 1,
        "criteria": 1,
        "spans": 3,
        "issues": 1,
        "issue-assignments": 0,
        "issue-events": 0,
        "dead-letters": 0,
        "rates": 41,
        "corrected-rates": 2,
    }
    assert len(found["verifications"]) == 2
    assert set(rows(filled, found["claims"], "toString(Label)")) == {"entailed", "baseless"}
    assert rows(filled, found["issues"], "Title") == ["later"]
    assert set(rows(filled, found["claims"], "Status")) == {"undecided"}
    assert set(rows(filled, found["claims"], "CheckRate")) == {1.0}
    assert set(rows(filled, found["verifications"], "Checked")) == {"fully"}
    assert set(rows(filled, found["verifications"], "(MisleadingCount, Action, Edits)")) == {
        (0, "", "")
    }
    assert sum(rows(filled, found["rates"], "toInt64(WChecked)")) == 162  # type: ignore[arg-type]
    assert not list(tmp_path.rglob("*.part"))


def test_the_access_gives_the_same_files(filled: Client, beside: Client, tmp_path: Path) -> None:
    """Through a running service what comes is what the owner of the database would write."""
    for name in SOURCES:
        own = list(export_table(filled, name, wanted(tmp_path / "own")))
        other = list(export_table(beside, name, wanted(tmp_path / "other")))
        assert [path.name for path in own] == [path.name for path in other]
        assert rows(filled, own, "cityHash64(*)") == rows(filled, other, "cityHash64(*)"), name


def test_a_day_that_is_too_much_comes_by_the_hour(
    filled: Client, beside: Client, tmp_path: Path
) -> None:
    """A result over the bound is asked for in parts, and none of the rows is lost or doubled."""
    beside.set_settings({"max_result_bytes": "6000"})

    paths = list(export_table(beside, "claims", wanted(tmp_path)))

    assert len(rows(filled, paths, "*")) == 81
    assert {len(path.stem) for path in paths} >= {len("2096-10-02T08")}
    assert not list(tmp_path.rglob("*.part"))


@pytest.mark.parametrize("table", ["verifications", "claims", "criteria", "spans"])
def test_a_minute_that_is_too_much_comes_in_parts(
    filled: Client, beside: Client, tmp_path: Path, table: str
) -> None:
    """By the ids of its spans, so that one large minute does not end the export."""
    cites = (CriterionVerdict("cites", "v1", "must_cite", CriterionOutcome.FAIL),)
    insert_verdicts(filled, [replace(verdict(n), criteria=cites) for n in range(200, 500)])
    insert_spans(filled, [one for n in range(200, 300) for one in trace_spans(n)])
    whole = list(export_table(filled, table, wanted(tmp_path / "whole")))
    number = len(rows(filled, whole, "*"))
    beside.set_settings({"max_result_bytes": "20000"})

    paths = list(export_table(beside, table, wanted(tmp_path / "parts")))

    assert any(re.fullmatch(r".*T\d{4}-\d\dof32", path.stem) for path in paths)
    assert len(rows(filled, paths, "*")) == number >= 300
    assert set(rows(filled, paths, "cityHash64(*)")) == set(rows(filled, whole, "cityHash64(*)"))
    again = list(export_table(beside, table, wanted(tmp_path / "parts", overwrites=True)))
    assert again == paths


def test_a_minute_that_is_too_much_is_an_error(
    filled: Client, beside: Client, tmp_path: Path
) -> None:
    """It is named, and nothing half written stays."""
    beside.set_settings({"max_result_bytes": "10"})

    with pytest.raises(StoreError, match="396"):
        list(export_table(beside, "claims", wanted(tmp_path)))
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_files_are_not_overwritten_unless_asked(filled: Client, tmp_path: Path) -> None:
    """With force, files of the same days are replaced, however they were cut."""
    first = list(export_table(filled, "claims", wanted(tmp_path)))
    (first[0].parent / f"{first[0].stem}T01.parquet").write_bytes(b"earlier")

    with pytest.raises(InputError, match=r"claims is not empty: expected a new folder"):
        list(export_table(filled, "claims", wanted(tmp_path)))
    again = list(export_table(filled, "claims", wanted(tmp_path, overwrites=True)))

    assert again == first
    assert sorted(first[0].parent.iterdir()) == sorted(first)


@pytest.mark.parametrize("form", FORMATS)
def test_an_archive_loses_no_rows_to_a_part_of_a_day(
    filled: Client, tmp_path: Path, form: str
) -> None:
    """The days of the first and of the last moment are written whole."""
    everything = wanted(tmp_path, format=form)
    before = list(export_table(filled, "claims", everything))
    day = datetime.fromtimestamp(NOON // SECOND, UTC)
    part = replace(
        everything,
        since=day.replace(hour=12),
        until=day.replace(hour=12) + timedelta(days=1),
        overwrites=True,
    )

    again = list(export_table(filled, "claims", part))

    assert again == before
    assert len(rows(filled, again, "*")) == 81


def test_a_download_that_breaks_off_is_an_error(filled: Client, tmp_path: Path) -> None:
    """It names the file, of which nothing stays; the older files do."""
    first = list(export_table(filled, "claims", wanted(tmp_path)))
    again = wanted(tmp_path, overwrites=True)

    with (
        serve_local_api(filled.target),
        cut(endpoint_of(filled)) as endpoint,
        guest(filled, endpoint) as client,
        pytest.raises(StoreError, match=r"\.parquet\.part: expected a whole file"),
    ):
        list(export_table(client, "claims", again))

    assert sorted(path for path in tmp_path.rglob("*") if path.is_file()) == sorted(first)
    assert len(rows(filled, first, "*")) == 81


def test_a_route_and_a_time_bound_what_is_written(filled: Client, tmp_path: Path) -> None:
    """Spans are those of the traces with an answer on the route; days after the end's are out."""
    pay = {
        name: rows(filled, list(export_table(filled, name, wanted(tmp_path, route="pay"))), "*")
        for name in SOURCES
    }
    moment = datetime.fromtimestamp((NOON + 5 * HOUR) // SECOND, UTC)
    until = wanted(tmp_path / "until", until=moment)

    assert {name: len(found) for name, found in pay.items() if found} == {
        "verifications": 1,
        "claims": 2,
        "trails": 1,
        "criteria": 1,
        "rates": 1,
        "corrected-rates": 1,
    }
    assert len(rows(filled, list(export_table(filled, "verifications", until)), "*")) == 17


def test_a_line_of_json_is_exact(filled: Client, tmp_path: Path) -> None:
    """Large whole numbers are texts, times are ISO 8601 with nanoseconds, slashes stay."""
    pages = wanted(tmp_path, format="jsonl", route="pay")
    (path,) = export_table(filled, "verifications", pages)

    line = json.loads(path.read_text())
    assert line["Timestamp"] == "2096-10-02T07:06:40.000000099Z"
    assert line["Version"] == str(NOON + 10 * SECOND)
    assert (line["Label"], line["VerifierId"]) == ("baseless", "local/test-1")
    assert "local/test-1" in path.read_text()
    assert "IsDeleted" not in line
