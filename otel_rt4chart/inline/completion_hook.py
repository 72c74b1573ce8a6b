"""The completion hook: messages of OpenTelemetry's GenAI instrumentations for the inline mode.

Source: opentelemetry-util-genai, `completion_hook.py`; enabled with
`OTEL_INSTRUMENTATION_GENAI_COMPLETION_HOOK=rt4chart`. The hook receives the messages even if
content is not captured on spans, so that answers can be verified. They reach no telemetry: verdicts
on them are emitted without texts. A judge or an embedding model at an endpoint receives them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from typing import NamedTuple

from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.trace import Span, format_span_id

from otel_rt4chart.core.guard import LOG, guard
from otel_rt4chart.spans.model.record import SpanRecord
from otel_rt4chart.spans.model.values import MAX_DEPTH as VALUE_DEPTH
from otel_rt4chart.spans.model.values import as_text

MAX_COMPLETIONS, MAX_CHARS = 1_024, 64 * 2**20
INPUT, OUTPUT = "gen_ai.input.messages", "gen_ai.output.messages"
INSTRUCTIONS = "gen_ai.system_instructions"


class _Completion(NamedTuple):
    inputs: Sequence[object]
    outputs: Sequence[object]
    instructions: Sequence[object]


class _PendingCompletion(NamedTuple):
    completion: _Completion
    chars: int


class PendingCompletions:
    """Completions by span, until the span has ended and is read. Bounded: the oldest are dropped.

    It has no lock, because a fork could copy a held one: each step is one atomic dict operation.
    """

    def __init__(self) -> None:
        """Disabled until the inline mode starts."""
        self.is_enabled = False
        self.dropped = 0
        self._by_span: dict[str, _PendingCompletion] = {}

    def put(self, span: Span, completion: _Completion) -> None:
        """Store the messages of a span that has not ended, at most 1,024 and 64 Mi characters."""
        pending = _PendingCompletion(completion, _char_count(completion))
        self._by_span[format_span_id(span.get_span_context().span_id)] = pending
        while self._is_over():
            oldest = next(iter(list(self._by_span)), None)
            if oldest is not None and self._by_span.pop(oldest, None) is not None:
                self.dropped += 1

    def _is_over(self) -> bool:
        # Recounted each time: a running total would need a lock.
        pending = list(self._by_span.values())
        return len(pending) > MAX_COMPLETIONS or sum(item.chars for item in pending) > MAX_CHARS

    def with_messages(self, record: SpanRecord) -> SpanRecord:
        """The span with its stored messages; its own attributes take precedence."""
        pending = self._by_span.pop(record.span_id, None)
        if pending is None:
            return record
        completion = pending.completion
        texts = {
            INPUT: _messages_json(completion.inputs),
            OUTPUT: _messages_json(completion.outputs),
            INSTRUCTIONS: _messages_json(completion.instructions),
        }
        return replace(record, attributes={**texts, **record.attributes})

    def has_messages(self, span: ReadableSpan) -> bool:
        """True if messages of the span are stored."""
        if not self._by_span or (context := span.get_span_context()) is None:
            return False
        return format_span_id(context.span_id) in self._by_span

    def forget(self, spans: Iterable[ReadableSpan]) -> None:
        """Drop the messages of ended spans that are not read."""
        if not self._by_span:
            return
        for span in spans:
            if (context := span.get_span_context()) is not None:
                self._by_span.pop(format_span_id(context.span_id), None)

    def clear(self) -> None:
        """Disable, and drop all messages."""
        self.is_enabled = False
        self._by_span.clear()


PENDING_COMPLETIONS = PendingCompletions()


class CompletionHook:
    """The class of the entry point `opentelemetry_genai_completion_hook`."""

    def __init__(self) -> None:
        """Each instrumentation creates one."""
        self._has_warned = False

    def on_completion(
        self,
        *,
        inputs: Sequence[object] = (),
        outputs: Sequence[object] = (),
        system_instruction: Sequence[object] = (),
        span: Span | None = None,
        **_: object,
    ) -> None:
        """Store the messages; called on the application's thread just before the span ends."""
        with guard("a completion"):
            # We never see the end of a span that is not recording: its messages would stay.
            if PENDING_COMPLETIONS.is_enabled and span is not None and span.is_recording():
                PENDING_COMPLETIONS.put(span, _Completion(inputs, outputs, system_instruction))
            elif not PENDING_COMPLETIONS.is_enabled and not self._has_warned:
                self._has_warned = True
                LOG.warning("the completion hook has no effect: it needs RT4CHART_MODE=inline")


def _messages_json(messages: Sequence[object]) -> str:
    """Messages as JSON; values without a JSON form become text."""
    return as_text(_as_plain(list(messages)))


def _as_plain(value: object, depth: int = 0) -> object:
    contents = _contents(value)
    if contents is None:
        return value
    if depth > VALUE_DEPTH:
        return as_text(value)
    if isinstance(contents, Mapping):
        return {str(key): _as_plain(value, depth + 1) for key, value in contents.items()}
    return [_as_plain(item, depth + 1) for item in contents]


def _contents(value: object) -> Mapping[object, object] | Sequence[object] | None:
    """The contents of a map, a list or a dataclass of the instrumentations; None for a leaf."""
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in fields(value)}
    return value if isinstance(value, Mapping | list | tuple) else None


def _char_count(completion: _Completion) -> int:
    return sum(map(len, _all_texts(completion)))


def _all_texts(value: object) -> Iterator[str | bytes]:
    """The texts at any depth; each container is visited once, also in a cycle."""
    stack, seen = [value], set()
    while stack:
        item = stack.pop()
        if isinstance(item, str | bytes):
            yield item
            continue
        contents = _contents(item)
        if contents is None or id(item) in seen:
            continue
        seen.add(id(item))
        stack += contents.values() if isinstance(contents, Mapping) else contents
