"""Limits the calls and tokens of a minute: a call reserves its tokens before it is sent."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field

from otel_rt4chart.verify.core.meter import Budget

_MINUTE = 60.0


@dataclass(slots=True, eq=False)
class Reservation:
    """A call and its tokens: an estimate, which the caller replaces by the tokens it used."""

    since: float
    tokens: int


@dataclass(slots=True)
class MinuteLimit:
    """The calls of the last minute, those in progress included; `lock` lets threads share it.

    A failed call keeps its estimate, for its actual tokens are not known.
    """

    budget: Budget
    clock: Callable[[], float]
    lock: AbstractContextManager[object]
    _reservations: deque[Reservation] = field(default_factory=deque)

    def reserve(self, tokens: int) -> Reservation | str:
        """A reservation for a call of at most so many tokens, or the reason for a refusal."""
        with self.lock:
            now = self.clock()
            while self._reservations and self._reservations[0].since <= now - _MINUTE:
                self._reservations.popleft()
            if self.budget.calls is not None and len(self._reservations) >= self.budget.calls:
                return f"over_budget: {self.budget.calls} calls a minute"
            # Refused at once, not queued: the caller reports the claim as undecided.
            spent = sum(reservation.tokens for reservation in self._reservations)
            if self.budget.tokens is not None and spent + tokens > self.budget.tokens:
                return f"over_budget: {self.budget.tokens} tokens a minute"
            reservation = Reservation(now, tokens)
            self._reservations.append(reservation)
            return reservation
