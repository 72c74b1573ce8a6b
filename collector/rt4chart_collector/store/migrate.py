"""The schema: numbered SQL files, each applied once, none changed after it was applied."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files

from otel_rt4chart.errors import StoreError
from rt4chart_collector.store.connect import Client

LEDGER = """
CREATE TABLE IF NOT EXISTS {database}.rt4chart_schema_migrations (
    Id UInt32, Name String, Checksum String, AppliedAt DateTime64(3, 'UTC') DEFAULT now64(3)
) ENGINE = ReplacingMergeTree(AppliedAt) ORDER BY Id
"""
ROLLUP = "rt4chart_route_1m"
RETENTION = re.compile(r"\bTTL (?P<of>.+?) \+ toIntervalDay\((?P<days>\d+)\)")
FILE_NAME = re.compile(r"(\d{4})_(\w+)\.sql")


@dataclass(frozen=True, slots=True)
class Migration:
    """One numbered file; the checksum is the template's, so that settings do not change it."""

    number: int
    name: str
    template: str

    @property
    def checksum(self) -> str:
        """SHA-256 of the file, in hex."""
        return hashlib.sha256(self.template.encode()).hexdigest()

    def statements(self, values: dict[str, str]) -> list[str]:
        """The file's statements with its placeholders filled in, comments left out."""
        text = "\n".join(
            line for line in self.template.splitlines() if not line.lstrip().startswith("--")
        )
        for name, value in values.items():
            text = text.replace("{" + name + "}", value)
        return [part.strip() for part in text.split(";") if part.strip()]


def shipped() -> list[Migration]:
    """The migrations of this version, in order."""
    folder = files("rt4chart_collector.store") / "migrations"
    found = ((FILE_NAME.fullmatch(file.name), file) for file in folder.iterdir())
    return sorted(
        (Migration(int(m[1]), m[2], file.read_text("utf-8")) for m, file in found if m),
        key=lambda migration: migration.number,
    )


def migrate(
    client: Client,
    *,
    ttl_days: int = 30,
    rollup_ttl_days: int = 400,
    embedding_width: int = 256,
    migrations: Sequence[Migration] | None = None,
) -> list[int]:
    """Bring the client's database to this version; the numbers that were applied just now.

    A guest leaves the schema to its host and only makes sure that it is this version's. Raises
    StoreError where an applied file reads differently today, or where the database is newer than
    this version.
    """
    wanted = shipped() if migrations is None else migrations
    if client.is_guest:
        _refuse_older(client, wanted)
        return []
    values = {
        "database": client.database,
        "ttl_days": str(ttl_days),
        "rollup_ttl_days": str(rollup_ttl_days),
        "embedding_width": str(embedding_width),
    }
    client.command(LEDGER.replace("{database}", client.database))
    applied = _applied(client)
    _refuse_strangers(client, wanted, applied)
    missing = [migration for migration in wanted if migration.number not in applied]
    for migration in missing:
        for statement in migration.statements(values):
            client.command(statement)
        client.insert(
            "rt4chart_schema_migrations",
            [[migration.number, migration.name, migration.checksum]],
            ["Id", "Name", "Checksum"],
        )
    _keep_for(client, ttl_days=ttl_days, rollup_ttl_days=rollup_ttl_days)
    return [migration.number for migration in missing]


def _refuse_older(client: Client, wanted: Sequence[Migration]) -> None:
    applied = _applied(client)
    _refuse_strangers(client, wanted, applied)
    if missing := [one for one in wanted if one.number not in applied]:
        raise StoreError(
            f"{client.target.shown} lacks migration {missing[0].number:04} ({missing[0].name}): "
            "the service that owns it is older than this command; restart it with this version"
        )


def _applied(client: Client) -> dict[int, tuple[str, str]]:
    rows = client.query("SELECT Id, Name, Checksum FROM rt4chart_schema_migrations FINAL")
    return {number: (name, checksum) for number, name, checksum in rows.result_rows}


def _keep_for(client: Client, *, ttl_days: int, rollup_ttl_days: int) -> None:
    """Let a retention that was set anew hold for the tables that are already there."""
    tables = client.query(
        "SELECT name, create_table_query FROM system.tables WHERE database = {db:String}",
        {"db": client.database},
    ).result_rows
    for name, statement in tables:
        days = rollup_ttl_days if name == ROLLUP else ttl_days
        if (found := RETENTION.search(statement)) and int(found["days"]) != days:
            client.command(f"ALTER TABLE {name} MODIFY TTL {found['of']} + toIntervalDay({days})")


def _refuse_strangers(
    client: Client, wanted: Sequence[Migration], applied: dict[int, tuple[str, str]]
) -> None:
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
