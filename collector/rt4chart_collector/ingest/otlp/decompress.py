"""Decompresses bodies of OTLP over HTTP, never to more than a limit."""

from __future__ import annotations

import sys
import zlib
from collections.abc import Callable, Mapping
from typing import Protocol

from otel_rt4chart.core.errors import InputError
from rt4chart_collector.ingest.otlp.refusal import too_large

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

GZIP_WINDOW = 16 + zlib.MAX_WBITS
# 2**26 = 64 MiB, the largest body: a frame may demand 2 GiB of memory (RFC 8878, 3.1.1.1.2).
ZSTD_WINDOW: Mapping[int, int] = {zstd.DecompressionParameter.window_log_max: 26}
IDENTITY = "identity"
# `unused_data` copies the rest of the input for each member, which is quadratic: so the number of
# members is limited, and the input is fed in short pieces.
MEMBERS, PIECE_BYTES = 1_000, 2**16


class Decompressor(Protocol):
    """One member of a gzip body, or one frame of a zstd body."""

    @property
    def eof(self) -> bool:
        """True once its end was read."""

    @property
    def unused_data(self) -> bytes:
        """The input after its end."""

    def decompress(self, data: bytes, max_length: int, /) -> bytes:
        """The next bytes, at most `max_length`."""


def _gzip() -> Decompressor:
    return zlib.decompressobj(GZIP_WINDOW)


def _zstd() -> Decompressor:
    return zstd.ZstdDecompressor(options=ZSTD_WINDOW)


ENCODINGS: Mapping[str, Callable[[], Decompressor]] = {"gzip": _gzip, "zstd": _zstd}


def decompress(body: bytes, encoding: str, limit: int) -> bytes:
    """Decompress all members or frames of a body; a body with no encoding is returned as it is.

    Raises InputError if they are malformed, RefusedError if the result exceeds the limit in bytes,
    whatever size they declare.
    """
    if encoding == IDENTITY:
        return body
    try:
        return b"".join(_parts(body, encoding, limit))
    except (zlib.error, zstd.ZstdError) as error:
        raise InputError(f"expected a {encoding} body, got other bytes: {error}") from error


def _parts(body: bytes, encoding: str, limit: int) -> list[bytes]:
    parts: list[bytes] = []
    size = members = 0
    member: Decompressor | None = None
    for start in range(0, len(body), PIECE_BYTES):
        piece = body[start : start + PIECE_BYTES]
        while piece:
            if member is None:
                member, members = ENCODINGS[encoding](), members + 1
            parts.append(member.decompress(piece, limit + 1 - size))
            size += len(parts[-1])
            if size > limit:
                raise too_large(limit)
            if members > MEMBERS:
                raise InputError(f"expected at most {MEMBERS} members in a {encoding} body")
            piece = member.unused_data if member.eof else b""
            member = None if member.eof else member
    if member is not None:
        raise InputError(f"expected a {encoding} body, got one that ends too early")
    return parts
