"""A deadline: the time by which an operation must end."""

from __future__ import annotations

import time
from collections.abc import Callable


class Deadline:
    """Starts when it is created; `remaining` is never negative."""

    __slots__ = ("_at", "_clock")

    def __init__(self, seconds: float, *, clock: Callable[[], float] = time.monotonic) -> None:
        """`clock` returns seconds, and must be monotonic."""
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
