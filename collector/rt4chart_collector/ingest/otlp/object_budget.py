"""Limits how many objects a request may become, counted before the first one is built.

A limit of bytes is not enough: `{}` or an empty message costs two bytes, of which gzip leaves a
hundredth, and becomes an object of a hundred bytes and a microsecond of work.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import TypeAlias

from google.protobuf.descriptor import Descriptor
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from otel_rt4chart.core.errors import InputError

# The Collector's default batch, 8,192 spans, has 672,000 objects if each span has 40 attributes. It
# is 100 kB or more if compressed; the SDK's batch of 512 spans has 42,000 objects.
FREE_OBJECTS, OBJECTS_PER_BYTE, MAX_OBJECTS = 100_000, 8, 2_000_000
# A span takes ten times the time of an attribute to decode, and as much again to store. The random
# part of its ids alone permits 64 objects, also where they are compressed.
OBJECTS_PER_SPAN = 20
# Each span is stored with a copy of its resource and scope: 128 MiB are 16 kB for a batch of 8,192.
COPIED_BYTES = 128 * 2**20
# Counting is a loop over fields: it ends here, although scalar fields are no objects.
FIELDS_PER_OBJECT = 4
# An attribute has four values in JSON ("key", its name, "value", its text) and two in protobuf.
JSON_VALUES_PER_OBJECT = 2
PROTOBUF_DEPTH = 100
# Other threads get their turn between two pieces.
PIECE_BYTES = 2**20

Fields: TypeAlias = "Mapping[int, Fields]"


class TooManyObjectsError(InputError):
    """A request would become more objects than its size permits."""


def object_budget(received_bytes: int) -> int:
    """How many objects a request may have that was so large on the network."""
    return min(MAX_OBJECTS, FREE_OBJECTS + OBJECTS_PER_BYTE * received_bytes)


def budget_of_unpacked(body: bytes) -> int:
    """The same for a body that a library decompressed, whose size on the network is not known."""
    # Most bodies have no more bytes than this that could begin a message or a value.
    if len(body) <= 2 * FREE_OBJECTS or _without(body, TAG_BYTES + b"{[,") <= FREE_OBJECTS:
        return FREE_OBJECTS
    return object_budget(len(zlib.compress(body, 1)))


def check_protobuf(body: bytes, budget: int) -> None:
    """TooManyObjectsError if an ExportTraceServiceRequest has more messages than the budget."""
    # A message takes two bytes at least. The tag of each message is one of some twenty bytes.
    if len(body) <= 2 * budget or _without(body, TAG_BYTES) <= budget:
        return
    if count_messages(body, budget) > budget:
        raise _too_many(budget)


def check_json(body: bytes, budget: int) -> None:
    """TooManyObjectsError if a JSON document has more values than the budget permits."""
    limit = JSON_VALUES_PER_OBJECT * budget
    if len(body) <= limit or _without(body, b"{[,") <= limit:
        return
    # Without its escaped quotes, a string is simply what is between two quotes.
    plain = body.replace(b"\\\\", b"").replace(b'\\"', b"")
    # Strings count as values, so that the number of matches is limited.
    found = re.finditer(rb'"[^"]*"|[\[{,]', plain)
    if next(islice(found, limit, None), None) is not None:
        raise _too_many(budget)


def check_spans(groups: Iterable[tuple[int, int]], budget: int) -> int:
    """The bytes of the resources and scopes in all spans; TooManyObjectsError if too many.

    A group is a number of spans, and the bytes of the resource and scope that they have in common.
    """
    spans = copied = 0
    for number, size_bytes in groups:
        spans += number
        copied += number * size_bytes
    if spans * OBJECTS_PER_SPAN > budget:
        raise TooManyObjectsError(
            f"expected at most {budget // OBJECTS_PER_SPAN:,} spans in a request of this size, "
            f"compressed as it is; got {spans:,}; send smaller batches"
        )
    if copied > COPIED_BYTES:
        raise TooManyObjectsError(
            f"expected at most {COPIED_BYTES:,} bytes of resource and scope in all spans of a "
            f"request, each of which is stored with its own copy; got {copied:,}; send fewer "
            "resource attributes, or smaller batches"
        )
    return copied


def _too_many(budget: int) -> TooManyObjectsError:
    return TooManyObjectsError(
        f"expected at most {budget:,} objects (spans, events, links, attributes and their values) "
        "in a request of this size, compressed as it is; got more; send smaller batches"
    )


def _without(body: bytes, wanted: bytes) -> int:
    """How many of the bytes are wanted ones."""
    return sum(
        len(piece) - len(piece.translate(None, wanted))
        for piece in (body[at : at + PIECE_BYTES] for at in range(0, len(body), PIECE_BYTES))
    )


def count_messages(body: bytes, limit: int) -> int:
    """The messages and repeated texts that a parser makes of the body, up to the limit and one.

    Reads the wire format in the order of the parser, and ends where the parser must end.
    """
    objects = fields = groups = at = 0
    end, known = len(body), FIELDS
    outer: list[tuple[int, Fields]] = []
    try:
        while objects <= limit and fields <= limit * FIELDS_PER_OBJECT:
            while at >= end:
                if not outer:
                    return objects
                end, known = outer.pop()
                groups = 0
            fields += 1
            # Most tags and sizes are one byte, for which a call would double the time.
            tag, at = (body[at], at + 1) if body[at] < 0x80 else _varint(body, at)
            kind = tag & 7
            if kind == LENGTH:
                size, at = (body[at], at + 1) if body[at] < 0x80 else _varint(body, at)
                inner = None if groups else known.get((tag & 0xFFFFFFFF) >> 3)
                if at + size > end:
                    return objects
                if inner is None:
                    at += size
                    continue
                objects += 1
                if not inner:
                    at += size
                elif len(outer) > PROTOBUF_DEPTH:
                    return objects
                else:
                    outer.append((end, known))
                    end, known = at + size, inner
            elif kind == VARINT:
                _, at = _varint(body, at)
            elif kind in FIXED:
                at += FIXED[kind]
            elif kind == START_GROUP:
                groups += 1
            elif kind == END_GROUP and groups:
                groups -= 1
            else:
                return objects
    except IndexError:  # the body ends within a field
        return objects
    return limit + 1


VARINT, LENGTH, START_GROUP, END_GROUP = 0, 2, 3, 4
FIXED = {1: 8, 5: 4}


def _varint(body: bytes, at: int) -> tuple[int, int]:
    """The number at this place, and the place after it."""
    value, shift, byte = 0, 0, body[at]
    while byte >= 0x80 and shift < 63:
        value |= (byte & 0x7F) << shift
        shift += 7
        at += 1
        byte = body[at]
    return value | byte << shift, at + 1


def _fields_of(message: Descriptor, known: dict[str, dict[int, Fields]]) -> dict[int, Fields]:
    """The fields of a message that become objects: messages, and repeated texts, without fields."""
    if message.full_name in known:
        return known[message.full_name]
    found = known[message.full_name] = {}
    for field in message.fields:
        if field.message_type is not None:
            found[field.number] = _fields_of(field.message_type, known)
        elif field.is_repeated:
            found[field.number] = {}
    return found


def _tag_bytes(messages: Mapping[str, Mapping[int, Fields]]) -> Iterator[int]:
    """The first byte of the tag of each such field, and the same with the bit of a longer one."""
    for number in {number for fields in messages.values() for number in fields}:
        first = (number << 3 | LENGTH) & 0x7F
        yield from (first, first | 0x80)


_messages: dict[str, dict[int, Fields]] = {}
FIELDS: Fields = _fields_of(ExportTraceServiceRequest.DESCRIPTOR, _messages)
TAG_BYTES = bytes(_tag_bytes(_messages))
