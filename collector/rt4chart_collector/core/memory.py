"""How memory is returned: large blocks at once, and garbage without a search of all objects."""

from __future__ import annotations

import ctypes
import gc
from collections.abc import Iterator
from contextlib import contextmanager

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


@contextmanager
def start_left_out() -> Iterator[None]:
    """Search for garbage, while the block runs, among what was made since its beginning alone.

    A search of all objects takes 50 ms and more, most of it in modules and settings, which are
    never garbage; rows by thousands start one.
    """
    gc.collect()
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()
