"""How the C library returns memory: large blocks at once, not when the last of an arena is free."""

from __future__ import annotations

import ctypes

# mallopt(3). By default glibc raises this threshold to 32 MiB as soon as a block of that size is
# freed: the blocks of large messages then stay in the arenas of the threads that read them.
M_MMAP_THRESHOLD = -3
LARGE_BYTES = 4 * 2**20


def return_large_blocks() -> bool:
    """Return blocks of 4 MiB and more to the system when they are freed; False without glibc."""
    try:
        return bool(ctypes.CDLL(None).mallopt(M_MMAP_THRESHOLD, LARGE_BYTES))
    except (AttributeError, OSError):
        return False
