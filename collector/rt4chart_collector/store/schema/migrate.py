"""Migrations: their files, their plan for one database, and its execution."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files

from otel_rt4chart.core.errors import NoStoreError, StoreError
from rt4chart_collector.core.retention import Retention
from rt4chart_collector.store.engine.connect import CLUSTER_SETTINGS, Client
from rt4chart_collector.store.schema.cluster import (
    cluster_statements,
    kept_whole,
    sharding_keys,
)
from rt4chart_collector.store.schema.ddl import TABLE, AlterTable, parse_statement
from rt4chart_collector.store.schema.retention import ttl_changes, with_ttl

LEDGER_TABLE = "rt4chart_schema_migrations"
LEDGER = """
CREATE TABLE IF NOT EXISTS {database}.rt4chart_schema_migrations (
    Id UInt32, Name String, Checksum String, AppliedAt DateTime64(3, 'UTC') DEFAULT now64(3)
) ENGINE = ReplacingMergeTree(AppliedAt) ORDER BY Id
"""
FILE_NAME = re.compile(r"(\d{4})_(\w+)\.sql")
# The end of a migration's name that makes new tables, and new columns with a default, alone. An
# earlier version goes on beside it, for as long as the processes of a deployment are updated.
ADDITIVE = "_additive"


@dataclass(frozen=True, slots=True)
class Migration:
    """One numbered file; settings do not change the checksum, which is of the template."""

    number: int
    name: str
    template: str

    @property
    def checksum(self) -> str:
        """SHA-256 of the file, in hex."""
        return hashlib.sha256(self.template.encode()).hexdigest()

    @property
    def is_additive(self) -> bool:
        """True if the version before this migration works with the tables after it."""
        return self.name.endswith(ADDITIVE)

    def statements(self, values: dict[str, str]) -> list[str]:
        """The file's statements with its placeholders filled in, comments left out."""
        text = "\n".join(
            line for line in self.template.splitlines() if not line.lstrip().startswith("--")
        )
        for name, value in values.items():
            text = text.replace("{" + name + "}", value)
        return [part.strip() for part in text.split(";") if part.strip()]


@dataclass(frozen=True, slots=True)
class SchemaVariant:
    """The database that statements are made for: on one server, or on all servers of a cluster.

    `whole` are tables that it has whole on every server and a new one shards.
    """

    database: str
    cluster: str = ""
    retention: Retention = field(default_factory=Retention)
    embedding_width: int = 256
    whole: frozenset[str] = frozenset()

    def ledger_statements(self) -> list[str]:
        """The statements that come first: the database on every server, and the ledger."""
        ledger = LEDGER.replace("{database}", self.database).strip()
        if not self.cluster:
            return [ledger]
        everywhere = f"CREATE DATABASE IF NOT EXISTS {self.database} ON CLUSTER '{self.cluster}'"
        return [everywhere, *cluster_statements(ledger, {}, self.cluster)]

    def statements(self, migration: Migration, among: Sequence[Migration]) -> list[str]:
        """The statements of one migration; `among` are all of them, which say what is sharded."""
        single = self._single(migration)
        if not self.cluster:
            return single
        keys = sharding_keys(
            statement for migration in among for statement in self._single(migration)
        )
        sharding = {name: key for name, key in keys.items() if name not in self.whole}
        return [
            clustered
            for statement in single
            for clustered in cluster_statements(statement, sharding, self.cluster)
        ]

    def tables(self, among: Sequence[Migration]) -> set[str]:
        """The names of the tables that the migrations create on a single server."""
        matches = (
            TABLE.match(statement) for migration in among for statement in self._single(migration)
        )
        return {match["name"] for match in matches if match}

    def script(self, among: Sequence[Migration]) -> Iterator[str]:
        """Every statement of every migration, for applying them by hand."""
        yield from self.ledger_statements()
        for migration in among:
            yield from self.statements(migration, among)
            yield (
                f"INSERT INTO {self.database}.{LEDGER_TABLE} (Id, Name, Checksum) "  # noqa: S608 - ours
                f"VALUES ({migration.number}, '{migration.name}', '{migration.checksum}')"
            )

    def _single(self, migration: Migration) -> list[str]:
        values = {
            "database": self.database,
            "ttl_days": str(self.retention.others),
            "rollup_ttl_days": str(self.retention.rollup),
            "embedding_width": str(self.embedding_width),
        }
        return [with_ttl(self.retention, statement) for statement in migration.statements(values)]


