"""Which traces are whose, where several processes search the same store."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from dataclasses import dataclass

# The engine's CRC32 is zlib's.
OURS = "CRC32(TraceId) % {shares:UInt32} IN {ours:Array(UInt32)}"


@dataclass(frozen=True, slots=True)
class Share:
    """The traces whose hash modulo `count` is among `ours`; unless told otherwise, all."""

    count: int = 1
    ours: frozenset[int] = frozenset({0})

    def part_of(self, trace_id: str) -> int:
        """The number that decides."""
        return zlib.crc32(trace_id.encode()) % self.count

    @property
    def parameters(self) -> Mapping[str, object]:
        """The values for the condition `OURS`."""
        return {"shares": self.count, "ours": sorted(self.ours)}


ALL = Share()
