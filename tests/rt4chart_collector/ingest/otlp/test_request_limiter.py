"""How much may be in hand at once."""

from __future__ import annotations

import pytest

from rt4chart_collector.ingest.otlp.refusal import Fault, RefusedError
from rt4chart_collector.ingest.otlp.request_limiter import RequestLimiter


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
