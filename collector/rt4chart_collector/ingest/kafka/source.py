"""The interface to a partitioned log of spans: messages in, positions out."""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from otel_rt4chart.core.errors import InputError, RT4ChartError
from rt4chart_collector.core.redacted_error import redacted_error
from rt4chart_collector.ingest.otlp.decode import Decoded, decode_spans
from rt4chart_collector.ingest.otlp.object_budget import TooManyObjectsError


class SourceError(RT4ChartError):
    """The source refused or is unreachable; messages without a commit are read again."""


@dataclass(frozen=True, slots=True)
class KafkaMessage:
    """One message of the log: `body` is an ExportTraceServiceRequest in protobuf encoding."""

    partition: int
    offset: int
    body: bytes
    key: bytes = b""


class RebalanceListener(Protocol):
    """Called within `SpanSource.poll` when partitions are assigned or revoked."""

    def assigned(self, partitions: Collection[int]) -> None:
        """Partitions were assigned; they are read from their committed positions."""

    def revoked(self, partitions: Collection[int]) -> Mapping[int, int]:
        """Partitions are revoked when this returns; returns the positions to commit before."""

    def lost(self, partitions: Collection[int]) -> None:
        """Partitions belong to another member already: nothing can be committed."""


class SpanSource(Protocol):
    """A partitioned log with a position for each partition; for one thread."""

    @property
    def partitions(self) -> int:
        """How many partitions the log has."""

    def subscribe(self, listener: RebalanceListener) -> None:
        """Join the consumer group."""

    def poll(self, limit: int, timeout_s: float) -> Sequence[KafkaMessage]:
        """The next messages, none after the timeout; must be called regularly."""

    def commit(self, positions: Mapping[int, int], *, wait: bool = False) -> None:
        """Store for each partition the next offset to read after a restart."""

    def pause(self, partitions: Collection[int]) -> None:
        """Stop reading these partitions until they are resumed."""

    def resume(self, partitions: Collection[int]) -> None:
        """Read these partitions again."""

    def end_offsets(self, partitions: Collection[int]) -> Mapping[int, int]:
        """The offset after the last message of each partition, where it is known."""

    def send_dead_letter(self, message: KafkaMessage, reason: str) -> None:
        """Write a message to the dead letters; SourceError if that fails."""

    def close(self) -> None:
        """Leave the group; the partitions go to other members at once."""


UNREADABLE = "no ExportTraceServiceRequest in protobuf encoding"
TOO_MANY_OBJECTS = "more objects than a message of its size may have"
log = logging.getLogger(__name__)


def decode_message(message: KafkaMessage) -> Decoded | str:
    """The spans of a message; the reason if it cannot be decoded."""
    try:
        return decode_spans(message.body)
    except TooManyObjectsError:
        return TOO_MANY_OBJECTS
    except InputError:
        return UNREADABLE
    except Exception as error:  # noqa: BLE001 - one message must not end the stream
        log.error("a message cannot be read: %s", redacted_error(error))
        return UNREADABLE
