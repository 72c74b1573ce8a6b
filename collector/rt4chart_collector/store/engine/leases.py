"""Leases: mutual exclusion between processes, over a database without locks.

A lease is a row. A process writes its row and then reads the others: if another process has an
unexpired row, it releases its own.

A server shows a completed write to every later read. So of two processes at least one sees the
other: both may release, but both never continue while their clocks agree to within the rest of a
lease. A row that ends later than any lease can is from a clock far ahead, and is ignored. On a
cluster a replica may lag, and two processes may continue: the guarded work must tolerate that.
"""

from __future__ import annotations

import os
import secrets
import socket
from dataclasses import dataclass
from typing import Annotated

from rt4chart_collector.store.engine.columns import Version
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.rows import (
    LOW_CARDINALITY,
    TIME_MS,
    RowTable,
    StoredAs,
    batch_token,
    read_int,
)


@dataclass(frozen=True, slots=True)
class Lease:
    """A lease of a holder until a time, or one that was given back then.

    Of the holder's rows the highest version counts.
    """

    name: Annotated[str, StoredAs("Name", LOW_CARDINALITY)]
    holder: Annotated[str, StoredAs("Holder", "String")]
    until_ns: Annotated[int, StoredAs("Until", TIME_MS)]
    version: Version
    is_released: Annotated[bool, StoredAs("IsReleased", "UInt8")] = False


LEASES = RowTable("rt4chart_leases", Lease)
OTHER_HOLDERS = """
SELECT Holder FROM rt4chart_leases FINAL
WHERE Name = {name:String} AND Holder != {holder:String} AND IsReleased = 0
  AND Until > fromUnixTimestamp64Milli({now:Int64})
  AND Until <= fromUnixTimestamp64Milli({latest:Int64})
"""
LAST_VERSION = """
SELECT max(Version) FROM rt4chart_leases WHERE Name = {name:String} AND Holder = {holder:String}
"""
MS = 1_000_000
# The longest lease is three hours: the monitor's, with rounds an hour apart. The fourth hour is for
# clocks that disagree.
LONGEST_NS = 4 * 3600 * 10**9


def new_holder() -> str:
    """A name that no other process and no other part of this one has: host, process and chance."""
    return f"{socket.gethostname()}/{os.getpid()}/{secrets.token_hex(4)}"


def acquire_lease(client: Client, name: str, holder: str, *, now_ns: int, for_ns: int) -> bool:
    """Acquire or extend a lease; False if another process holds it, then this holder has none."""
    if _is_held_by_another(client, name, holder, now_ns, for_ns):
        return False
    _write_lease(client, name, holder, until_ns=now_ns + for_ns, now_ns=now_ns)
    if not _is_held_by_another(client, name, holder, now_ns, for_ns):
        return True
    release_lease(client, name, holder, now_ns=now_ns)
    return False


def release_lease(client: Client, name: str, holder: str, *, now_ns: int) -> None:
    """End a lease before its time, for clocks that are behind too."""
    _write_lease(client, name, holder, until_ns=now_ns, now_ns=now_ns, is_released=True)


def _is_held_by_another(client: Client, name: str, holder: str, now_ns: int, for_ns: int) -> bool:
    latest_ns = now_ns + max(for_ns, LONGEST_NS)
    parameters = {"name": name, "holder": holder, "now": now_ns // MS, "latest": latest_ns // MS}
    return bool(client.query(OTHER_HOLDERS, parameters).result_rows)


def _write_lease(
    client: Client,
    name: str,
    holder: str,
    *,
    until_ns: int,
    now_ns: int,
    is_released: bool = False,
) -> None:
    """Replace this holder's earlier row, even if the clock was set back since."""
    known = read_int(client, LAST_VERSION, {"name": name, "holder": holder})
    version = max(now_ns, int(known) + 1)
    token = batch_token("lease", [(name, holder, until_ns, version)])
    LEASES.insert(client, [Lease(name, holder, until_ns, version, is_released)], token=token)
