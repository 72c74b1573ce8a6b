"""Read-only statements: what a person types is checked by the engine's parser before it runs."""

from __future__ import annotations

import re

from otel_rt4chart.core.errors import InputError, StoreError
from rt4chart_collector.store.engine.connect import Client

# These are no subqueries. Without brackets they can call neither a function nor a query.
SHOW_STATEMENT = re.compile(r"(SHOW|DESCRIBE|EXISTS)\s(?![^(]*\bINTO\s+OUTFILE\b)[^(]*")
TOKEN = re.compile(r"""'(?:[^'\\]|\\.)*'|`(?:[^`\\]|\\.)*`|"(?:[^"\\]|\\.)*"|\w+""", re.DOTALL)
# Functions that read files outside the database and that `readonly` lets pass (chdb 4.4).
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
    """Refuse changes of data, tables and settings on this connection from now on."""
    client.keep({"readonly": "1"})


def check_read_only(client: Client, text: str) -> str:
    """The statement as the parser writes it, if all it can do is read; raises InputError.

    `make_read_only` alone is not enough on the embedded engine: it lets INTO OUTFILE, SYSTEM and
    KILL pass. The parser takes none of them in place of a subquery.
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
    if reaching := sorted(names & (FILE_FUNCTIONS | ai)):
        raise InputError(
            f"{reaching[0]} reads or sends data outside the database: expected a statement "
            "without that name"
        )
    return canonical


def _parsed(client: Client, text: str) -> str:
    return str(client.query(CANONICAL_TEXT, {"text": text}).result_rows[0][0])
