"""The stored states of the drift detector, for tests."""

from __future__ import annotations

from rt4chart_collector.store.alerts.drift_states import DRIFT, DriftRow
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.rows import read


def drift_rows(client: Client, *, since_ns: int = 0) -> list[DriftRow]:
    """The stored states of the drift detector since then, by service, route, tick and measure."""
    query = f"SELECT {DRIFT.select()} FROM rt4chart_drift FINAL"  # noqa: S608 - our own names
    rows = [row for row in read(client, DriftRow, query) if row.tick_ns >= since_ns]
    return sorted(rows, key=lambda row: (row.service, row.route, row.tick_ns, row.measure))
