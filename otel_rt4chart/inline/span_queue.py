"""Ended spans on their way to the worker: what happens on the application's threads, whole."""

from __future__ import annotations

from collections import deque
from itertools import count
from typing import TypeVar

from opentelemetry.sdk.trace import ReadableSpan

T = TypeVar("T")
REMEMBERED = 4_096


class SpanQueue:
    """Bounded, and without a lock: each step is one operation of a deque, whoever calls.

    Some spans more than `size` may come in when threads offer at the same moment.
    """

    def __init__(self, size: int) -> None:
        """`size` is the number of spans that may wait."""
        self.size = size
        self.dropped = 0
        self._spans: deque[ReadableSpan] = deque()
        self._lost: deque[int] = deque(maxlen=REMEMBERED)
        self._numbers = count(1)

    def __len__(self) -> int:
        """How many spans wait."""
        return len(self._spans)

    def offer(self, span: ReadableSpan) -> bool:
        """Take a span in; False where the queue is full, and its trace is remembered."""
        if len(self._spans) < self.size:
            self._spans.append(span)
            return True
        self.dropped = next(self._numbers)
        context = span.get_span_context()
        if context is not None:
            self._lost.append(context.trace_id)
        return False

    def take(self) -> list[ReadableSpan]:
        """What waits, in order."""
        return taken(self._spans)

    def lost(self) -> set[int]:
        """The traces that lost a span since this was asked."""
        return set(taken(self._lost))


def taken(waiting: deque[T]) -> list[T]:
    """What waits there now, in order; for one taker at a time."""
    # Not until it is empty: who adds all the time would hold the worker here.
    return [waiting.popleft() for _ in range(len(waiting))]
