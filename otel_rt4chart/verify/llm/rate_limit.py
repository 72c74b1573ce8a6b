"""What an endpoint may be sent in a minute: room is held before a call, and settled after it."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field

from otel_rt4chart.verify.core.meter import Budget

_MINUTE = 60.0


@dataclass(slots=True, eq=False)
class Held:
    """A call and its tokens: an estimate until whoever made the call writes what it used."""

    since: float
    tokens: int


@dataclass(slots=True)
class Minute:
    """The calls of the last minute, those under way too; `lock` lets threads share it.

    A call that failed keeps its estimate: what it used is not known.
    """

    budget: Budget
    clock: Callable[[], float]
    lock: AbstractContextManager[object]
    _held: deque[Held] = field(default_factory=deque)

    def hold(self, tokens: int) -> Held | str:
        """Room for a call that may use so many tokens, or why there is none."""
        with self.lock:
            now = self.clock()
            while self._held and self._held[0].since <= now - _MINUTE:
                self._held.popleft()
            if self.budget.calls is not None and len(self._held) >= self.budget.calls:
                return f"over_budget: {self.budget.calls} calls a minute"
            spent = sum(held.tokens for held in self._held)
            if self.budget.tokens is not None and spent + tokens > self.budget.tokens:
                return f"over_budget: {self.budget.tokens} tokens a minute"
            held = Held(now, tokens)
            self._held.append(held)
            return held
