"""Checks that a statement from a user only reads, with the engine's own parser."""

from __future__ import annotations

import re

from otel_rt4chart.core.errors import InputError, StoreError
from rt4chart_collector.store.engine.connect import Client

# These statements cannot be subqueries. Without brackets they call no function and no query.
SHOW_STATEMENT = re.compile(r"(SHOW|DESCRIBE|EXISTS)\s(?![^(]*\bINTO\s+OUTFILE\b)[^(]*")
TOKEN = re.compile(r"""'(?:[^'\\]|\\.)*'|`(?:[^`\\]|\\.)*`|"(?:[^"\\]|\\.)*"|\w+""", re.DOTALL)
# Functions that read files outside the database, which `readonly` allows (chdb 4.4).
FILE_FUNCTIONS = frozenset(
    {"file", "catboostevaluate", "addresstoline", "addresstolinewithinlines"}
)
# Functions that send data to a model's endpoint.
AI_FUNCTIONS = "SELECT lower(name) FROM system.functions WHERE categories = 'AI'"
EXPECTED_STATEMENT = (
    "expected one SELECT, EXPLAIN, SHOW, DESCRIBE or EXISTS statement, without FORMAT and "
    "INTO OUTFILE"
)
CANONICAL_TEXT = "SELECT formatQuery({text:String})"


def make_read_only(client: Client) -> None:
    """Reject changes of data, tables and settings on this connection from now on."""
    client.set_settings({"readonly": "1"})


def check_read_only(client: Client, text: str) -> str:
    """The statement in canonical form, if it can only read; raises InputError.

    `make_read_only` alone does not suffice on the embedded engine, which allows INTO OUTFILE,
    SYSTEM and KILL then. The parser accepts none of them as a subquery.
    """
    try:
        canonical = _parsed(client, text)
    except StoreError as error:
        raise InputError(f"{EXPECTED_STATEMENT}: {error}") from error
    if not SHOW_STATEMENT.fullmatch(canonical):
        try:
            _parsed(client, f"SELECT * FROM ({canonical}\n)")  # noqa: S608 - parsed, never run
        except StoreError as error:
            raise InputError(EXPECTED_STATEMENT) from error
    ai = {str(name) for (name,) in client.query(AI_FUNCTIONS).result_rows}
    names = {token.strip('`"').lower() for token in TOKEN.findall(canonical)}
    if external := sorted(names & (FILE_FUNCTIONS | ai)):
        raise InputError(
            f"{external[0]} reads or sends data outside the database: expected a statement "
            "without that name"
        )
    return canonical


def _parsed(client: Client, text: str) -> str:
    return str(client.query(CANONICAL_TEXT, {"text": text}).result_rows[0][0])
