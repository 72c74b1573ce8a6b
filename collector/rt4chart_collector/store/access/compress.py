"""Compression of bodies, both ways, a piece at a time; a body may be several frames in a row."""

from __future__ import annotations

import sys
import zlib
from collections.abc import Callable, Iterator
from typing import Protocol

import lz4.frame

from rt4chart_collector.store.access.errors import BAD_ARGUMENTS, QUERY_IS_TOO_LARGE, refused

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

GZIP = 31
LEVEL = 1
# In the order in which they are chosen where a client takes several.
ENCODINGS = ("lz4", "zstd", "gzip", "deflate")
FAILURES = (RuntimeError, zlib.error, zstd.ZstdError, EOFError, ValueError)


class Frame(Protocol):
    """A decompressor of one frame, as lz4's and zstd's are."""

    @property
    def eof(self) -> bool:
        """True where the frame's end was reached."""

    @property
    def needs_input(self) -> bool:
        """True where nothing more comes without more input."""

    @property
    def unused_data(self) -> bytes | None:
        """What follows the frame."""

    def decompress(self, data: bytes, max_length: int = -1) -> bytes:
        """At most `max_length` bytes more."""


class Zlib:
    """A gzip member or zlib stream as a frame."""

    def __init__(self, window: int) -> None:
        """`window` as zlib counts it: 31 for gzip, 15 for deflate."""
        self._inner = zlib.decompressobj(window)

    @property
    def eof(self) -> bool:
        """True where the stream's end was reached."""
        return self._inner.eof

    @property
    def needs_input(self) -> bool:
        """True where nothing of the input is left."""
        return not self._inner.unconsumed_tail

    @property
    def unused_data(self) -> bytes:
        """What follows the stream."""
        return self._inner.unused_data

    def decompress(self, data: bytes, max_length: int = -1) -> bytes:
        """At most `max_length` bytes more."""
        return self._inner.decompress(self._inner.unconsumed_tail + data, max(max_length, 0))


def decompressed(data: bytes, encoding: str, *, max_bytes: int) -> bytes:
    """The body in the clear, all its frames; RefusedError for a broken or too large one."""
    if encoding in ("", "identity"):
        return data
    pieces: list[bytes] = []
    size = 0
    try:
        for piece in _frames(data, _opener(encoding), max_bytes + 1):
            size += len(piece)
            if size > max_bytes:
                raise refused(
                    QUERY_IS_TOO_LARGE, f"expected a body of at most {max_bytes} bytes in the clear"
                )
            pieces.append(piece)
    except FAILURES as error:
        raise refused(BAD_ARGUMENTS, f"cannot decompress the body as {encoding}: {error}") from None
    return b"".join(pieces)


def chosen(accepted: str) -> str:
    """The encoding to answer in, from an Accept-Encoding header; empty for none."""
    names = {part.partition(";")[0].strip().lower() for part in accepted.split(",")}
    return next((name for name in ENCODINGS if name in names), "")


def compressed(pieces: Iterator[bytes], encoding: str) -> Iterator[bytes]:
    """The pieces in the encoding, one frame in all."""
    if not encoding:
        yield from pieces
        return
    first, add, last = _compressor(encoding)
    yield first
    for piece in pieces:
        if more := add(piece):
            yield more
    yield last()


def _compressor(encoding: str) -> tuple[bytes, Callable[[bytes], bytes], Callable[[], bytes]]:
    if encoding == "lz4":
        frame = lz4.frame.LZ4FrameCompressor()
        return frame.begin(), frame.compress, frame.flush
    if encoding == "zstd":
        stream = zstd.ZstdCompressor(level=LEVEL)
        return b"", stream.compress, stream.flush
    deflate = zlib.compressobj(LEVEL, wbits=GZIP if encoding == "gzip" else zlib.MAX_WBITS)
    return b"", deflate.compress, deflate.flush


def _opener(encoding: str) -> Callable[[], Frame]:
    openers: dict[str, Callable[[], Frame]] = {
        "lz4": lz4.frame.LZ4FrameDecompressor,
        "zstd": zstd.ZstdDecompressor,
        "gzip": lambda: Zlib(GZIP),
        "deflate": lambda: Zlib(zlib.MAX_WBITS),
    }
    if encoding not in openers:
        raise refused(
            BAD_ARGUMENTS, f"expected a body in one of {', '.join(openers)}, got {encoding!r}"
        )
    return openers[encoding]


def _frames(data: bytes, opener: Callable[[], Frame], limit: int) -> Iterator[bytes]:
    while data:
        frame = opener()
        yield frame.decompress(data, limit)
        while not frame.eof:
            if frame.needs_input:
                raise EOFError("it ends in the middle")
            yield frame.decompress(b"", limit)
        data = frame.unused_data or b""
