"""Waiting for what another thread or process does."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")
WITHIN_S = 60.0
EVERY_S = 0.05


def wait_until(
    probe: Callable[[], T],
    is_reached: Callable[[T], object] = bool,
    *,
    within_s: float = WITHIN_S,
) -> T:
    """Call `probe` until its value satisfies `is_reached`, and return that value.

    The limit is far above what a loaded machine needs: it ends a test that would wait for ever.
    """
    until = time.monotonic() + within_s
    while not is_reached(value := probe()):
        assert time.monotonic() < until, f"not reached within {within_s:g} s; last value: {value!r}"
        time.sleep(EVERY_S)
    return value
