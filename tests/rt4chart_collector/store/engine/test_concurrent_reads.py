"""Reads at the same time: over a second client where one is free, else one after the other."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

import pytest

from otel_rt4chart.core.errors import StoreError
from rt4chart_collector.store.engine.concurrent_reads import ConcurrentReads
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.rows import read_int


def _number(client: Client, number: int) -> int:
    return read_int(client, "SELECT {number:Int64}", {"number": number})


@contextmanager
def _none() -> Iterator[Client | None]:
    yield None


def test_without_a_second_client_the_owner_reads_in_order(client: Client) -> None:
    """What is asked for comes first; nothing waits for the second client."""
    order: list[int] = []

    def noted(number: int, by: Client) -> int:
        assert by is client
        order.append(number)
        return _number(by, number)

    with ConcurrentReads(client, _none) as reads:
        found = [reads.start(partial(noted, number)) for number in range(3)]
        assert found[1].result() == 1
        assert [one.result() for one in found] == [0, 1, 2]
    assert order == [1, 0, 2]


def test_a_second_client_reads_at_the_same_time(client: Client) -> None:
    """Each of two reads goes on only when the other has begun, in a thread and on a client."""
    both, clients = threading.Barrier(2, timeout=20), set[int]()

    def met(by: Client) -> int:
        both.wait()
        clients.add(id(by))
        return _number(by, 7)

    with client.sibling() as other:

        @contextmanager
        def spare() -> Iterator[Client | None]:
            yield other

        with ConcurrentReads(client, spare) as reads:
            assert [one.result() for one in (reads.start(met), reads.start(met))] == [7, 7]
    assert clients == {id(client), id(other)}


def test_an_error_of_the_other_thread_is_raised_where_its_result_is_asked_for(
    client: Client,
) -> None:
    """Its client is told to be broken, and the owner goes on with the reads that are left."""
    told, has_failed = list[str](), threading.Event()

    @contextmanager
    def spare() -> Iterator[Client | None]:
        with client.sibling() as other:
            try:
                yield other
            except StoreError as error:
                told.append(str(error))
                raise
            finally:
                has_failed.set()

    def failing(by: Client) -> int:
        return read_int(by, "SELECT nothing_of_that_name")

    with ConcurrentReads(client, spare) as reads:
        broken = reads.start(failing)
        assert has_failed.wait(20)
        assert reads.start(lambda by: _number(by, 1)).result() == 1
        with pytest.raises(StoreError, match="nothing_of_that_name"):
            broken.result()
    assert len(told) == 1


def test_a_second_client_that_cannot_be_opened_leaves_all_to_the_owner(client: Client) -> None:
    """The page is as it would be with one client."""

    @contextmanager
    def spare() -> Iterator[Client | None]:
        raise StoreError("no answer")
        yield None

    with ConcurrentReads(client, spare) as reads:
        assert reads.start(lambda by: _number(by, 3)).result() == 3


def test_no_read_begins_after_the_check_has_failed(client: Client) -> None:
    """As where nobody waits for the page any more; reads that wait are dropped."""
    begun: list[Client] = []

    def check() -> None:
        raise TimeoutError

    with pytest.raises(TimeoutError), ConcurrentReads(client, _none, check) as reads:
        reads.start(begun.append).result()
    assert begun == []
