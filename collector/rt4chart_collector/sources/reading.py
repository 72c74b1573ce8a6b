"""A message's spans, or that it has none that can be read."""

from __future__ import annotations

import logging

from otel_rt4chart.errors import InputError
from rt4chart_collector.otlp.decode import Decoded, decode_spans
from rt4chart_collector.sources.source import Message
from rt4chart_collector.trouble import shown

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
