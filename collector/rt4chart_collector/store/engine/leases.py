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
from collections.abc import Sequence
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
LIVE = """
SELECT Name, Holder FROM rt4chart_leases FINAL
WHERE Name IN {names:Array(String)} AND IsReleased = 0
  AND Until > fromUnixTimestamp64Milli({now:Int64})
  AND Until <= fromUnixTimestamp64Milli({latest:Int64})
ORDER BY Name, Holder
"""
LAST_VERSIONS = """
SELECT Name, max(Version) FROM rt4chart_leases
WHERE Name IN {names:Array(String)} AND Holder = {holder:String} GROUP BY Name
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
    return name in acquire_leases(client, [name], holder, now_ns=now_ns, for_ns=for_ns)


def acquire_leases(
    client: Client, names: Sequence[str], holder: str, *, now_ns: int, for_ns: int
) -> frozenset[str]:
    """Acquire or extend each lease that no other process holds; those that this holder then has."""
    taken = _taken(client, names, holder, now_ns, for_ns)
    free = [name for name in names if name not in taken]
    _write_leases(client, free, holder, until_ns=now_ns + for_ns, now_ns=now_ns)
    if not free:
        return frozenset()
    lost = _taken(client, free, holder, now_ns, for_ns)
    release_leases(client, sorted(lost), holder, now_ns=now_ns)
    return frozenset(free) - lost


def join_group(client: Client, name: str, holder: str, *, now_ns: int, for_ns: int) -> None:
    """Hold a lease that any number of processes may hold at once; see `live_holders`."""
    _write_leases(client, [name], holder, until_ns=now_ns + for_ns, now_ns=now_ns)


def live_holders(client: Client, name: str, *, now_ns: int, for_ns: int) -> list[str]:
    """The processes that hold a lease, by name; `for_ns` is the longest time that any takes it."""
    return [holder for _, holder in _live(client, [name], now_ns, for_ns)]


def release_lease(client: Client, name: str, holder: str, *, now_ns: int) -> None:
    """End a lease before its time, for clocks that are behind too."""
    release_leases(client, [name], holder, now_ns=now_ns)


def release_leases(client: Client, names: Sequence[str], holder: str, *, now_ns: int) -> None:
    """The same for several."""
    _write_leases(client, names, holder, until_ns=now_ns, now_ns=now_ns, is_released=True)


def _taken(
    client: Client, names: Sequence[str], holder: str, now_ns: int, for_ns: int
) -> frozenset[str]:
    """Those of the leases that another process holds."""
    live = _live(client, names, now_ns, for_ns)
    return frozenset(name for name, other in live if other != holder)


def _live(client: Client, names: Sequence[str], now_ns: int, for_ns: int) -> list[tuple[str, str]]:
    latest_ns = now_ns + max(for_ns, LONGEST_NS)
    parameters = {"names": list(names), "now": now_ns // MS, "latest": latest_ns // MS}
    rows = client.query(LIVE, parameters).result_rows
    return [(str(name), str(holder)) for name, holder in rows]


def _write_leases(
    client: Client,
    names: Sequence[str],
    holder: str,
    *,
    until_ns: int,
    now_ns: int,
    is_released: bool = False,
) -> None:
    """Replace this holder's earlier rows, even if the clock was set back since."""
    if not names:
        return
    found = client.query(LAST_VERSIONS, {"names": list(names), "holder": holder}).result_rows
    known = {str(name): int(version) for name, version in found}
    rows = [
        Lease(name, holder, until_ns, max(now_ns, known.get(name, 0) + 1), is_released)
        for name in names
    ]
    token = batch_token("lease", [(row.name, holder, until_ns, row.version) for row in rows])
    LEASES.insert(client, rows, token=token)
