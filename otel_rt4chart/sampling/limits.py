"""How much a process may choose: a bucket of tokens for the minute, a count for the day."""

from __future__ import annotations

DAY_S = 86_400
# While a half of the bucket is left everyone passes; below that the chance falls by the same factor
# with each token, down to `LEAST`. So steep, it settles where tokens are left, in rushes of up to
# some hundred times the bound: the fewer come upon nothing, the fewer nobody stands for.
EASE, LEAST = 0.5, 0.001


class Throttle:
    """A token bucket that fills by `most` a minute and holds as many; not thread-safe.

    It keeps what was spent, so that its size may change at any time.
    """

    def __init__(self) -> None:
        """Full."""
        self._spent = 0.0
        self._at = 0.0

    def chance(self, most: int, now: float) -> float:
        """The probability with which the next one passes: 1 at first, 0 where nothing is left.

        It depends on what passed before and not on who asks, which keeps a weight of 1/chance true.
        """
        # A clock that was set back refills nothing.
        self._spent = max(0.0, self._spent - max(0.0, now - self._at) * most / 60)
        self._at = now
        left = most - self._spent
        return min(1.0, LEAST ** (1 - left / (most * EASE))) if left > 0 else 0.0

    def spend(self) -> None:
        """One passed."""
        self._spent += 1


class DayBudget:
    """A count of what was chosen in a day of UTC; not thread-safe."""

    def __init__(self) -> None:
        """Nothing was spent."""
        self._day = 0
        self._spent = 0

    def is_left(self, most: int, now: float) -> bool:
        """Whether one more may be chosen today; a clock that was set back starts no new day."""
        day = int(now // DAY_S)
        if day > self._day:
            self._day, self._spent = day, 0
        return self._spent < most

    def spend(self) -> None:
        """One was chosen."""
        self._spent += 1
