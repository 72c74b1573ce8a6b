"""Conditions that many queries share: on services and routes, and on a part of the traces."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from dataclasses import dataclass

# None is any service or route; "" is a name like any other.
OF_SCOPE = """({any_service:UInt8} OR ServiceName = {service:String})
      AND ({any_route:UInt8} OR Route = {route:String})"""
# The engine's CRC32 is zlib's.
OURS = "CRC32(TraceId) % {shares:UInt32} IN {ours:Array(UInt32)}"


def scope(service: str | None, route: str | None) -> dict[str, object]:
    """The parameters of `OF_SCOPE`."""
    return {
        "any_service": int(service is None),
        "service": service or "",
        "any_route": int(route is None),
        "route": route or "",
    }


@dataclass(frozen=True, slots=True)
class Share:
    """The traces whose hash modulo `count` is among `ours`; all of them by default.

    Several processes that search one store each take their own share.
    """

    count: int = 1
    ours: frozenset[int] = frozenset({0})

    def part_of(self, trace_id: str) -> int:
        """The number that decides."""
        return zlib.crc32(trace_id.encode()) % self.count

    @property
    def parameters(self) -> Mapping[str, object]:
        """The parameters of `OURS`."""
        return {"shares": self.count, "ours": sorted(self.ours)}


ALL = Share()
