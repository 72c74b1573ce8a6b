from __future__ import annotations

from collections.abc import Iterator
from threading import Barrier, Event

import pytest

from otel_rt4chart.judges.batch import map_in_order


def test_results_come_in_the_items_order() -> None:
    """Also where a later item is done first."""
    later = Event()

    def work(item: int) -> int:
        if item == 0:
            later.wait(60)
        if item == 1:
            later.set()
        return item * item

    assert list(map_in_order(work, range(4), 2)) == [0, 1, 4, 9]


def test_so_many_are_worked_on_at_once() -> None:
    """All three must be there before one goes on."""
    barrier = Barrier(3, timeout=60)

    def work(item: int) -> int:
        barrier.wait()
        return item

    assert list(map_in_order(work, range(6), 3)) == list(range(6))


@pytest.mark.parametrize(("jobs", "held"), [(1, 1), (2, 4)])
def test_an_endless_input_is_read_no_further_than_needed(jobs: int, held: int) -> None:
    """Memory is bounded by the jobs, not by the file."""
    read: list[int] = []

    def items() -> Iterator[int]:
        while True:
            read.append(len(read))
            yield read[-1]

    results = map_in_order(lambda item: item, items(), jobs)

    assert next(results) == 0
    assert len(read) <= held
    results.close()  # type: ignore[attr-defined]


def test_after_an_interruption_nothing_more_begins() -> None:
    """What has begun ends by itself."""
    begun: list[int] = []
    may_end = Event()

    def work(item: int) -> int:
        begun.append(item)
        may_end.wait(60)
        return item

    def items() -> Iterator[int]:
        yield from range(3)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        list(map_in_order(work, items(), 2))
    may_end.set()

    assert set(begun) <= {0, 1}


def test_a_mistake_in_the_work_is_not_hidden() -> None:
    """It is raised where the result would be."""

    def work(item: int) -> int:
        raise ValueError(item)

    with pytest.raises(ValueError, match="7"):
        list(map_in_order(work, [7], 2))
