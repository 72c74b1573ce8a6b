"""The seam to a log of spans: messages in, positions out."""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from otel_rt4chart.core.errors import InputError, RT4ChartError
from rt4chart_collector.core.redacted_error import shown
from rt4chart_collector.ingest.otlp.decode import Decoded, decode_spans


class SourceError(RT4ChartError):
    """The source refused, or cannot be reached; what was not committed comes again."""


@dataclass(frozen=True, slots=True)
class Message:
    """One message of the log: `body` is an ExportTraceServiceRequest in protobuf encoding."""

    partition: int
    offset: int
    body: bytes
    key: bytes = b""


class Keeper(Protocol):
    """Whoever works on the messages; hears, within `Source.take`, which partitions are whose."""

    def assigned(self, partitions: Collection[int]) -> None:
        """These are ours from now on, from their committed positions."""

    def revoked(self, partitions: Collection[int]) -> Mapping[int, int]:
        """These are ours no more when this returns; the positions to commit before that."""

    def lost(self, partitions: Collection[int]) -> None:
        """These are another's already: nothing can be committed."""


class Source(Protocol):
    """A partitioned log with a position for each partition; for one thread."""

    @property
    def partitions(self) -> int:
        """How many partitions the log has."""

    def subscribe(self, keeper: Keeper) -> None:
        """Join those who share the log; `keeper` hears of the partitions."""

    def take(self, limit: int, timeout_s: float) -> Sequence[Message]:
        """The next messages; none after the time. It must be called again and again."""

    def commit(self, positions: Mapping[int, int], *, wait: bool = False) -> None:
        """Let each partition begin at the next offset to read after a restart."""

    def pause(self, partitions: Collection[int]) -> None:
        """Give nothing of these partitions until they are resumed."""

    def resume(self, partitions: Collection[int]) -> None:
        """Give what follows again."""

    def ends(self, partitions: Collection[int]) -> Mapping[int, int]:
        """The offset behind the last message of each partition, where it is known."""

    def bury(self, message: Message, reason: str) -> None:
        """Put a message aside for people; SourceError where that cannot be done."""

    def close(self) -> None:
        """Leave; the partitions are another's at once."""


UNREADABLE = "no ExportTraceServiceRequest in protobuf encoding"
log = logging.getLogger(__name__)


def decoded(message: Message) -> Decoded | None:
    """What the message holds, None where it cannot be read."""
    try:
        return decode_spans(message.body)
    except InputError:
        return None
    except Exception as error:  # noqa: BLE001 - one message must not end the stream
        log.error("a message cannot be read: %s", shown(error))
        return None