def shipped_migrations() -> list[Migration]:
    """The migrations of this version, in order."""
    folder = files("rt4chart_collector.store.schema") / "migrations"
    found = ((FILE_NAME.fullmatch(file.name), file) for file in folder.iterdir())
    return sorted(
        (Migration(int(m[1]), m[2], file.read_text("utf-8")) for m, file in found if m),
        key=lambda migration: migration.number,
    )


ENGINES = "SELECT name, engine_full FROM system.tables WHERE database = {db:String}"
# The first of the migrations with which versions before 0.1.0 made their databases.
UNRELEASED_MIGRATION = "spans_verdicts_issues"
# ClickHouse's names for these errors, from ErrorCodes.cpp.
MISSING_OBJECT = re.compile(r"\((UNKNOWN_TABLE|UNKNOWN_DATABASE|UNKNOWN_IDENTIFIER)\)")
CLUSTER_OF = re.compile(r"Distributed\('(?P<cluster>[^']+)'")

Applied = Mapping[int, tuple[str, str]]


@dataclass(frozen=True, slots=True)
class MigrationStep:
    """A missing migration with its statements for this database."""

    migration: Migration
    statements: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class MigrationPlan:
    """The statements that bring a database to this version.

    `ledger` creates the table of applied migrations where it is missing, `retention` changes TTLs,
    `applied` are the migrations that the database has already. It `is_newer` with further ones,
    additive ones of a later version.
    """

    variant: SchemaVariant
    ledger: tuple[str, ...]
    steps: tuple[MigrationStep, ...]
    retention: tuple[str, ...]
    applied: tuple[Migration, ...]
    is_newer: bool

    @property
    def statements(self) -> list[str]:
        """Every statement, in order."""
        return [
            *self.ledger,
            *(statement for step in self.steps for statement in step.statements),
            *self.retention,
        ]


def is_schema_missing(error: StoreError) -> bool:
    """Whether a read failed because a database, table or column of this version is missing."""
    return isinstance(error, NoStoreError) or MISSING_OBJECT.search(str(error)) is not None


def migrate(
    client: Client,
    *,
    retention: Retention | None = None,
    cluster: str | None = None,
    embedding_width: int = 256,
    migrations: Sequence[Migration] | None = None,
) -> list[int]:
    """Bring the client's database to this version; return the numbers of the applied migrations.

    Without a retention, existing tables keep theirs. `cluster` is the name of the servers' cluster,
    empty for a single server; None keeps the kind of the database. A guest (`Client.is_guest`) only
    checks the version. Raises StoreError where the file of an applied migration has changed, where
    the database is newer than this version, unless by additive migrations, or older than 0.1.0, or
    where it is of the other kind.
    """
    migrations = shipped_migrations() if migrations is None else migrations
    plan = plan_migrations(
        client,
        retention=retention,
        cluster=cluster,
        embedding_width=embedding_width,
        migrations=migrations,
    )
    if not client.is_guest:
        apply_plan(client, plan)
    elif plan.steps:
        missing = plan.steps[0].migration
        raise StoreError(
            f"{client.target.display_name} lacks migration {missing.number:04} ({missing.name}): "
            "the service that owns it is older than this command; restart it with this version"
        )
    return [] if client.is_guest else [step.migration.number for step in plan.steps]


def plan_migrations(
    client: Client,
    *,
    retention: Retention | None = None,
    cluster: str | None = None,
    embedding_width: int = 256,
    migrations: Sequence[Migration],
) -> MigrationPlan:
    """Plan what `migrate` would do, without changes; raises the same errors."""
    rows = client.query(ENGINES, {"db": client.database}).result_rows
    engines: dict[str, str] = dict(map(tuple, rows))
    applied = _applied(client) if LEDGER_TABLE in engines else {}
    _check_applied(client, migrations, applied)
    variant = SchemaVariant(
        client.database,
        _cluster(client, engines, cluster),
        retention or Retention(),
        embedding_width,
        kept_whole(engines),
    )
    missing = [migration for migration in migrations if migration.number not in applied]
    return MigrationPlan(
        variant,
        ledger=() if LEDGER_TABLE in engines else tuple(variant.ledger_statements()),
        steps=tuple(
            MigrationStep(migration, tuple(variant.statements(migration, migrations)))
            for migration in missing
        ),
        retention=tuple(
            ttl_changes(
                retention,
                engines,
                variant.tables(migrations),
                database=variant.database,
                cluster=variant.cluster,
            )
            if retention
            else ()
        ),
        applied=tuple(migration for migration in migrations if migration.number in applied),
        is_newer=bool(applied.keys() - {migration.number for migration in migrations}),
    )


