"""`rt4chart repair`: find damaged parts of tables, and set them aside if asked."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from otel_rt4chart.core.settings import load
from rt4chart_collector.core.settings import ServiceSettings
from rt4chart_collector.store.engine.connect import Client, connect
from rt4chart_collector.store.engine.damage import DamagedPart, check_parts, detach
from rt4chart_collector.store.engine.ownership import connect_owner, own_path

ADVICE = (
    "restore the database from a backup (docs/deploy/layouts.md), or give up these rows with "
    "`rt4chart repair --detach`"
)


def execute(options: argparse.Namespace) -> int:
    """Read all parts; with `--detach`, in a database that no service owns, set damaged ones aside.

    A running service would go on with what it has read before.
    """
    dsn = load(ServiceSettings, {"dsn": options.dsn}).dsn
    if options.detach:
        with own_path(dsn), connect_owner(dsn) as client:
            return _detached(client, list(check_parts(client)))
    with connect(dsn, creates=False) as client:
        return _listed(list(check_parts(client)))


def _listed(found: Sequence[DamagedPart]) -> int:
    if not found:
        sys.stdout.write("no part is damaged\n")
        return 0
    sys.stdout.write("".join(f"{part}\n" for part in found) + f"nothing was changed: {ADVICE}\n")
    return 1


def _detached(client: Client, found: Sequence[DamagedPart]) -> int:
    for part in found:
        detach(client, part)
        sys.stdout.write(f"detached {part}\n")
    if not found:
        sys.stdout.write("no part is damaged\n")
    return 0
