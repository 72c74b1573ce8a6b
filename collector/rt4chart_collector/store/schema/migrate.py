"""Applies the migrations that a database lacks, each once."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from otel_rt4chart.core.errors import NoStoreError, StoreError
from rt4chart_collector.core.retention import Retention
from rt4chart_collector.store.engine.connect import CLUSTER_SETTINGS, Client
from rt4chart_collector.store.schema.migration import LEDGER_TABLE, Migration, Variant, shipped
from rt4chart_collector.store.schema.retention import ttl_changes

__all__ = [
    "Applied",
    "Migration",
    "Plan",
    "Step",
    "apply",
    "is_behind",
    "migrate",
    "planned",
    "shipped",
]
ENGINES = "SELECT name, engine_full FROM system.tables WHERE database = {db:String}"
# The first of the migrations with which versions before 0.1.0 made their databases.
UNRELEASED = "spans_verdicts_issues"
# ClickHouse's names for these errors, from ErrorCodes.cpp.
LACKING = re.compile(r"\((UNKNOWN_TABLE|UNKNOWN_DATABASE|UNKNOWN_IDENTIFIER)\)")
CLUSTER_OF = re.compile(r"Distributed\('(?P<cluster>[^']+)'")

Applied = Mapping[int, tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Step:
    """A migration that is missing, and its statements here."""

    migration: Migration
    statements: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Plan:
    """The steps that bring a database to this version; `applied` are the migrations that it has."""

    variant: Variant
    first: tuple[str, ...]
    steps: tuple[Step, ...]
    retention: tuple[str, ...]
    applied: tuple[Migration, ...]

    @property
    def statements(self) -> list[str]:
        """Every statement, in order."""
        return [*self.first, *(one for s in self.steps for one in s.statements), *self.retention]


def is_behind(error: StoreError) -> bool:
    """True for the error of a read where a database, table or column of this version is missing."""
    return isinstance(error, NoStoreError) or LACKING.search(str(error)) is not None


def migrate(
    client: Client,
    *,
    retention: Retention | None = None,
    cluster: str | None = None,
    embedding_width: int = 256,
    migrations: Sequence[Migration] | None = None,
) -> list[int]:
    """Bring the client's database to this version; the numbers that were applied just now.

    Without a retention, existing tables keep theirs. `cluster` is the name of the servers' cluster,
    empty for a single server; None keeps the kind of the database. A guest changes nothing and only
    checks the version. Raises StoreError where an applied migration was changed since, where the
    database is newer than this version or older than 0.1.0, or of the other kind.
    """
    wanted = shipped() if migrations is None else migrations
    plan = planned(
        client,
        retention=retention,
        cluster=cluster,
        embedding_width=embedding_width,
        migrations=wanted,
    )
    if not client.is_guest:
        apply(client, plan)
    elif plan.steps:
        missing = plan.steps[0].migration
        raise StoreError(
            f"{client.target.shown} lacks migration {missing.number:04} ({missing.name}): "
            "the service that owns it is older than this command; restart it with this version"
        )
    return [] if client.is_guest else [step.migration.number for step in plan.steps]


def planned(
    client: Client,
    *,
    retention: Retention | None = None,
    cluster: str | None = None,
    embedding_width: int = 256,
    migrations: Sequence[Migration],
) -> Plan:
    """What `migrate` would do; nothing is changed. Raises as it does."""
    rows = client.query(ENGINES, {"db": client.database}).result_rows
    engines: dict[str, str] = dict(map(tuple, rows))
    applied = _applied(client) if LEDGER_TABLE in engines else {}
    _refuse_strangers(client, migrations, applied)
    variant = Variant(
        client.database,
        _cluster(client, engines, cluster),
        retention or Retention(),
        embedding_width,
    )
    missing = [one for one in migrations if one.number not in applied]
    return Plan(
        variant,
        first=() if LEDGER_TABLE in engines else tuple(variant.first()),
        steps=tuple(Step(one, tuple(variant.statements(one, migrations))) for one in missing),
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
        applied=tuple(one for one in migrations if one.number in applied),
    )


def apply(client: Client, plan: Plan) -> None:
    """Carry the plan out; each migration is entered in the ledger when all of it is done."""
    if plan.variant.cluster:
        client.keep(CLUSTER_SETTINGS)
    for statement in plan.first:
        client.command(statement)
    for step in plan.steps:
        for statement in step.statements:
            client.command(statement)
        made = step.migration
        client.insert(
            LEDGER_TABLE,
            [[made.number, made.name, made.checksum]],
            ["Id", "Name", "Checksum"],
        )
    for statement in plan.retention:
        client.command(statement)


def _applied(client: Client) -> dict[int, tuple[str, str]]:
    rows = client.query(f"SELECT Id, Name, Checksum FROM {LEDGER_TABLE} FINAL")  # noqa: S608 - ours
    return {number: (name, checksum) for number, name, checksum in rows.result_rows}


def _cluster(client: Client, engines: Mapping[str, str], asked: str | None) -> str:
    """The cluster's name; the tables say it where there are any."""
    found = CLUSTER_OF.match(engines.get("otel_traces", ""))
    live = found["cluster"] if found else ""
    if asked is None or asked == live or LEDGER_TABLE not in engines:
        return live if asked is None else asked
    kinds = [f"of the cluster {name!r}" if name else "of a single server" for name in (live, asked)]
    raise StoreError(
        f"{client.target.shown} has the tables {kinds[0]}, and RT4CHART_CLUSTER asks for those "
        f"{kinds[1]}: set it to {live!r}, or name a new database in RT4CHART_DSN"
    )


def _refuse_strangers(client: Client, wanted: Sequence[Migration], applied: Applied) -> None:
    if UNRELEASED in (name for name, _ in applied.values()):
        raise StoreError(
            f"{client.target.shown} was made by a version before 0.1.0, which this version cannot "
            "upgrade: export its rows with that version (rt4chart export), then point "
            "RT4CHART_DSN at a new database"
        )
    known = {migration.number: migration.checksum for migration in wanted}
    for number, (name, checksum) in sorted(applied.items()):
        if number not in known:
            raise StoreError(
                f"{client.target.shown} has migration {number:04} ({name}), which this version "
                "does not know: a newer otel-rt4chart made it; update this one"
            )
        if known[number] != checksum:
            raise StoreError(
                f"{client.target.shown}: migration {number:04} ({name}) was applied with another "
                f"text (checksum {checksum[:12]}, expected {known[number][:12]}); restore the file "
                "that was applied, or point RT4CHART_DSN at a new database"
            )
