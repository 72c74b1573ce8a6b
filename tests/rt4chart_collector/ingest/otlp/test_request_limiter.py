"""How much may be in hand at once."""

from __future__ import annotations

import asyncio
from collections import Counter

import pytest

from rt4chart_collector.ingest.otlp.refusal import Fault, RefusedError
from rt4chart_collector.ingest.otlp.request_limiter import ObjectLimiter, RequestLimiter


def test_places_are_given_back() -> None:
    """Also where the request was refused."""
    room = RequestLimiter(requests=2, size_bytes=10)

    with room.slot() as first, room.slot() as second:
        first.resize(6)
        second.resize(3)
        second.resize(4)
        with pytest.raises(RefusedError, match="too many requests"), room.slot():
            raise AssertionError
        with pytest.raises(RefusedError, match="too many bytes"):
            second.resize(5)
        assert (room.taken_requests, room.taken_bytes) == (2, 11)

    assert (room.taken_requests, room.taken_bytes) == (0, 0)


def test_refused_request_is_to_be_sent_again() -> None:
    """There is room in a moment."""
    with pytest.raises(RefusedError) as refused, RequestLimiter(requests=0, size_bytes=0).slot():
        raise AssertionError

    assert (refused.value.fault, refused.value.retry_s) == (Fault.BUSY, 1)


def test_one_address_leaves_room_for_others() -> None:
    """It has its share of the requests and of the bytes; nothing of it is left behind."""
    room = RequestLimiter(requests=4, size_bytes=20, share=0.5)

    with room.slot("a") as first, room.slot("a"), room.slot("b") as other:
        with pytest.raises(RefusedError, match="requests at once from this address"):
            room.slot("a").__enter__()
        with pytest.raises(RefusedError, match="bytes in requests at once from this address"):
            first.resize(11)
        other.resize(9)
        assert (room.taken_requests, room.taken_bytes) == (3, 20)

    assert (room.requests_of, room.bytes_of) == (Counter(), Counter())
    assert (room.taken_requests, room.taken_bytes) == (0, 0)


def test_requests_with_many_objects_wait_in_their_order() -> None:
    """A large one is not overtaken by small ones, and one beyond the limit runs alone."""
    order: list[str] = []

    async def decode(limiter: ObjectLimiter, name: str, objects: int) -> None:
        async with limiter.room(objects):
            order.append(f"{name} begins")
            await asyncio.sleep(0)
            order.append(f"{name} ends")

    async def decode_all() -> None:
        limiter = ObjectLimiter(10)
        given = (("a", 6), ("b", 3), ("huge", 1_000), ("c", 1))
        await asyncio.gather(*(decode(limiter, name, objects) for name, objects in given))

    asyncio.run(decode_all())

    assert sorted(order[:4]) == ["a begins", "a ends", "b begins", "b ends"]
    assert order[4:] == ["huge begins", "huge ends", "c begins", "c ends"]
