"""The store: connection, migrations, and all SQL that reads or writes it."""

from rt4chart_collector.store.connect import Client, connect
from rt4chart_collector.store.migrate import migrate
from rt4chart_collector.store.rollup import repair_rollup
from rt4chart_collector.store.spans import insert_spans, spans_of
from rt4chart_collector.store.unverified import unverified_traces
from rt4chart_collector.store.verdicts import already_decided, insert_verdicts

__all__ = [
    "Client",
    "already_decided",
    "connect",
    "insert_spans",
    "insert_verdicts",
    "migrate",
    "repair_rollup",
    "spans_of",
    "unverified_traces",
]
