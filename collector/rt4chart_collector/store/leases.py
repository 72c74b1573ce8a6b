"""What only one process may do at a time, over a database that knows no locks.

A lease is a row. Whoever wants one writes it and then looks: who sees another's row that still
holds takes the own one back.

On one server what was written is seen by whoever looks later: of two at least one sees the other,
so both may give way, but both do not go on as long as their clocks agree to within the time that a
lease has left. One that ends later than any can was written by a clock that was far ahead, and
holds nobody off. On a cluster a copy may lag behind the one that was written to, as replication
does not wait, and two may go on: what a lease guards has to bear that.
"""

from __future__ import annotations

from rt4chart_collector.store.connect import Client
from rt4chart_collector.store.layout import NAME, Layout, token_of

LEASES = Layout(
    "rt4chart_leases",
    (
        ("Name", NAME),
        ("Holder", "String"),
        ("Until", "DateTime64(3, 'UTC')"),
        ("Version", "UInt64"),
    ),
)
OTHERS = """
SELECT Holder FROM rt4chart_leases FINAL
WHERE Name = {name:String} AND Holder != {holder:String}
  AND Until > fromUnixTimestamp64Milli({now:Int64})
  AND Until <= fromUnixTimestamp64Milli({latest:Int64})
"""
KNOWN = """
SELECT max(Version) FROM rt4chart_leases WHERE Name = {name:String} AND Holder = {holder:String}
"""
MS = 1_000_000
# The longest lease that anybody takes is three hours, the monitor's with rounds an hour apart; an
# hour more is for clocks that do not agree.
LONGEST_NS = 4 * 3600 * 10**9


def take(client: Client, name: str, holder: str, *, now_ns: int, for_ns: int) -> bool:
    """Take or prolong a lease; False where another holds it, and then this holder does not."""
    if _others(client, name, holder, now_ns, for_ns):
        return False
    _write(client, name, holder, until_ns=now_ns + for_ns, now_ns=now_ns)
    if not _others(client, name, holder, now_ns, for_ns):
        return True
    give_back(client, name, holder, now_ns=now_ns)
    return False


def give_back(client: Client, name: str, holder: str, *, now_ns: int) -> None:
    """End a lease before its time."""
    _write(client, name, holder, until_ns=now_ns, now_ns=now_ns)


def _others(client: Client, name: str, holder: str, now_ns: int, for_ns: int) -> bool:
    latest_ns = now_ns + max(for_ns, LONGEST_NS)
    given = {"name": name, "holder": holder, "now": now_ns // MS, "latest": latest_ns // MS}
    return bool(client.query(OTHERS, given).result_rows)


def _write(client: Client, name: str, holder: str, *, until_ns: int, now_ns: int) -> None:
    """In place of what this holder wrote before, whatever time that was by its clock."""
    known = client.query(KNOWN, {"name": name, "holder": holder}).result_rows[0][0]
    version = max(now_ns, int(known) + 1)
    token = token_of("lease", [(name, holder, until_ns, version)])
    LEASES.insert(client, [(name, holder, until_ns // MS, version)], token=token)
