"""Compression: bodies come back whole, however many frames they are."""

from __future__ import annotations

import gzip
import sys
import zlib
from collections.abc import Callable

import lz4.frame
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rt4chart_collector.store.access.compress import ENCODINGS, chosen, compressed, decompressed
from rt4chart_collector.store.access.errors import RefusedError

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

PACK: dict[str, Callable[[bytes], bytes]] = {
    "lz4": lz4.frame.compress,
    "zstd": zstd.compress,
    "gzip": gzip.compress,
    "deflate": zlib.compress,
}


@given(frames=st.lists(st.binary(max_size=300), min_size=1), name=st.sampled_from(ENCODINGS))
def test_frames_in_a_row_are_one_body(frames: list[bytes], name: str) -> None:
    """Clients send a frame for each block; none of them is lost."""
    body = b"".join(map(PACK[name], frames))

    assert decompressed(body, name, max_bytes=10_000) == b"".join(frames)


@given(pieces=st.lists(st.binary(max_size=300)), name=st.sampled_from(["", *ENCODINGS]))
def test_what_is_sent_can_be_read(pieces: list[bytes], name: str) -> None:
    """Pieces are compressed as they come."""
    body = b"".join(compressed(iter(pieces), name))

    assert decompressed(body, name, max_bytes=10_000) == b"".join(pieces)


@pytest.mark.parametrize("name", ENCODINGS)
def test_broken_and_large_bodies_are_refused(name: str) -> None:
    """A body that is cut off, is something else, or grows beyond bounds says so."""
    packed = PACK[name](b"x" * 10_000_000)

    for body, code in ((packed[:-3], 36), (b"nonsense", 36), (packed, 229)):
        with pytest.raises(RefusedError) as raised:
            decompressed(body, name, max_bytes=100_000 if code == 229 else 10_000_000)
        assert raised.value.code == code


def test_the_clients_choice_is_taken() -> None:
    """Of what a client accepts, the fastest; of nothing known, none."""
    assert chosen("gzip, deflate, br, lz4;q=0.5") == "lz4"
    assert chosen("br") == chosen("") == ""
