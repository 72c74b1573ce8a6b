"""Which routes this process watches: several monitors on one database divide them.

Routes fall into shards by their names. A process watches a shard only while it holds the shard's
lease, so at most one does. Which one should, rendezvous hashing tells of the processes that live:
each of them leases its own, and gives back those that another one should have. One process more, or
less, moves only the shards that are its own.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import blake2b

from rt4chart_collector.detect.drift.finding import RouteKey
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.leases import (
    acquire_leases,
    join_group,
    live_holders,
    release_leases,
)
from rt4chart_collector.store.rates.ticks import SHARDS

# What only one process does that is not about one route: issues, labels, health and sums.
LEADER = "monitor"
MEMBERS = "monitor/members"
ALL_SHARDS = frozenset(range(SHARDS))


def shard_of(key: RouteKey) -> int:
    """The shard of a route; `ticks.IN_SHARDS` is the same in SQL."""
    return zlib.crc32("\0".join(key).encode()) % SHARDS


def wanted_shards(holder: str, members: Sequence[str]) -> frozenset[int]:
    """The shards that this process should have, of those that live."""
    return frozenset(
        shard
        for shard in ALL_SHARDS
        if holder == max(members, key=lambda member: (_weight(shard, member), member))
    )


def _weight(shard: int, member: str) -> bytes:
    return blake2b(f"{shard} {member}".encode(), digest_size=8).digest()


def _lease(shard: int) -> str:
    return f"{LEADER}/{shard:02}"


LEASES = {_lease(shard): shard for shard in sorted(ALL_SHARDS)}


@dataclass(slots=True)
class MonitorShards:
    """The shards and the leadership that one process holds; for one thread."""

    client: Client
    holder: str
    lease_ns: int
    held: frozenset[int] = frozenset()
    is_leader: bool = False
    members: int = field(default=0)

    @property
    def is_idle(self) -> bool:
        """True where other processes do all there is to do."""
        return not (self.held or self.is_leader)

    def watches(self, key: RouteKey) -> bool:
        """True for a route that this process watches."""
        return shard_of(key) in self.held

    def renew(self, now_ns: int) -> None:
        """Extend the leases of what this process should have, and give back the rest."""
        join_group(self.client, MEMBERS, self.holder, now_ns=now_ns, for_ns=self.lease_ns)
        live = live_holders(self.client, MEMBERS, now_ns=now_ns, for_ns=self.lease_ns)
        leaders = live_holders(self.client, LEADER, now_ns=now_ns, for_ns=self.lease_ns)
        self.members = len(live)
        # A leader that is no member is a monitor of a version that watches all routes.
        wanted = wanted_shards(self.holder, live) if set(leaders) <= set(live) else frozenset()
        names = [LEADER, *(_lease(shard) for shard in sorted(wanted))]
        lost = [_lease(shard) for shard in sorted(self.held - wanted)]
        release_leases(self.client, lost, self.holder, now_ns=now_ns)
        got = acquire_leases(self.client, names, self.holder, now_ns=now_ns, for_ns=self.lease_ns)
        self.is_leader = LEADER in got
        self.held = frozenset(LEASES[name] for name in got if name in LEASES)

    def give_back(self, now_ns: int) -> None:
        """Let the other processes have all of it at once."""
        names = [MEMBERS, LEADER, *(_lease(shard) for shard in sorted(self.held))]
        release_leases(self.client, names, self.holder, now_ns=now_ns)
        self.held, self.is_leader = frozenset(), False
