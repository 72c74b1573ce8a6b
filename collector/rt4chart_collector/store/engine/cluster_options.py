"""What an operator may ask of a cluster: a look-up of one shard, an insert on several replicas."""

from __future__ import annotations

import logging
import re

from otel_rt4chart.core.errors import StoreError
from rt4chart_collector.store.engine.connect import Client

PRUNING = {"optimize_skip_unused_shards": "1"}
# The tables that others may write: a Collector its spans, and all of them before a shard was added.
LOOKED_UP = ("otel_traces", "rt4chart_verifications")
SHARDED_BY_TRACE = re.compile(r"Distributed\('(?P<cluster>[^']+)', .*, cityHash64\(TraceId\)\)$")
ENGINE = """
SELECT engine_full FROM system.tables WHERE database = {db:String} AND name = {table:String}
"""
WEIGHTS = """
SELECT shard_num, max(shard_weight) FROM system.clusters WHERE cluster = {cluster:String}
GROUP BY shard_num ORDER BY shard_num
"""
# A shard has as many of the numbers that the rest of the hash may be as its weight.
MISPLACED = """
SELECT 1 FROM {table} WHERE Timestamp >= now() - INTERVAL 1 DAY
  AND shardNum() != {{numbers:Array(UInt32)}}[cityHash64(TraceId) % {{all:UInt64}} + 1] LIMIT 1
"""
# Of a day of billions of rows, those that can be read in this time.
BRIEFLY = {"max_execution_time": 10, "timeout_overflow_mode": "break"}

log = logging.getLogger(__name__)


def set_cluster_options(client: Client, *, pruning: bool, quorum: str) -> None:
    """Send the options with each statement of this connection and of its siblings from now on.

    With `pruning`, a look-up by trace asks the shard of the trace alone. It stays off, with a
    warning, where rows of the last day are on other shards: they would not be found. `quorum` is
    the number of replicas that an insert waits for, or "auto" for most of them; empty for one.
    """
    if quorum:
        client.set_settings({"insert_quorum": quorum})
    if not pruning:
        return
    if problem := pruning_problem(client):
        log.warning("RT4CHART_CLUSTER_PRUNING stays off, each look-up asks all shards: %s", problem)
    else:
        client.set_settings(PRUNING)


def pruning_problem(client: Client) -> str:
    """Why a look-up by trace must ask every shard; empty if nothing says so."""
    for table in LOOKED_UP:
        engines = client.query(ENGINE, {"db": client.database, "table": table}).result_rows
        found = SHARDED_BY_TRACE.match(str(engines[0][0])) if engines else None
        if found is None:
            return f"{table} is not a Distributed table by cityHash64(TraceId)"
        try:
            if _is_misplaced(client, table, found["cluster"]):
                return (
                    f"{table} has rows of the last day on another shard than that of their trace, "
                    f"written to {table}_local or before a shard was added"
                )
        except StoreError as error:
            return f"the shards of {table} cannot be read: {error}"
    return ""


def _is_misplaced(client: Client, table: str, cluster: str) -> bool:
    rows = client.query(WEIGHTS, {"cluster": cluster}).result_rows
    numbers = [int(number) for number, weight in rows for _ in range(int(weight))]
    if not numbers:
        raise StoreError(f"system.clusters has no cluster {cluster!r}")
    query = MISPLACED.format(table=table)
    parameters = {"numbers": numbers, "all": len(numbers)}
    return bool(client.query(query, parameters, settings=BRIEFLY).result_rows)
