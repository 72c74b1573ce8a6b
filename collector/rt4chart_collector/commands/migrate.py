"""`rt4chart migrate`: apply or show schema migrations without the service."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from otel_rt4chart.core.errors import NoStoreError
from otel_rt4chart.core.settings import load
from rt4chart_collector.core.settings import ServiceSettings
from rt4chart_collector.store.engine.connect import Client, connect
from rt4chart_collector.store.engine.dsn import parse_dsn
from rt4chart_collector.store.schema.compare_schema import schema_differences
from rt4chart_collector.store.schema.migrate import (
    Migration,
    MigrationPlan,
    SchemaVariant,
    apply_plan,
    plan_migrations,
    shipped_migrations,
)

MACRO = "{cluster}"


def execute(options: argparse.Namespace) -> int:
    """Apply missing migrations, and print how the tables differ from the migrations."""
    settings, migrations = load(ServiceSettings, {"dsn": options.dsn}), shipped_migrations()
    if options.print:
        sys.stdout.write("".join(script(settings, options.print, migrations)))
        return 0
    target = parse_dsn(settings.dsn)
    absent = f"{target.display_name} does not exist: {count_text(migrations)} to apply\n"
    # Connecting would create an embedded database, which a dry run must not do.
    if options.dry_run and target.path and not (Path(target.path) / "status").exists():
        sys.stdout.write(absent)
        return 0
    try:
        connection = connect(settings.dsn, creates=not options.dry_run)
    except NoStoreError:
        sys.stdout.write(absent)
        return 0
    with connection as client:
        plan = _planned(client, settings, migrations)
        if options.dry_run:
            sys.stdout.write("".join(f"{line}\n" for line in plan_lines(plan)))
        else:
            _applied(client, plan)
        differences = schema_differences(client, migrations)
    sys.stderr.write("".join(f"{line}\n" for line in differences))
    if differences:
        many = f"{len(differences)} difference{'s' * (len(differences) != 1)}"
        sys.stderr.write(f"{many} from the migrations: see docs/deploy/database.md\n")
    return int(bool(differences))


def script(settings: ServiceSettings, kind: str, migrations: Sequence[Migration]) -> Iterator[str]:
    """The statements of one kind of database, for somebody who applies them by hand."""
    variant = SchemaVariant(
        parse_dsn(settings.dsn).database,
        (settings.cluster or MACRO) if kind == "cluster" else "",
        settings.retention,
    )
    if not variant.cluster:
        yield f"CREATE DATABASE IF NOT EXISTS {variant.database};\n\n"
    for statement in variant.script(migrations):
        yield f"{statement};\n\n"


def plan_lines(plan: MigrationPlan) -> Iterator[str]:
    """The migrations and statements of the plan."""
    for step in plan.steps:
        yield f"migration {step.migration.number:04} ({step.migration.name}) is missing"
    if plan.retention:
        yield f"{len(plan.retention)} tables change their retention"
    if not plan.statements:
        yield f"up to date: {count_text(plan.applied)}"
    for statement in plan.statements:
        yield f"\n{statement};"


def count_text(migrations: Sequence[Migration]) -> str:
    """The number of migrations as text."""
    return f"{len(migrations)} migration{'s' * (len(migrations) != 1)}"


def _planned(
    client: Client, settings: ServiceSettings, migrations: Sequence[Migration]
) -> MigrationPlan:
    return plan_migrations(
        client,
        retention=settings.retention,
        cluster=settings.cluster,
        migrations=migrations,
    )


def _applied(client: Client, plan: MigrationPlan) -> None:
    """Apply the plan; in a database that a service owns, only the service may apply it."""
    if client.is_guest:
        late = f"{len(plan.steps)}; restart it with this version" if plan.steps else "none"
        sys.stdout.write(
            f"a service owns {client.target.display_name}; missing migrations: {late}\n"
        )
        return
    apply_plan(client, plan)
    for step in plan.steps:
        sys.stdout.write(f"applied {step.migration.number:04} ({step.migration.name})\n")
    if plan.retention:
        sys.stdout.write(f"{len(plan.retention)} tables change their retention\n")
    if not plan.statements:
        sys.stdout.write(f"up to date: {count_text(plan.applied)}\n")
