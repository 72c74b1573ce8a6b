"""The queue of ended spans between the application's threads and the worker."""

from __future__ import annotations

from collections import deque
from itertools import count
from typing import TypeVar

from opentelemetry.sdk.trace import ReadableSpan

T = TypeVar("T")
MAX_LOST_TRACES = 4_096


class SpanQueue:
    """Bounded, without a lock: each step is one atomic operation of a deque.

    It may hold slightly more than `size` spans if several threads offer at the same moment.
    """

    def __init__(self, size: int) -> None:
        """`size` is the number of spans that may wait."""
        self.size = size
        self.dropped = 0
        self._spans: deque[ReadableSpan] = deque()
        self._lost: deque[int] = deque(maxlen=MAX_LOST_TRACES)
        self._numbers = count(1)

    def __len__(self) -> int:
        """The number of waiting spans."""
        return len(self._spans)

    def offer(self, span: ReadableSpan) -> bool:
        """Add a span; False if the queue is full. The trace is then remembered as incomplete."""
        if len(self._spans) < self.size:
            self._spans.append(span)
            return True
        self.dropped = next(self._numbers)
        context = span.get_span_context()
        if context is not None:
            self._lost.append(context.trace_id)
        return False

    def take(self) -> list[ReadableSpan]:
        """Remove and return the waiting spans in order."""
        return drain(self._spans)

    def take_lost_traces(self) -> set[int]:
        """The traces that lost a span since the last call."""
        return set(drain(self._lost))


def drain(waiting: deque[T]) -> list[T]:
    """Remove and return the current items in order; for one consumer at a time."""
    # A fixed number, not until empty: a fast producer would keep the worker here for ever.
    return [waiting.popleft() for _ in range(len(waiting))]