def apply_plan(client: Client, plan: MigrationPlan) -> None:
    """Execute the plan; a migration enters the ledger after its last statement.

    Statements are repeatable (IF NOT EXISTS), so a migration that was interrupted starts again, and
    so do all of them where the ledger is lost.
    """
    if plan.variant.cluster:
        client.set_settings(CLUSTER_SETTINGS)
    for statement in plan.ledger:
        client.command(statement)
    for step in plan.steps:
        for statement in step.statements:
            if needed := without_shorter_key(client, statement):
                client.command(needed)
        migration = step.migration
        client.insert(
            LEDGER_TABLE,
            [[migration.number, migration.name, migration.checksum]],
            ["Id", "Name", "Checksum"],
        )
    for statement in plan.retention:
        client.command(statement)


SORTING_KEY = """
SELECT sorting_key FROM system.tables WHERE database = {db:String} AND name = {table:String}
"""
MODIFIED_KEY = re.compile(r",?\s*MODIFY ORDER BY \((?P<key>[^()]*)\)")


def without_shorter_key(client: Client, statement: str) -> str:
    """The statement without a sorting key that the table's own begins with; "" if nothing is left.

    A later migration has made the key longer: to shorten it would merge rows that differ.
    """
    match = MODIFIED_KEY.search(statement)
    made = parse_statement(statement) if match else None
    if match is None or not isinstance(made, AlterTable):
        return statement
    rows = client.query(SORTING_KEY, {"db": made.database, "table": made.name}).result_rows
    if not rows or not f"{rows[0][0]}, ".startswith(f"{match['key']}, "):
        return statement
    others = [command for command in made.commands if not command.startswith("MODIFY ORDER BY")]
    return statement.replace(match[0], "", 1) if others else ""


def _applied(client: Client) -> dict[int, tuple[str, str]]:
    rows = client.query(f"SELECT Id, Name, Checksum FROM {LEDGER_TABLE} FINAL")  # noqa: S608 - ours
    return {number: (name, checksum) for number, name, checksum in rows.result_rows}


def _cluster(client: Client, engines: Mapping[str, str], requested: str | None) -> str:
    """The cluster's name, read from the existing tables if there are any."""
    found = CLUSTER_OF.match(engines.get("otel_traces", ""))
    live = found["cluster"] if found else ""
    if requested is None or requested == live or LEDGER_TABLE not in engines:
        return live if requested is None else requested
    kinds = [
        f"of the cluster {name!r}" if name else "of a single server" for name in (live, requested)
    ]
    raise StoreError(
        f"{client.target.display_name} has the tables {kinds[0]}, and RT4CHART_CLUSTER asks for "
        f"those {kinds[1]}: set it to {live!r}, or name a new database in RT4CHART_DSN"
    )


def _check_applied(client: Client, migrations: Sequence[Migration], applied: Applied) -> None:
    database = client.target.display_name
    if UNRELEASED_MIGRATION in (name for name, _ in applied.values()):
        raise StoreError(
            f"{database} was made by a version before 0.1.0, which this version cannot "
            "upgrade: export its rows with that version (rt4chart export), then point "
            "RT4CHART_DSN at a new database"
        )
    known = {migration.number: migration.checksum for migration in migrations}
    for number, (name, checksum) in sorted(applied.items()):
        if number not in known and not name.endswith(ADDITIVE):
            raise StoreError(
                f"{database} has migration {number:04} ({name}), which this version "
                "does not know: a newer otel-rt4chart made it; update this one"
            )
        if known.get(number, checksum) != checksum:
            raise StoreError(
                f"{database}: migration {number:04} ({name}) was applied with another "
                f"text (checksum {checksum[:12]}, expected {known[number][:12]}); restore the file "
                "that was applied, or point RT4CHART_DSN at a new database"
            )
