"""Translates the engine's errors: its code, and the damaged part of a table that it met."""

from __future__ import annotations

import re
import time
from threading import Lock

from otel_rt4chart.core.errors import StoreDamagedError, StoreError

# Codes of the engine for a file of a part that is cut, changed or gone.
DAMAGE_CODES = frozenset(
    {
        *("CHECKSUM_DOESNT_MATCH", "CORRUPTED_DATA", "CANNOT_READ_ALL_DATA", "CANNOT_DECOMPRESS"),
        *("UNKNOWN_CODEC", "TOO_LARGE_SIZE_COMPRESSED", "BAD_SIZE_OF_FILE_IN_DATA_PART"),
        *("NO_FILE_IN_DATA_PART", "FILE_DOESNT_EXIST", "UNEXPECTED_FILE_IN_DATA_PART"),
        *("INCORRECT_DATA", "SIZES_OF_COLUMNS_DOESNT_MATCH", "CANNOT_OPEN_FILE"),
    }
)
# A server adds its version, and the driver the address that it asked.
CODE = re.compile(
    r"\(([A-Z][A-Z0-9_]+)\)(?: \(version [^()]*(?:\([^()]*\))?\))?(?: \(for url [^()]*\))?\s*$"
)
PART = re.compile(r"reading from part (?:\S*/)?([\w-]+)/? in table (?:\S+\.)?`?([\w.-]+?)`? \(")
# A part counts as damaged until nobody has met it for so long: it may have been mended meanwhile.
SEEN_S = 600.0

_lock = Lock()
_seen: dict[tuple[str, str, str], float] = {}


def code_of(message: str) -> str:
    """The engine's name of an error, such as CHECKSUM_DOESNT_MATCH; empty without one."""
    found = CODE.search(message)
    return found[1] if found else ""


def store_error(database: str, error: Exception) -> StoreError:
    """The error of a statement; a damaged part is noted for `seen_damage` of that database."""
    message = str(error)
    code, place = code_of(message), PART.search(message)
    if code not in DAMAGE_CODES or place is None:
        return StoreError(f"{database}: {message}", code)
    part, table = place.groups()
    with _lock:
        _seen[database, table, part] = time.monotonic()
    return StoreDamagedError(database, table, part, code)


def seen_damage(database: str) -> dict[str, int]:
    """The number of parts by table that statements of this process could not read lately."""
    now = time.monotonic()
    found: dict[str, int] = {}
    with _lock:
        for (name, table, _), seen in sorted(_seen.items()):
            if name == database and now - seen < SEEN_S:
                found[table] = found.get(table, 0) + 1
    return found
