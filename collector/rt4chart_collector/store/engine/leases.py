"""Leases: work that one process at a time may do, over a database without locks.

A lease is a row. A process writes its row and then looks for others: where another process has a
row that still holds, it takes its own back.

A server shows what was written to every later reader. Of two processes at least one sees the other,
so both may give way, but both never go on while their clocks agree to within the rest of a lease.
A row that ends later than any lease can was written by a clock far ahead, and is ignored. On a
cluster a replica may lag, and two processes may go on: what a lease guards has to tolerate that.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from rt4chart_collector.store.engine.columns import Version
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.rows import (
    LOW_CARDINALITY,
    TIME_MS,
    RowTable,
    StoredAs,
    deduplication_token,
    read_int,
)


@dataclass(frozen=True, slots=True)
class Lease:
    """A name that a holder has until a time; the version orders what the holder wrote."""

    name: Annotated[str, StoredAs("Name", LOW_CARDINALITY)]
    holder: Annotated[str, StoredAs("Holder", "String")]
    until_ns: Annotated[int, StoredAs("Until", TIME_MS)]
    version: Version


LEASES = RowTable("rt4chart_leases", Lease)
OTHER_HOLDERS = """
SELECT Holder FROM rt4chart_leases FINAL
WHERE Name = {name:String} AND Holder != {holder:String}
  AND Until > fromUnixTimestamp64Milli({now:Int64})
  AND Until <= fromUnixTimestamp64Milli({latest:Int64})
"""
LAST_VERSION = """
SELECT max(Version) FROM rt4chart_leases WHERE Name = {name:String} AND Holder = {holder:String}
"""
MS = 1_000_000
# The longest lease is three hours, the monitor's with rounds an hour apart; the hour more is for
# clocks that disagree.
LONGEST_NS = 4 * 3600 * 10**9


def acquire_lease(client: Client, name: str, holder: str, *, now_ns: int, for_ns: int) -> bool:
    """Take or prolong a lease; False where another holds it, and then this holder does not."""
    if _is_held_by_another(client, name, holder, now_ns, for_ns):
        return False
    _write_lease(client, name, holder, until_ns=now_ns + for_ns, now_ns=now_ns)
    if not _is_held_by_another(client, name, holder, now_ns, for_ns):
        return True
    release_lease(client, name, holder, now_ns=now_ns)
    return False


def release_lease(client: Client, name: str, holder: str, *, now_ns: int) -> None:
    """End a lease before its time."""
    _write_lease(client, name, holder, until_ns=now_ns, now_ns=now_ns)


def _is_held_by_another(client: Client, name: str, holder: str, now_ns: int, for_ns: int) -> bool:
    latest_ns = now_ns + max(for_ns, LONGEST_NS)
    given = {"name": name, "holder": holder, "now": now_ns // MS, "latest": latest_ns // MS}
    return bool(client.query(OTHER_HOLDERS, given).result_rows)


def _write_lease(client: Client, name: str, holder: str, *, until_ns: int, now_ns: int) -> None:
    """Replace what this holder wrote before, whatever its clock said then."""
    known = read_int(client, LAST_VERSION, {"name": name, "holder": holder})
    version = max(now_ns, int(known) + 1)
    token = deduplication_token("lease", [(name, holder, until_ns, version)])
    LEASES.insert(client, [Lease(name, holder, until_ns, version)], token=token)
