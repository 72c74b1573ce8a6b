"""A parser for the statements in the migrations: tables, views and their columns."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from otel_rt4chart.core.errors import StoreError

ON_CLUSTER = r"(?: ON CLUSTER '(?P<cluster>[^']+)')?"
TABLE_NAME = r"(?P<database>\w+)\.(?P<name>\w+)"
TABLE = re.compile(rf"CREATE TABLE IF NOT EXISTS {TABLE_NAME}{ON_CLUSTER}\s+(?=\(|AS\b)")
LIKE = re.compile(r"AS \w+\.(?P<like>\w+)\s+")
ENGINE = re.compile(r"\s*ENGINE = (?P<engine>\w+)")
CLAUSES = re.compile(r"\b(PARTITION BY|PRIMARY KEY|ORDER BY|TTL|SETTINGS)\b")
MATERIALIZED_VIEW = re.compile(
    rf"CREATE MATERIALIZED VIEW IF NOT EXISTS {TABLE_NAME}{ON_CLUSTER}\s+TO \w+\.(?P<target>\w+)\s+"
    r"AS\s+(?P<query>.*)",
    re.S,
)
VIEW = re.compile(
    rf"CREATE (?P<replace>OR REPLACE )?VIEW (?:IF NOT EXISTS )?{TABLE_NAME}{ON_CLUSTER}\s+"
    r"AS\s+(?P<query>.*)",
    re.S,
)
ALTER = re.compile(rf"ALTER TABLE {TABLE_NAME}{ON_CLUSTER}\s+(?P<commands>.*)", re.S)
DROP = re.compile(rf"DROP (?P<kind>TABLE|VIEW) IF EXISTS {TABLE_NAME}{ON_CLUSTER}(?: SYNC)?\s*")
INSERT = re.compile(rf"INSERT INTO {TABLE_NAME}\b.*", re.S)
ALTER_COMMAND = re.compile(
    r"(?:ADD|DROP|MODIFY|RENAME|COMMENT|CLEAR|MATERIALIZE|REMOVE|RESET|ALTER)\b"
)
TYPE = re.compile(r"Nested\s*(?=\()|\w+")
DEFAULT_KINDS = re.compile(r"\s*(DEFAULT|ALIAS|MATERIALIZED|EPHEMERAL)\b")
NOT_COLUMNS = ("INDEX ", "CONSTRAINT ", "PROJECTION ", "PRIMARY KEY ")
BRACKETS = {"(": ")", "[": "]"}


@dataclass(frozen=True, slots=True)
class ColumnDefinition:
    """One column; `kind` is DEFAULT, ALIAS or the like, or empty."""

    name: str
    type: str
    kind: str = ""


@dataclass(frozen=True, slots=True)
class CreateTable:
    """A CREATE TABLE with its body and clauses as written; `like` is the table that it copies."""

    database: str
    name: str
    engine: str
    arguments: str = ""
    body: str = ""
    like: str = ""
    cluster: str = ""
    partition_by: str = ""
    primary_key: str = ""
    order_by: str = ""
    ttl: str = ""
    settings: tuple[str, ...] = ()

    @property
    def columns(self) -> tuple[ColumnDefinition, ...]:
        """The columns as the engine lists them: a Nested column is one array for each field."""
        parts = (part for part in split_list(self.body) if not part.startswith(NOT_COLUMNS))
        return tuple(column for part in parts for column in parse_columns(part))

    @property
    def sql(self) -> str:
        """The statement."""
        on = f" ON CLUSTER '{self.cluster}'" if self.cluster else ""
        what = f"AS {self.database}.{self.like}" if self.like else f"({self.body})"
        engine = f"{self.engine}({self.arguments})" if self.arguments else self.engine
        clauses = {
            "PARTITION BY": self.partition_by,
            "PRIMARY KEY": self.primary_key,
            "ORDER BY": self.order_by,
            "TTL": self.ttl,
            "SETTINGS": ", ".join(self.settings),
        }
        return "\n".join(
            [
                f"CREATE TABLE IF NOT EXISTS {self.database}.{self.name}{on} {what}",
                f"ENGINE = {engine}",
                *(f"{name} {text}" for name, text in clauses.items() if text),
            ]
        )


@dataclass(frozen=True, slots=True)
class CreateView:
    """A view; `target` is the table that a materialized view writes to, else empty."""

    database: str
    name: str
    query: str
    target: str = ""
    cluster: str = ""
    replaces: bool = False


@dataclass(frozen=True, slots=True)
class AlterTable:
    """An ALTER TABLE with its commands."""

    database: str
    name: str
    commands: tuple[str, ...]
    cluster: str = ""


@dataclass(frozen=True, slots=True)
class DropStatement:
    """A DROP; `kind` is TABLE or VIEW."""

    database: str
    name: str
    kind: str
    cluster: str = ""


@dataclass(frozen=True, slots=True)
class InsertStatement:
    """An INSERT that the migration itself runs."""

    database: str
    name: str
    sql: str


Statement = CreateTable | CreateView | AlterTable | DropStatement | InsertStatement


def parse_statement(statement: str) -> Statement:
    """Parse one statement; raises StoreError for a form that the migrations do not use."""
    if match := TABLE.match(statement):
        return _table(statement, match)
    if match := MATERIALIZED_VIEW.fullmatch(statement):
        return CreateView(*_place(match), match["query"], match["target"], match["cluster"] or "")
    if match := VIEW.fullmatch(statement):
        replaces = bool(match["replace"])
        return CreateView(*_place(match), match["query"], "", match["cluster"] or "", replaces)
    if match := ALTER.fullmatch(statement):
        return AlterTable(
            *_place(match), tuple(_commands(match["commands"])), match["cluster"] or ""
        )
    if match := DROP.fullmatch(statement):
        return DropStatement(*_place(match), match["kind"], match["cluster"] or "")
    if match := INSERT.fullmatch(statement):
        return InsertStatement(*_place(match), statement)
    raise StoreError(
        "expected a migration's statement as CREATE TABLE IF NOT EXISTS, CREATE [MATERIALIZED] "
        "VIEW, ALTER TABLE, DROP … IF EXISTS or INSERT INTO of database.name; "
        f"got {statement[:80]!r}"
    )


def split_list(text: str, separator: str = ",") -> list[str]:
    """Split at separators outside brackets and quotes; parts are stripped, empty ones dropped."""
    cuts = [i for i, depth in _depths(text) if depth == 0 and text[i] == separator]
    starts, ends = [0, *(cut + 1 for cut in cuts)], [*cuts, len(text)]
    parts = (text[start:end].strip() for start, end in zip(starts, ends, strict=True))
    return [part for part in parts if part]


def parse_columns(part: str) -> Iterator[ColumnDefinition]:
    """The columns of one definition; a Nested definition has several."""
    name, _, rest = part.strip().partition(" ")
    match = TYPE.match(rest.lstrip())
    if match is None:
        raise StoreError(f"expected a column's name and type, got {part[:80]!r}")
    rest, head = rest.lstrip(), match[0].strip()
    inner = _bracketed(rest[match.end() :])
    if head == "Nested":
        for field in split_list(inner):
            field_name, _, field_type = field.partition(" ")
            yield ColumnDefinition(f"{name}.{field_name}", f"Array({field_type.strip()})")
        return
    after = rest[match.end() + len(inner) + 2 * bool(inner) :]
    kind = DEFAULT_KINDS.match(after)
    yield ColumnDefinition(name, f"{head}({inner})" if inner else head, kind[1] if kind else "")


def _table(statement: str, match: re.Match[str]) -> CreateTable:
    body, like, rest = "", "", statement[match.end() :]
    if found := LIKE.match(rest):
        like, rest = found["like"], rest[found.end() :]
    else:
        body = _bracketed(rest)
        rest = rest[len(body) + 2 :]
    engine = ENGINE.match(rest)
    if engine is None:
        raise StoreError(f"expected ENGINE = … of {match['name']}, got {rest[:80]!r}")
    rest = rest[engine.end() :]
    arguments = _bracketed(rest)
    _, *named = CLAUSES.split(rest[len(arguments) + 2 * bool(arguments) :])
    clauses = {name: text.strip() for name, text in zip(named[::2], named[1::2], strict=True)}
    return CreateTable(
        *_place(match),
        engine["engine"],
        arguments,
        body,
        like,
        match["cluster"] or "",
        partition_by=clauses.get("PARTITION BY", ""),
        primary_key=clauses.get("PRIMARY KEY", ""),
        order_by=clauses.get("ORDER BY", ""),
        ttl=clauses.get("TTL", ""),
        settings=tuple(split_list(clauses.get("SETTINGS", ""))),
    )


def _place(match: re.Match[str]) -> tuple[str, str]:
    return match["database"], match["name"]


def _commands(text: str) -> Sequence[str]:
    """The commands; a part without a verb continues the one before (MODIFY SETTING a, b)."""
    found: list[str] = []
    for part in split_list(text):
        if ALTER_COMMAND.match(part) or not found:
            found.append(part)
        else:
            found[-1] += f", {part}"
    return found


def _bracketed(text: str) -> str:
    """The content of the brackets at the start of the text; "" where there are none."""
    if not text.startswith("("):
        return ""
    for i, depth in _depths(text):
        if depth == 0 and i:
            return text[1:i]
    raise StoreError(f"expected brackets that close, got {text[:80]!r}")


def _depths(text: str) -> Iterator[tuple[int, int]]:
    """Each position outside quotes, with the number of brackets that are open after it."""
    depth, quote, is_escaped = 0, "", False
    for i, character in enumerate(text):
        if quote:
            if not is_escaped and character == quote:
                quote = ""
            is_escaped = character == "\\" and not is_escaped
            continue
        if character in "'`\"":
            quote, is_escaped = character, False
            continue
        depth += (character in BRACKETS) - (character in BRACKETS.values())
        yield i, depth
