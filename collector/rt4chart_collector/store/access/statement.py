"""Which statements may run, told by the engine's own parser and lexer.

The engine gives, without running it, a statement's canonical text (`formatQuery`: one statement, no
comments, plain names unquoted), that text's tokens (`tokenizeQuery`) and the tree
(`parseQueryToJSON`). The canonical text is what runs, so nothing else can have been looked at.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from rt4chart_collector.store.access.errors import (
    ACCESS_DENIED,
    NOT_IMPLEMENTED,
    READONLY,
    RefusedError,
    refused,
)

# A row of the engine's answer to one statement; raises RefusedError where the engine does.
Ask = Callable[[str], list[Any]]

# What has no tree is one of these, without brackets: no function and no query can hide in it.
PLAIN = ("DESCRIBE TABLE ", "EXISTS ", "SHOW ")
PLAIN_NAME = re.compile(r"[\w.$ -]+")
READS = {
    *("SelectWithUnionQuery", "SelectIntersectExceptQuery", "SelectQuery", "ExplainQuery"),
    *("ShowTablesQuery", "ShowColumnsQuery", "ShowIndexesQuery"),
}
# Table functions that make rows of their arguments, or of tables that may be read anyway. The
# engine's `readonly` refuses most of the others itself, but not when they are only described.
TABLE_FUNCTIONS = {
    *("numbers", "numbers_mt", "zeros", "zeros_mt", "primes", "generateseries", "generate_series"),
    *("generaterandom", "values", "view", "viewifpermitted", "merge", "null"),
}
# Functions that read files or call services, which `readonly` lets pass: measured.
# Functions that read files or call services, which `readonly` lets pass: measured on chdb 4.4.
# Any mention is refused: `arrayMap(file, …)` and `APPLY file` call it without brackets.
REACHING = frozenset({"file", "catboostevaluate", "addresstoline", "addresstolinewithinlines"})
# Names that are an ordinary function's, too.
SCALAR_TOO = {"format"}
INSERTED = {"type", "database", "table", "columns", "format"}
FORMATS = {"Native", "RowBinary", "TabSeparated", "CSV", "JSONEachRow", "Arrow", "ArrowStream"}
# What the commands write: verdicts, issues, and the verdicts' spans.
WRITABLE = re.compile(r"rt4chart_\w+|otel_traces")
FORMAT_CLAUSE = re.compile(r"\s+FORMAT (?P<name>\w+)\s*\Z")


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement that may run: its canonical text without the FORMAT clause, and that format."""

    text: str
    format: str
    is_insert: bool = False
    is_select: bool = False


@dataclass(frozen=True, slots=True)
class Known:
    """An engine's table functions, and its functions that reach outside; all in lower case."""

    table_functions: frozenset[str]
    reaching: frozenset[str]


def known_to(ask: Ask) -> Known:
    """What this engine can call that might reach outside, read from its own tables."""
    tables = ask("SELECT groupArray(lower(name)) FROM system.table_functions")[0]
    functions = ask(
        "SELECT groupArray(lower(name)) FROM system.functions "
        "WHERE categories = 'AI' OR origin != 'System'"
    )[0]
    return Known(frozenset(tables), REACHING | frozenset(functions))


def judged(text: str, ask: Ask, known: Known, *, may_write: bool) -> Statement:
    """The statement in its canonical form; RefusedError where it is not to run."""
    literal = quoted(text)
    told, canonical, tokens = ask(
        f"SELECT {literal} AS told, formatQuery(told) AS text, tokenizeQuery(text)"
    )
    if told != text:
        raise refused(ACCESS_DENIED, "the statement did not reach the parser as it was sent")
    names = list(_names(canonical, tokens))
    if reaching := sorted(known.reaching & {name.lower() for name in names}):
        raise refused(
            ACCESS_DENIED,
            f"{reaching[0]} reaches files or services outside the database and is not allowed "
            "here, not as another thing's name either",
        )
    try:
        tree = json.loads(ask(f"SELECT parseQueryToJSON({literal})")[0])
    except RefusedError:
        return _plain(canonical, tokens, names)
    return _with_tree(canonical, tree, known, may_write=may_write)


