"""How much may be in hand at once."""

from __future__ import annotations

import pytest

from rt4chart_collector.ingest.otlp.refusal import Fault, RefusedError
from rt4chart_collector.ingest.otlp.request_limiter import Room


def test_places_are_given_back() -> None:
    """Also where the request was refused."""
    room = Room(requests=2, size_bytes=10)

    with room.place() as first, room.place() as second:
        first.resize(6)
        second.resize(3)
        second.resize(4)
        with pytest.raises(RefusedError, match="too many requests"), room.place():
            raise AssertionError
        with pytest.raises(RefusedError, match="too many bytes"):
            second.resize(5)
        assert (room.taken_requests, room.taken_bytes) == (2, 11)

    assert (room.taken_requests, room.taken_bytes) == (0, 0)


def test_refused_request_is_to_be_sent_again() -> None:
    """There is room in a moment."""
    with pytest.raises(RefusedError) as refused, Room(requests=0, size_bytes=0).place():
        raise AssertionError

    assert (refused.value.fault, refused.value.retry_s) == (Fault.BUSY, 1)
