"""A moment by which something has to be over."""

from __future__ import annotations

import time
from collections.abc import Callable


class Deadline:
    """Runs from its making; it tells how much time remains, never less than none."""

    __slots__ = ("_at", "_clock")

    def __init__(self, seconds: float, *, clock: Callable[[], float] = time.monotonic) -> None:
        """`clock` tells seconds and must not go back."""
        self._clock = clock
        self._at = clock() + seconds

    @property
    def remaining(self) -> float:
        """Seconds until the deadline, 0 once it is over."""
        return max(self._at - self._clock(), 0.0)

    @property
    def is_over(self) -> bool:
        """True from the deadline on."""
        return self._clock() >= self._at
