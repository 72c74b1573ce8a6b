"""Pages in threads: bounded in all and by kind, given up with their requests."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable

import pytest

from rt4chart_collector.console.app.page_threads import (
    PageAbandonedError,
    PageThreads,
    check_awaited,
)


def test_calls_of_one_kind_leave_places_to_others() -> None:
    """However many wait, those of another kind run at once."""
    done = threading.Event()

    async def scene() -> None:
        threads = PageThreads(4, 5, most_of_a_kind=2)
        slow = [asyncio.create_task(threads.run(lambda: done.wait(5), "slow")) for _ in range(20)]
        await asyncio.sleep(0.05)
        assert len(threads.alive) == 2
        assert await asyncio.wait_for(threads.run(lambda: "well", "quick"), 2) == "well"
        done.set()
        assert await asyncio.gather(*slow) == [True] * 20

    asyncio.run(scene())


def test_a_call_whose_request_is_gone_is_not_begun() -> None:
    """Its place in the queue goes to the next."""
    done, begun = threading.Event(), list[int]()

    async def scene() -> None:
        threads = PageThreads(4, 5, most_of_a_kind=1)
        first = asyncio.create_task(threads.run(lambda: done.wait(5), "slow"))
        await asyncio.sleep(0.05)
        gone = [asyncio.create_task(threads.run(_noting(begun, i), "slow")) for i in range(20)]
        last = asyncio.create_task(threads.run(_noting(begun, 99), "slow"))
        await asyncio.sleep(0)
        for task in gone:
            task.cancel()
        done.set()
        await asyncio.gather(first, last)

    asyncio.run(scene())

    assert begun == [99]


def _noting(begun: list[int], number: int) -> Callable[[], None]:
    return lambda: begun.append(number)


def test_a_call_whose_request_is_gone_ends_at_its_next_step() -> None:
    """And keeps its place until then; outside of such a call there is nothing to give up."""
    step, ended = threading.Event(), list[BaseException]()

    def page() -> None:
        check_awaited()
        step.wait(5)
        try:
            check_awaited()
        except PageAbandonedError as error:
            ended.append(error)
            raise

    async def scene() -> None:
        threads = PageThreads(1, 5)
        task = asyncio.create_task(threads.run(page))
        await asyncio.sleep(0.05)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert len(threads.alive) == 1
        step.set()
        assert await threads.run(lambda: "well") == "well"

    asyncio.run(scene())

    assert len(ended) == 1
    check_awaited()
