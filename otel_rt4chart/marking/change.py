"""What happens to spans on their way to the exporter: marks, and redaction."""

from __future__ import annotations

from collections.abc import Sequence

from opentelemetry.sdk.trace import ReadableSpan

from otel_rt4chart.guard import guard
from otel_rt4chart.marking.copies import rewritten, textless
from otel_rt4chart.marking.exporter import Change
from otel_rt4chart.redaction import Redactor
from otel_rt4chart.spans.sdk import is_ours


def changes(mark: Change, redactor: Redactor) -> Change:
    """The spans marked, then redacted; a span that cannot be redacted goes on without its texts."""

    def change(spans: Sequence[ReadableSpan]) -> Sequence[ReadableSpan]:
        marked: Sequence[ReadableSpan] = spans
        with guard("marking spans"):
            marked = mark(spans)
        return [_redacted(span, redactor) for span in marked] if redactor.is_on else marked

    return change


def unmarked(spans: Sequence[ReadableSpan]) -> Sequence[ReadableSpan]:
    """The spans as they are, where they are only redacted."""
    return spans


def _redacted(span: ReadableSpan, redactor: Redactor) -> ReadableSpan:
    if is_ours(span):
        return span  # a verdict of ours: what it quotes was redacted before it was judged
    with guard("redacting a span"):
        return rewritten(span, redactor.attributes, redactor.text)
    return textless(span)
