from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from threading import Event, Thread

from otel_rt4chart.verify.llm.conversation import UnsentError
from otel_rt4chart.verify.llm.workers import Workers, slow_reason

LONG = 30.0
Job = Callable[[], str]


@contextmanager
def working(most: int = 1, deadline_s: float = LONG) -> Iterator[tuple[Workers, Event, Event]]:
    """Workers, an event that `stuck` waits for, and one that tells that a job has begun."""
    workers, go, begun = Workers(most, deadline_s), Event(), Event()
    try:
        yield workers, go, begun
    finally:
        go.set()
        workers.close()


def stuck(go: Event, begun: Event) -> str:
    """A job that ends when it is told to."""
    begun.set()
    go.wait(LONG)
    return "stuck"


def noted(ran: list[str]) -> str:
    """A job that leaves a trace."""
    ran.append("ran")
    return "ran"


def test_results_come_in_the_order_of_the_jobs() -> None:
    """Whichever ends first."""
    with working(4) as (workers, _, _):
        assert workers.run([partial(str, n) for n in range(20)]) == [str(n) for n in range(20)]
        jobs = [partial(str, n) for n in range(20)]
        assert asyncio.run(workers.run_async(jobs)) == [str(n) for n in range(20)]


def test_a_job_that_does_not_end_is_given_up() -> None:
    """Threads and event loops are told the same."""
    with working(2, 0.5) as (workers, go, begun):
        (told,) = workers.run([partial(stuck, go, begun)])
        (awaited,) = asyncio.run(workers.run_async([partial(stuck, go, begun)]))

    assert str(told) == str(awaited) == slow_reason(0.5)
    assert not isinstance(told, UnsentError)


def test_a_job_behind_one_that_does_not_end_is_never_begun() -> None:
    """Nothing is sent for a caller who has gone."""
    ran: list[str] = []
    with working(1, 0.5) as (workers, go, begun):
        jobs: list[Job] = [partial(stuck, go, begun), partial(noted, ran)]
        first, second = workers.run(jobs)

    assert str(first) == slow_reason(0.5)
    assert isinstance(second, UnsentError)
    assert ran == []


def test_cancelling_who_waits_cancels_what_has_not_begun() -> None:
    """What is under way ends by itself."""
    ran: list[str] = []

    async def cancelled(workers: Workers, go: Event, begun: Event) -> bool:
        jobs: list[Job] = [partial(stuck, go, begun), partial(noted, ran)]
        task = asyncio.create_task(workers.run_async(jobs))
        assert await asyncio.to_thread(begun.wait, LONG)
        task.cancel()
        await asyncio.wait([task])
        return task.cancelled()

    with working() as (workers, go, begun):
        assert asyncio.run(cancelled(workers, go, begun))
        go.set()
        assert workers.run([lambda: "next"]) == ["next"]

    assert ran == []


def test_after_closing_nothing_begins() -> None:
    """Neither what waits nor what comes; what is under way ends well."""
    found: list[object] = []
    ran: list[str] = []
    with working() as (workers, go, begun):
        jobs: list[Job] = [partial(stuck, go, begun), partial(noted, ran)]
        waiting = Thread(target=lambda: found.extend(workers.run(jobs)))
        waiting.start()
        assert begun.wait(LONG)
        closing = Thread(target=workers.close)
        closing.start()
        while not workers.is_closed:
            closing.join(0.01)
        go.set()
        waiting.join(LONG)
        closing.join(LONG)
        (late,) = workers.run([lambda: "late"])

    assert found[0] == "stuck"
    assert ran == []
    assert [str(one) for one in (found[1], late)] == ["not sent: the endpoint is closed"] * 2
