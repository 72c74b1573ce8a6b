"""The migration files, and their statements for a single server or for a cluster."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from importlib.resources import files

from rt4chart_collector.core.retention import Retention
from rt4chart_collector.store.schema.cluster import clustered, sharding_of
from rt4chart_collector.store.schema.ddl import TABLE
from rt4chart_collector.store.schema.retention import with_ttl

LEDGER_TABLE = "rt4chart_schema_migrations"
LEDGER = """
CREATE TABLE IF NOT EXISTS {database}.rt4chart_schema_migrations (
    Id UInt32, Name String, Checksum String, AppliedAt DateTime64(3, 'UTC') DEFAULT now64(3)
) ENGINE = ReplacingMergeTree(AppliedAt) ORDER BY Id
"""
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


@dataclass(frozen=True, slots=True)
class Variant:
    """The database that the statements are for; with a cluster's name, for all of its servers."""

    database: str
    cluster: str = ""
    retention: Retention = field(default_factory=Retention)
    embedding_width: int = 256

    def first(self) -> list[str]:
        """The statements before all others: the database on every server, the ledger."""
        ledger = LEDGER.replace("{database}", self.database).strip()
        if not self.cluster:
            return [ledger]
        everywhere = f"CREATE DATABASE IF NOT EXISTS {self.database} ON CLUSTER '{self.cluster}'"
        return [everywhere, *clustered(ledger, {}, self.cluster)]

    def statements(self, migration: Migration, among: Sequence[Migration]) -> list[str]:
        """The statements of one of the migrations; all of them together say what is sharded."""
        plain = self._single(migration)
        if not self.cluster:
            return plain
        sharding = sharding_of(one for each in among for one in self._single(each))
        return [made for one in plain for made in clustered(one, sharding, self.cluster)]

    def tables(self, among: Sequence[Migration]) -> set[str]:
        """The names of the tables that the migrations make, as on a single server."""
        matches = (TABLE.match(one) for each in among for one in self._single(each))
        return {match["name"] for match in matches if match}

    def script(self, among: Sequence[Migration]) -> Iterator[str]:
        """Every statement of every migration, for applying them by hand."""
        yield from self.first()
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
        return [with_ttl(self.retention, one) for one in migration.statements(values)]


def shipped() -> list[Migration]:
    """The migrations of this version, in order."""
    folder = files("rt4chart_collector.store.schema") / "migrations"
    found = ((FILE_NAME.fullmatch(file.name), file) for file in folder.iterdir())
    return sorted(
        (Migration(int(m[1]), m[2], file.read_text("utf-8")) for m, file in found if m),
        key=lambda migration: migration.number,
    )
