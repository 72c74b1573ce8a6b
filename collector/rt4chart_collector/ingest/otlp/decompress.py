"""Content encodings of OTLP over HTTP: packed bodies to bytes, never more than a limit."""

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
# 64 MiB, as the largest body: a frame may ask for 2 GiB of memory (RFC 8878, 3.1.1.1.2).
ZSTD_WINDOW: Mapping[int, int] = {zstd.DecompressionParameter.window_log_max: 26}
IDENTITY = "identity"
# A part behind a body is copied as often as there are members: few, and from short pieces.
MEMBERS, PIECE_BYTES = 1_000, 2**16


class Unpacking(Protocol):
    """One member of a gzip body, or one frame of a zstd body."""

    @property
    def eof(self) -> bool:
        """True behind its end."""

    @property
    def unused_data(self) -> bytes:
        """What came behind its end."""

    def decompress(self, data: bytes, max_length: int, /) -> bytes:
        """The next bytes, at most so many."""


def _gzip() -> Unpacking:
    return zlib.decompressobj(GZIP_WINDOW)


def _zstd() -> Unpacking:
    return zstd.ZstdDecompressor(options=ZSTD_WINDOW)


ENCODINGS: Mapping[str, Callable[[], Unpacking]] = {"gzip": _gzip, "zstd": _zstd}


def unpack(body: bytes, encoding: str, limit: int) -> bytes:
    """Unpack all members or frames of a body, or give an unpacked one back.

    Raises InputError where they are broken, RefusedError where they are larger than the limit in
    bytes, whatever they claim.
    """
    if encoding == IDENTITY:
        return body
    try:
        return b"".join(_parts(body, encoding, limit))
    except (zlib.error, zstd.ZstdError) as error:
        raise InputError(f"expected a {encoding} body, got bytes that are none: {error}") from error


def _parts(body: bytes, encoding: str, limit: int) -> list[bytes]:
    parts: list[bytes] = []
    size = members = 0
    member: Unpacking | None = None
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
