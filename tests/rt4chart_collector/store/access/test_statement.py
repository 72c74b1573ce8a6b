"""Statements: what may run, and that no spelling gets anything else through."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rt4chart_collector.store.access.errors import RefusedError
from rt4chart_collector.store.access.handle import Handle
from rt4chart_collector.store.access.statement import Known, Statement, judged, known_to
from rt4chart_collector.store.connect import connect

FORBIDDEN = "/etc/passwd"
FEW = settings(max_examples=40)
# Each holds a call that must not run in the place of {}.
PLACES = (
    "SELECT {}",
    "SELECT 1 + length({})",
    "SELECT 1 WHERE {} != ''",
    "SELECT (SELECT {})",
    "WITH {} AS x SELECT x",
    "WITH y AS (SELECT {} AS x) SELECT x FROM y",
    "SELECT x FROM (SELECT {} AS x)",
    "SELECT 1 UNION ALL (SELECT length({}))",
    "SELECT number FROM numbers(3) ORDER BY {}",
    "SELECT number FROM numbers(3) GROUP BY number HAVING {} != ''",
    "SELECT arrayMap(x -> {}, [1])",
    "SELECT sum(length({})) OVER ()",
    "SELECT number IN (SELECT length({})) FROM numbers(3)",
    "SELECT if(1, {}, '')",
    "SELECT number FROM numbers(3) LIMIT 1 BY {}",
    "SELECT * REPLACE ({} AS number) FROM numbers(3)",
    "SELECT a.number FROM numbers(3) AS a JOIN numbers(3) AS b ON a.number = length({})",
    "EXPLAIN SELECT {}",
    "EXPLAIN SYNTAX SELECT {}",
    "EXPLAIN QUERY TREE SELECT {}",
    "SELECT 1 FORMAT JSON; SELECT {}",
    "SELECT {} SETTINGS max_threads = 1",
    "(((SELECT {})))",
    "FROM numbers(1) SELECT {}",
)
TABLES = (
    "SELECT * FROM {}",
    "SELECT * FROM numbers(1) AS a, {} AS b",
    "SELECT 1 IN {}",
    "SELECT 1 NOT IN {}",
    "SELECT 1 GLOBAL IN {}",
    "SELECT in(1, {})",
    "SELECT * FROM numbers(1) AS a LEFT JOIN {} AS b ON 1",
    "SELECT (SELECT count() FROM {})",
    "WITH x AS (SELECT * FROM {}) SELECT * FROM x",
    "SELECT * FROM view(SELECT * FROM {})",
    "DESCRIBE TABLE {}",
    "DESC {}",
    "DESCRIBE (SELECT * FROM {})",
    "EXPLAIN SELECT * FROM {}",
    "EXPLAIN TABLE OVERRIDE {} COLUMNS (a UInt8)",
    "SHOW CREATE TABLE {}",
)
REACHING_TABLES = (
    *("file('/etc/passwd', 'LineAsString')", "url('http://127.0.0.1:9/', 'CSV', 'a Int8')"),
    *("s3('http://127.0.0.1:9/a/b', 'CSV', 'a Int8')", "remote('127.0.0.1:9', 'd.t')"),
    *("executable('id', 'TSV', 'a String')", "mysql('127.0.0.1:9', 'a', 'b', 'c', 'd')"),
    *("Python(client)", "eval('SELECT 1')", "cluster('default', 'system.one')"),
    *("postgresql('127.0.0.1:9', 'a', 'b', 'c', 'd')", "sqlite('/tmp/x', 't')", "input('a Int8')"),
    *("loop(system.one)", "deltaLakeLocal('/tmp')", "filesystem('/etc')", "dictionary('x')"),
)


@pytest.fixture(scope="module")
def handle(store_dsn: str) -> Iterator[Handle]:
    """A handle to the engine; nothing here runs, so no table is needed."""
    with connect(store_dsn) as client, Handle(client.target.path) as handle:
        yield handle


@pytest.fixture(scope="module")
def known(handle: Handle) -> Known:
    """What this engine can call that reaches outside."""
    return known_to(handle.row)


def refused(text: str, handle: Handle, known: Known, *, may_write: bool = False) -> int:
    """The code with which the statement is refused."""
    with pytest.raises(RefusedError) as raised:
        judged(text, handle.row, known, may_write=may_write)
    return raised.value.code


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("select 1 -- one", Statement("SELECT 1", "", is_select=True)),
        ("SELECT 1 FORMAT JSON", Statement("SELECT 1", "JSON", is_select=True)),
        ("SHOW TABLES", Statement("SHOW TABLES", "")),
        ("DESC otel_traces", Statement("DESCRIBE TABLE otel_traces", "")),
        ("exists otel_traces", Statement("EXISTS TABLE otel_traces", "")),
        ("SHOW CREATE otel_traces", Statement("SHOW CREATE TABLE otel_traces", "")),
        ("EXPLAIN AST SELECT 1", Statement("EXPLAIN AST\nSELECT 1", "")),
        ("SELECT 'file(1)'", Statement("SELECT 'file(1)'", "", is_select=True)),
        ("SELECT format('{}', 1)", Statement("SELECT format('{}', 1)", "", is_select=True)),
    ],
)
def test_reading_runs_in_its_canonical_form(
    text: str, expected: Statement, handle: Handle, known: Known
) -> None:
    """Comments are gone, the format is known, a word in a string is no function."""
    assert judged(text, handle.row, known, may_write=False) == expected


@pytest.mark.parametrize(
    "text",
    [
        *("DROP TABLE otel_traces", "CREATE TABLE t (a UInt8) ENGINE = Memory", "SET readonly = 0"),
        *("SYSTEM STOP MERGES", "KILL QUERY WHERE 1", "USE system", "ALTER TABLE t DELETE WHERE 1"),
        *("TRUNCATE TABLE otel_traces", "OPTIMIZE TABLE otel_traces", "DETACH TABLE otel_traces"),
        *("BACKUP TABLE t TO File('/tmp/x')", "GRANT ALL ON *.* TO default", "BEGIN TRANSACTION"),
        *("SELECT 1 INTO OUTFILE '/tmp/x'", "SHOW TABLES INTO OUTFILE '/tmp/x'", "CREATE USER u"),
        *(
            "DESCRIBE otel_traces INTO OUTFILE '/tmp/x'",
            "SELECT 1; SELECT 2",
            "EXISTS `/etc/passwd`",
        ),
        *("SELECT 1 PARALLEL WITH SELECT 2", "file('/etc/passwd')", "", "ATTACH TABLE t", "SELECT"),
        *("RENAME TABLE a TO b", "EXECUTE AS default SELECT 1", "CREATE FUNCTION f AS x -> x"),
    ],
)
def test_what_is_not_reading_is_refused(text: str, handle: Handle, known: Known) -> None:
    """Whoever asks: nothing is made, changed, stopped or written to a file."""
    for may_write in (False, True):
        assert refused(text, handle, known, may_write=may_write)


@pytest.mark.parametrize("place", PLACES)
def test_reading_a_file_is_refused_everywhere(place: str, handle: Handle, known: Known) -> None:
    """The engine's own read-only mode lets `file` pass; no place in a statement does here."""
    assert refused(place.format(f"file('{FORBIDDEN}')"), handle, known)


