"""What people type is read-only, on the embedded engine and through a running service."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from otel_rt4chart.core.errors import InputError, StoreError
from rt4chart_collector.store.engine.connect import Client, connect
from rt4chart_collector.store.engine.read_only import check_read_only, make_read_only
from rt4chart_collector.store.schema.migrate import migrate
from tests.rt4chart_collector.service.beside import beside

DATABASE = "test_read_only"
READS = (
    "SELECT 1",
    "(SELECT 1) -- a comment",
    "WITH one AS (SELECT 1) SELECT * FROM one",
    "FROM numbers(3) SELECT number",
    "SELECT 'file INTO OUTFILE', $$it's$$",
    "SHOW TABLES",
    "SHOW CREATE TABLE rt4chart_claims",
    "DESCRIBE rt4chart_claims",
    "EXISTS rt4chart_claims",
    "EXPLAIN SELECT 1",
)
NO_READS = (
    "",
    "SELECT (1",
    "SELECT 1; SELECT 2",
    "INSERT INTO rt4chart_issues (IssueId) VALUES (1)",
    "INSERT INTO FUNCTION file('{bad}') SELECT 1",
    "ALTER TABLE rt4chart_claims DELETE WHERE 1",
    "CREATE TABLE mine (a Int8) ENGINE = Memory",
    "DROP TABLE rt4chart_claims",
    "OPTIMIZE TABLE rt4chart_claims FINAL",
    "SYSTEM STOP MERGES",
    "KILL QUERY WHERE 1",
    "SET readonly = 0",
    "USE system",
    "BACKUP DATABASE otel TO File('{bad}')",
    "SELECT 1 INTO OUTFILE '{bad}'",
    "SHOW TABLES INTO OUTFILE '{bad}'",
    "EXISTS rt4chart_claims INTO OUTFILE '{bad}'",
    "SELECT 1) INTO OUTFILE '{bad}' --",
    "SELECT 1 FORMAT CSV",
    "DESCRIBE TABLE file('/etc/hostname')",
    "DESCRIBE TABLE url('http://127.0.0.1:1/', 'CSV')",
    "EXPLAIN TABLE OVERRIDE mysql('127.0.0.1:1', 'a', 'b', 'c', 'd') PARTITION BY 1",
)
REACHING = (
    "SELECT file('/etc/hostname')",
    "SELECT FILE('/etc/hostname')",
    "SELECT `fi\\x6ce`('/etc/hostname')",
    "SELECT 1 AS `a'`, file('/etc/hostname')",
    "SELECT arrayMap(file, ['/etc/hostname'])",
    "SELECT * FROM file('/etc/hostname', 'LineAsString')",
    "SELECT aiGenerate('a', 'b')",
)
REFUSED_BY_ENGINE = (
    "SELECT 1 SETTINGS readonly = 0",
    "SELECT 1 SETTINGS output_format_schema = '{bad}'",
    "SELECT * FROM url('http://127.0.0.1:1/', 'CSV', 'a String')",
    "SELECT * FROM executable('ls', 'TSV', 'a String')",
)


@pytest.fixture(scope="module", params=["embedded", "beside a service"])
def reading(request: pytest.FixtureRequest, store_dsn: str) -> Iterator[Client]:
    """A connection that only reads, of both kinds."""
    with connect(store_dsn, database=DATABASE) as owner:
        migrate(owner)
        with owner.sibling() if request.param == "embedded" else beside(owner) as client:
            make_read_only(client)
            yield client
        owner.command(f"DROP DATABASE {DATABASE}")


@pytest.mark.parametrize("text", READS)
def test_reads_run(reading: Client, text: str) -> None:
    """Queries, and statements that show what is there."""
    assert reading.query(check_read_only(reading, text)).result_rows != []


@pytest.mark.parametrize("text", NO_READS)
def test_other_statements_are_refused(reading: Client, tmp_path: Path, text: str) -> None:
    """Before they run, with what was expected; no file is written."""
    with pytest.raises(InputError, match="expected one SELECT, EXPLAIN, SHOW, DESCRIBE or EXISTS"):
        check_read_only(reading, text.format(bad=tmp_path / "bad"))

    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("text", REACHING)
def test_functions_that_leave_the_database_are_refused(reading: Client, text: str) -> None:
    """However they are spelled or called."""
    with pytest.raises(InputError, match="outside the database"):
        check_read_only(reading, text)


@pytest.mark.parametrize("text", REFUSED_BY_ENGINE)
def test_settings_and_table_functions_are_refused_by_the_engine(
    reading: Client, tmp_path: Path, text: str
) -> None:
    """The connection is read-only for the engine, too; no file is written."""
    query = check_read_only(reading, text.format(bad=tmp_path / "bad"))

    with pytest.raises(StoreError, match="READONLY"):
        reading.query(query)
    assert list(tmp_path.iterdir()) == []


def test_connection_stays_read_only(reading: Client) -> None:
    """Inserts and statements that were not checked fail, too."""
    with pytest.raises(StoreError, match="READONLY"):
        reading.insert("rt4chart_issues", [[1, "x"]], ["IssueId", "Title"])
    with pytest.raises(StoreError, match="READONLY"):
        reading.command("ALTER TABLE rt4chart_issues DELETE WHERE 1")


def test_names_in_texts_are_data(reading: Client) -> None:
    """A text may contain any word."""
    found = reading.query(
        check_read_only(reading, "SELECT 'a file' AS text WHERE text LIKE '%file%'")
    )

    assert found.result_rows == [("a file",)]
    assert re.fullmatch(r"SELECT\s+1", check_read_only(reading, "select 1"))