def quoted(text: str) -> str:
    """The text as a string literal of the engine's."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def _names(canonical: str, tokens: list[Mapping[str, Any]]) -> Iterator[str]:
    """The identifiers and keywords of the text; a quoted one without its quotes."""
    raw = canonical.encode()
    for token in tokens:
        if token["type"] in ("BareWord", "QuotedIdentifier"):
            yield raw[token["begin"] : token["end"]].decode().strip('`"')


def _plain(canonical: str, tokens: list[Mapping[str, Any]], names: list[str]) -> Statement:
    """A statement without a tree: what has no brackets, and plain names, may be shown."""
    if (
        not canonical.startswith(PLAIN)
        or any("Bracket" in token["type"] for token in tokens)
        or "OUTFILE" in (name.upper() for name in names)
        or not all(PLAIN_NAME.fullmatch(name) for name in names)
    ):
        raise _not_readable()
    return _statement(canonical)


def _with_tree(canonical: str, tree: dict[str, Any], known: Known, *, may_write: bool) -> Statement:
    if tree["type"] == "InsertQuery":
        return _insert(canonical, tree, may_write=may_write)
    if tree["type"] not in READS:
        raise _not_readable()
    for node in _nodes(tree):
        if "out_file" in node:
            raise refused(ACCESS_DENIED, "INTO OUTFILE is not allowed here")
        if str(node.get("kind", "")).endswith("TABLE OVERRIDE"):
            raise refused(ACCESS_DENIED, "EXPLAIN TABLE OVERRIDE is not allowed here")
    for name in _table_functions(tree, known.table_functions):
        if name.lower() not in TABLE_FUNCTIONS:
            raise refused(ACCESS_DENIED, f"the table function {name} is not allowed here")
    return _statement(canonical, is_select="Select" in tree["type"])


def _insert(canonical: str, tree: dict[str, Any], *, may_write: bool) -> Statement:
    table = tree.get("table", {}).get("name", "")
    if not may_write:
        raise refused(READONLY, "Cannot execute query in readonly mode")
    if not set(tree) <= INSERTED or tree.get("format") not in FORMATS:
        raise refused(
            NOT_IMPLEMENTED,
            "expected INSERT INTO table (columns) FORMAT name with the data after it, the format "
            f"one of {', '.join(sorted(FORMATS))}",
        )
    if not WRITABLE.fullmatch(table):
        raise refused(
            ACCESS_DENIED, f"expected otel_traces or a table of rt4chart_*, got {table!r}"
        )
    return _statement(canonical, is_insert=True)


def _statement(canonical: str, *, is_insert: bool = False, is_select: bool = False) -> Statement:
    text = canonical.strip()
    found = FORMAT_CLAUSE.search(text)
    name = found["name"] if found else ""
    text = text[: found.start()] if found else text
    return Statement(text, name, is_insert=is_insert, is_select=is_select)


def _nodes(value: object) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
        for one in value.values():
            yield from _nodes(one)
    elif isinstance(value, list):
        for one in value:
            yield from _nodes(one)


def _table_functions(tree: object, known: frozenset[str]) -> Iterator[str]:
    """What stands in a table's place, and every function that might: IN takes them too."""
    for node in _nodes(tree):
        if "table_function" in node:
            yield str(node["table_function"].get("name", ""))
        elif node.get("type") == "Function":
            name = str(node.get("name", ""))
            if name.lower() in known - SCALAR_TOO:
                yield name


def _not_readable() -> RefusedError:
    return refused(
        READONLY,
        "Cannot execute query in readonly mode: expected SELECT, SHOW, DESCRIBE TABLE, EXISTS or "
        "EXPLAIN",
    )
