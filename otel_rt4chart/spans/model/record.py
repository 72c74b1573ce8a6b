"""The span record: the output of every decoder and the input of every reader."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from otel_rt4chart.core import semconv

AttributeValue = (
    str | bool | int | float | tuple["AttributeValue", ...] | Mapping[str, "AttributeValue"]
)
Attributes = Mapping[str, AttributeValue]


@dataclass(frozen=True, slots=True)
class SpanEvent:
    """A timed event on a span."""

    name: str
    time_ns: int
    attributes: Attributes = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SpanLink:
    """A reference to another span; ids are lower-case hex."""

    trace_id: str
    span_id: str
    attributes: Attributes = field(default_factory=dict)
    trace_state: str = ""


@dataclass(frozen=True, slots=True)
class SpanRecord:
    """One finished span from any source.

    Ids are lower-case hex (32 and 16 digits; a missing parent is the empty string), times are
    nanoseconds since the epoch. `kind` is `Internal`, `Server`, `Client`, `Producer`, `Consumer`
    or `Unspecified`, `status` is `Unset`, `Ok` or `Error`: the spelling of the OpenTelemetry
    Collector's ClickHouse exporter. `shortened_attributes` counts the values that the service
    shortened: each ends with the mark of `spans.model.shortening`.
    """

    trace_id: str
    span_id: str
    name: str
    start_ns: int
    end_ns: int
    parent_span_id: str = ""
    kind: str = "Internal"
    status: str = "Unset"
    status_message: str = ""
    trace_state: str = ""
    attributes: Attributes = field(default_factory=dict)
    events: tuple[SpanEvent, ...] = ()
    links: tuple[SpanLink, ...] = ()
    resource: Attributes = field(default_factory=dict)
    scope_name: str = ""
    scope_version: str = ""
    dropped_attributes: int = 0
    dropped_events: int = 0
    shortened_attributes: int = 0

    @property
    def is_verdict(self) -> bool:
        """True for our carrier spans; handmade spans belong to the application."""
        return self.scope_name == semconv.SCOPE_NAME
