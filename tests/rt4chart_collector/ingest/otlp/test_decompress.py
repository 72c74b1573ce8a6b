"""Content encodings: whatever was packed comes out, and never more than the limit."""

from __future__ import annotations

import gzip
import time
from collections.abc import Callable, Mapping
from contextlib import suppress

import pytest
from backports import zstd
from hypothesis import given
from hypothesis import strategies as st

from otel_rt4chart.core.errors import InputError
from rt4chart_collector.ingest.otlp.decompress import MEMBERS, PIECE_BYTES, decompress
from rt4chart_collector.ingest.otlp.refusal import Fault, RefusedError

PACKERS: dict[str, Callable[[bytes], bytes]] = {"gzip": gzip.compress, "zstd": zstd.compress}
LIMIT = 300_000


@pytest.mark.parametrize("encoding", PACKERS)
@given(parts=st.lists(st.binary(max_size=2_000), min_size=1, max_size=5))
def test_all_members_are_unpacked(encoding: str, parts: list[bytes]) -> None:
    """As one text, in their order; a zstd frame is a member."""
    packed = b"".join(map(PACKERS[encoding], parts))

    assert decompress(packed, encoding, LIMIT) == b"".join(parts)


@pytest.mark.parametrize("encoding", PACKERS)
def test_body_may_have_the_limit_and_no_byte_more(encoding: str) -> None:
    """Also where it is longer than the pieces that it is read in."""
    body = bytes(index * index % 251 for index in range(LIMIT))
    packed = PACKERS[encoding](body) + PACKERS[encoding](b"")

    assert decompress(packed, encoding, LIMIT) == body
    with pytest.raises(RefusedError, match=f"at most {LIMIT - 1} bytes") as refused:
        decompress(packed, encoding, LIMIT - 1)
    assert refused.value.fault is Fault.TOO_LARGE


@pytest.mark.parametrize("encoding", PACKERS)
@pytest.mark.parametrize("times", [1, 3])
def test_bomb_is_refused(encoding: str, times: int) -> None:
    """In one member or over several, each of which keeps to the limit."""
    packed = PACKERS[encoding](bytes(LIMIT if times > 1 else 100_000_000)) * times

    with pytest.raises(RefusedError, match="at most"):
        decompress(packed, encoding, LIMIT)


@pytest.mark.parametrize("encoding", PACKERS)
def test_body_of_countless_empty_members_costs_little(encoding: str) -> None:
    """They would be copied again for each of them."""
    packed = PACKERS[encoding](b"") * (40 * PIECE_BYTES)
    start = time.process_time()

    with pytest.raises(InputError, match=f"at most {MEMBERS} members"):
        decompress(packed, encoding, LIMIT)
    assert time.process_time() - start < 5


@pytest.mark.parametrize("encoding", PACKERS)
@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda packed: packed[:-1], "too early"),
        (lambda packed: packed + b"more", "got other bytes"),
        (lambda packed: b"x" + packed, "got other bytes"),
    ],
    ids=["cut", "followed", "broken"],
)
def test_broken_body_is_an_input_error(
    encoding: str, spoil: Callable[[bytes], bytes], words: str
) -> None:
    """The text names the encoding."""
    with pytest.raises(InputError, match=f"expected a {encoding} body, .*{words}"):
        decompress(spoil(PACKERS[encoding](b"text" * 100)), encoding, LIMIT)


@pytest.mark.parametrize("encoding", PACKERS)
@given(body=st.binary(max_size=200))
def test_any_bytes_are_unpacked_or_an_error(encoding: str, body: bytes) -> None:
    """Whatever a stranger sends, nothing else is raised."""
    with suppress(InputError, RefusedError):
        assert len(decompress(body, encoding, 50)) <= 50


def test_frame_that_asks_for_much_memory_is_refused() -> None:
    """A window of 128 MiB is more than a body may have."""
    options: Mapping[int, int] = {zstd.CompressionParameter.window_log: 27}
    packing = zstd.ZstdCompressor(options=options)
    # Not told its size at the start, it says what window it wants.
    packed = packing.compress(b"x" * 100_000) + packing.flush()

    with pytest.raises(InputError, match="expected a zstd body"):
        decompress(packed, "zstd", LIMIT)