@pytest.mark.parametrize(
    "text",
    [
        "SELECT arrayMap(file, ['/etc/passwd'])",
        "SELECT * APPLY file FROM (SELECT '/etc/passwd')",
        "SELECT COLUMNS('x') APPLY(file) FROM (SELECT '/etc/passwd' AS x)",
        "WITH file AS f SELECT arrayMap(f, ['/etc/passwd'])",
        "SELECT arrayMap(x -> x, ['/etc/passwd']) AS file",
        "SELECT '/etc/passwd' AS x, aiGenerate(x)",
    ],
)
def test_a_name_is_refused_without_its_brackets(text: str, handle: Handle, known: Known) -> None:
    """A function may be passed by name, so the name is what is refused."""
    assert refused(text, handle, known) == 497


@FEW
@given(
    place=st.sampled_from(PLACES),
    name=st.lists(st.sampled_from([0, 1, 2]), min_size=4, max_size=4).map(
        lambda how: "".join(
            letter if kind == 0 else letter.upper() if kind == 1 else f"\\x{ord(letter):02x}"
            for letter, kind in zip("file", how, strict=True)
        )
    ),
    quote=st.sampled_from(["", "`", '"']),
    gap=st.sampled_from(["", " ", "\t\n", "/* ' */", "/*/* ` */*/", "-- '\n", "#! `\n", "\u00a0"]),
    head=st.sampled_from(["", "/* SELECT 1 */", "-- x\n", "/*'*/", "/* ` */ -- '\n"]),
)
def test_no_spelling_of_a_call_gets_through(
    handle: Handle, known: Known, place: str, name: str, quote: str, gap: str, head: str
) -> None:
    """Case, quotes, escapes, comments and white space make no difference."""
    call = f"{quote}{name}{quote}{gap}('{FORBIDDEN}')"

    assert refused(head + place.format(call), handle, known)


@pytest.mark.parametrize("table", REACHING_TABLES)
def test_tables_outside_the_database_are_refused(table: str, handle: Handle, known: Known) -> None:
    """Table functions that read files, call services or run programs have no place anywhere."""
    for place in TABLES:
        for may_write in (False, True):
            assert refused(place.format(table), handle, known, may_write=may_write)


@FEW
@given(text=st.text(max_size=60), inner=st.sampled_from(["'{}'", "1 AS `{}`", "1 /* {} */"]))
def test_any_text_is_judged_or_refused(handle: Handle, known: Known, text: str, inner: str) -> None:
    """No text breaks the check, and what it lets through is judged the same again."""
    for sent in (text, "SELECT " + inner.format(text)):
        try:
            statement = judged(sent, handle.row, known, may_write=False)
        except RefusedError:
            continue
        assert judged(statement.text, handle.row, known, may_write=False) == statement


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("INSERT INTO rt4chart_issues (IssueId) FORMAT Native", 0),
        ("INSERT INTO otel_traces (TraceId) FORMAT Native", 0),
        ("INSERT INTO system.settings (name) FORMAT Native", 497),
        ("INSERT INTO rt4chart_issues SELECT * FROM rt4chart_issues", 48),
        ("INSERT INTO rt4chart_issues (IssueId) VALUES (1)", 164),
        ("INSERT INTO FUNCTION file('/tmp/x') FORMAT Native", 497),
        ("INSERT INTO FUNCTION url('http://127.0.0.1:9') FORMAT Native", 48),
        ("INSERT INTO rt4chart_issues FROM INFILE '/etc/passwd' FORMAT CSV", 48),
        ("INSERT INTO rt4chart_issues (IssueId) SETTINGS max_threads = 1 FORMAT Native", 48),
        ("INSERT INTO rt4chart_issues (IssueId) FORMAT Npy", 48),
        ("INSERT INTO {t:Identifier} (IssueId) FORMAT Native", 497),
    ],
)
def test_writing_is_rows_into_our_own_tables(
    text: str, code: int, handle: Handle, known: Known
) -> None:
    """The commands insert data that they send; nothing else, nowhere else, and readers never."""
    if code:
        assert refused(text, handle, known, may_write=True) == code
    else:
        assert judged(text, handle.row, known, may_write=True).is_insert
    assert refused(text, handle, known)
