"""Parts of tables that the database could not read when it started."""

from __future__ import annotations

from collections.abc import Mapping

from rt4chart_collector.store.engine.connect import Client

# The engine sets a part aside whose files are damaged, and starts without its rows.
DAMAGED_PARTS = """
SELECT table, count() FROM system.detached_parts
WHERE database = {database:String} AND startsWith(reason, 'broken')
GROUP BY table ORDER BY table
"""
ADVICE = (
    "their rows are missing: restore the database from a backup (docs/deploy/layouts.md), or "
    "remove the parts from the tables' folders detached/ to accept the loss"
)


def damaged_parts(client: Client) -> Mapping[str, int]:
    """The number of damaged parts by table, without tables that have none."""
    found = client.query(DAMAGED_PARTS, {"database": client.database})
    return {str(table): int(parts) for table, parts in found.result_rows}


def describe_damage(found: Mapping[str, int]) -> str:
    """The tables with their damaged parts, as one line; empty without any."""
    return ", ".join(f"{table} ({parts})" for table, parts in found.items())
