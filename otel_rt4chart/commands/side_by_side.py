"""Work on several items at once, its results in the items' order."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")


def in_order(work: Callable[[T], R], items: Iterable[T], jobs: int) -> Iterator[R]:
    """Each item's result; `jobs` threads work, and twice as many items are held at most.

    Where the reader stops, or is interrupted, what has not begun never does.
    """
    if jobs == 1:
        yield from map(work, items)
        return
    pool = ThreadPoolExecutor(jobs, thread_name_prefix="rt4chart-verify")
    held: deque[Future[R]] = deque()
    try:
        for item in items:
            held.append(pool.submit(work, item))
            while held and (held[0].done() or len(held) >= 2 * jobs):
                yield held.popleft().result()
        while held:
            yield held.popleft().result()
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
