"""What happens to spans on their way to the exporter: marks, and redaction."""

from __future__ import annotations

from collections.abc import Sequence

from opentelemetry.sdk.trace import ReadableSpan

from otel_rt4chart.guard import guard
from otel_rt4chart.marking.copies import Attributes, rewritten
from otel_rt4chart.marking.decisions import Decisions
from otel_rt4chart.marking.exporter import Change
from otel_rt4chart.redaction import Redactor


def changes(decisions: Decisions, redactor: Redactor) -> Change:
    """The spans marked, then redacted; a span that cannot be redacted goes on without its texts."""

    def change(spans: Sequence[ReadableSpan]) -> Sequence[ReadableSpan]:
        marked: Sequence[ReadableSpan] = spans
        with guard("marking spans"):
            marked = decisions.mark(spans)
        return [_redacted(span, redactor) for span in marked] if redactor.is_on else marked

    return change


def _redacted(span: ReadableSpan, redactor: Redactor) -> ReadableSpan:
    with guard("redacting a span"):
        return rewritten(span, redactor.attributes)
    return rewritten(span, _textless)


def _textless(attributes: Attributes) -> Attributes:
    return {
        name: value for name, value in attributes.items() if isinstance(value, bool | int | float)
    }
