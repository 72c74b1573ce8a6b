"""What a golden span is: how a convention writes one, and what is read from it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields

from otel_rt4chart.spans.model.record import SpanEvent, SpanRecord
from otel_rt4chart.spans.model.span_view import ChatMessage, SpanView
from otel_rt4chart.verify.core.model import Passage


@dataclass(frozen=True, slots=True, kw_only=True)
class Golden:
    """A span of a convention; `read` are the fields of its view that are not as by default.

    `dropped_attributes` and `dropped_events` are how many the SDK evicted before these.
    """

    name: str
    attributes: Mapping[str, object]
    read: Mapping[str, object]
    span: str = "span"
    scope: str = ""
    events: Sequence[tuple[str, Mapping[str, object]]] = ()
    dropped_attributes: int = 0
    dropped_events: int = 0

    @property
    def record(self) -> SpanRecord:
        """The span as a record."""
        return SpanRecord(
            "a" * 32,
            "b" * 16,
            self.span,
            1,
            2,
            attributes=dict(self.attributes),  # type: ignore[arg-type]
            events=tuple(SpanEvent(name, 1, dict(given)) for name, given in self.events),  # type: ignore[arg-type]
            scope_name=self.scope,
            dropped_attributes=self.dropped_attributes,
            dropped_events=self.dropped_events,
        )

    @property
    def expected(self) -> Mapping[str, object]:
        """Every field of the view but the span itself."""
        return said(SpanView(self.record)) | dict(self.read)


def said(view: SpanView) -> dict[str, object]:
    """A view's fields without the span that it is of."""
    return {one.name: getattr(view, one.name) for one in fields(view) if one.name != "span"}


def doc(text: str, name: str = "", score: float | None = None, /, **metadata: object) -> Passage:
    """A passage; without a name it has the one that its content gives it."""
    digest = hashlib.sha256(text.encode()).hexdigest()
    return Passage(name or f"sha256:{digest[:12]}", text, score, metadata)


def user(text: str) -> ChatMessage:
    """A message of the user."""
    return ChatMessage("user", text)


def system(text: str) -> ChatMessage:
    """A message of the system."""
    return ChatMessage("system", text)
