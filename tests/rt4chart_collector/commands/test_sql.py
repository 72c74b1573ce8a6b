"""`rt4chart sql`: what it prints and writes, and what it refuses."""

from __future__ import annotations

import io
import json
import os
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

import pytest

from otel_rt4chart.cli import main
from rt4chart_collector.store.answers.verdicts import insert_verdicts
from rt4chart_collector.store.engine.connect import Client
from tests.rt4chart_collector.records import verdict

Run = Callable[..., int]
QUERY = "SELECT number AS n, concat('row ', toString(n)) AS text FROM numbers(2)"


@pytest.fixture
def run(client: Client, monkeypatch: pytest.MonkeyPatch) -> Run:
    """The command on the test's database, which has three verdicts."""
    insert_verdicts(client, [verdict(number) for number in range(1, 4)])
    module = import_module("rt4chart_collector.store.engine.dsn")
    # The DSN of an embedded engine names no database: the default one is this test's.
    monkeypatch.setattr(module, "DEFAULT_DATABASE", client.database)
    return lambda *argv: main(["sql", *argv, "--dsn", client.target.display_name])


class Terminal(io.StringIO):
    """Standard output of somebody who looks at it."""

    def isatty(self) -> bool:
        """It is one."""
        return True


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        ("csv", '"n","text"\n0,"row 0"\n1,"row 1"\n'),
        ("tsv", "n\ttext\n0\trow 0\n1\trow 1\n"),
        ("jsonl", '{"n":0,"text":"row 0"}\n{"n":1,"text":"row 1"}\n'),
    ],
)
def test_result_has_the_format_that_was_asked_for(
    run: Run, capfdbinary: pytest.CaptureFixture[bytes], form: str, expected: str
) -> None:
    """On standard output, byte for byte as the engine writes it."""
    assert run(QUERY, "--format", form) == 0

    assert capfdbinary.readouterr().out.decode() == expected


def test_json_is_one_array(run: Run, tmp_path: Path) -> None:
    """However many blocks the engine makes of it; the file is there when it is whole."""
    out = tmp_path / "rows.json"
    query = "SELECT number FROM numbers(200000)"

    assert run(query, "--format", "json", "--out", str(out)) == 0

    assert [row["number"] for row in json.loads(out.read_text())] == list(range(200_000))
    assert list(tmp_path.iterdir()) == [out]


def test_parquet_goes_to_a_file(client: Client, run: Run, tmp_path: Path) -> None:
    """The engine reads it back."""
    out = tmp_path / "rows.parquet"

    assert run(QUERY, "--format", "parquet", "--out", str(out)) == 0

    found = client.query("SELECT * FROM file({path:String})", {"path": str(out)}).result_rows
    assert found == [(0, "row 0"), (1, "row 1")]


def test_table_is_for_people(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    """Text of others is cleaned: it cannot move the cursor or colour the screen."""
    assert (
        run(
            "SELECT Route, count() AS n, char(27, 91, 50, 74) AS text FROM "
            "rt4chart_verifications FINAL GROUP BY Route"
        )
        == 0
    )

    assert [line.split() for line in capsys.readouterr().out.splitlines()] == [
        ["Route", "n", "text"],
        ["support", "3", "[2J"],
    ]


def test_terminal_shows_clean_text(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Other formats, too, where they are not written to a file or a pipe."""
    terminal = Terminal()
    monkeypatch.setattr(sys, "stdout", terminal)

    assert run("SELECT char(27, 91, 50, 74) AS text", "--format", "tsv") == 0

    assert terminal.getvalue() == "text\n [2J\n"


def test_query_may_come_from_standard_input(
    run: Run, capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As one statement."""
    monkeypatch.setattr(sys, "stdin", io.StringIO("SELECT 1 AS one -- a comment\n"))

    assert run("-", "--format", "csv") == 0

    assert capfdbinary.readouterr().out == b'"one"\n1\n'


@pytest.mark.parametrize(
    "query",
    [
        "INSERT INTO rt4chart_issues (IssueId) VALUES (1)",
        "ALTER TABLE rt4chart_verifications DELETE WHERE 1",
        "SELECT 1 INTO OUTFILE '{bad}'",
        "SELECT file('/etc/hostname')",
        "INSERT INTO FUNCTION file('{bad}', 'CSV') SELECT 1",
        "SELECT 1 SETTINGS output_format_schema = '{bad}'",
        "SYSTEM STOP MERGES",
    ],
)
@pytest.mark.parametrize("form", ["table", "csv"])
def test_nothing_is_written(
    client: Client,
    run: Run,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    query: str,
    form: str,
) -> None:
    """Neither in the database nor in a file; standard output stays empty."""
    assert run(query.format(bad=tmp_path / "bad"), "--format", form) == 2

    assert capsys.readouterr().out == ""
    assert os.listdir(tmp_path) == []
    counts = "SELECT (SELECT count() FROM rt4chart_verifications), count() FROM rt4chart_issues"
    assert client.query(counts).result_rows == [(3, 0)]


def test_failed_query_leaves_the_old_file(run: Run, tmp_path: Path) -> None:
    """And nothing half written beside it."""
    out = tmp_path / "rows.csv"
    out.write_text("earlier")

    assert (
        run(
            "SELECT throwIf(number = 1000) FROM numbers(2000)", "--format", "csv", "--out", str(out)
        )
        == 2
    )

    assert [file.name for file in tmp_path.iterdir()] == ["rows.csv"]
    assert out.read_text() == "earlier"


def test_options_that_do_not_fit_are_refused(
    run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A table is for the eye, Parquet is not."""
    assert run(QUERY, "--out", str(tmp_path / "rows")) == 2
    assert "--out: expected --format csv, tsv, json, jsonl, parquet" in capsys.readouterr().err

    monkeypatch.setattr(sys, "stdout", Terminal())
    assert run(QUERY, "--format", "parquet") == 2
    assert "expected --out FILE or a pipe" in capsys.readouterr().err


def test_a_name_of_a_column_cannot_rewrite_the_terminal(
    run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    """As the cells below it cannot."""
    assert run("SELECT 1 AS `a\\x1b[31mb`") == 0

    head = capsys.readouterr().out.splitlines()[0]
    assert "\x1b" not in head
    assert head.strip() == "a [31mb"
