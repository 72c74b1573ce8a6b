"""The store: connection, migrations, and all SQL that reads or writes it."""

from rt4chart_collector.store.answers.spans import insert_spans, spans_of, unverified_traces
from rt4chart_collector.store.answers.verdicts import already_decided, insert_verdicts
from rt4chart_collector.store.engine.connect import Client, connect
from rt4chart_collector.store.rates.rollup import repair_rollup
from rt4chart_collector.store.schema.migrate import migrate

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
