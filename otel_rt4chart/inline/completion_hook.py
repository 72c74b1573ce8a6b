"""Messages of OpenTelemetry's GenAI instrumentations, for the inline mode, where spans have none.

Source: opentelemetry-util-genai, `completion_hook.py`; chosen with
`OTEL_INSTRUMENTATION_GENAI_COMPLETION_HOOK=rt4chart`. The hook is given the messages even where
content is not captured, so that they can be verified. They reach no telemetry: verdicts on them are
told without texts. A judge or an embedding model at an endpoint is sent them, as any text.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from typing import NamedTuple

from opentelemetry.trace import Span, format_span_id

from otel_rt4chart.core.guard import LOG, guard
from otel_rt4chart.spans.model import values
from otel_rt4chart.spans.model.record import SpanRecord

MOST, MAX_CHARS = 1_024, 64 * 2**20
INPUT, OUTPUT = "gen_ai.input.messages", "gen_ai.output.messages"
INSTRUCTIONS = "gen_ai.system_instructions"


class _Completion(NamedTuple):
    inputs: Sequence[object]
    outputs: Sequence[object]
    instructions: Sequence[object]


class _Kept(NamedTuple):
    completion: _Completion
    chars: int


class Held:
    """Completions by span, until the span has ended and is read; the oldest ones give way.

    It has no lock, which a fork could find held: each step is one operation of a dict.
    """

    def __init__(self) -> None:
        """Nothing is held until the inline mode wants it."""
        self.is_wanted = False
        self.dropped = 0
        self._found: dict[str, _Kept] = {}

    def put(self, span: Span, completion: _Completion) -> None:
        """Hold what belongs to a span that has not ended: 1,024 of them, and 64 Mi characters."""
        kept = _Kept(completion, _chars(completion))
        self._found[format_span_id(span.get_span_context().span_id)] = kept
        while self._is_over():
            oldest = next(iter(list(self._found)), None)
            if oldest is not None and self._found.pop(oldest, None) is not None:
                self.dropped += 1

    def _is_over(self) -> bool:
        # Counted anew: a running number would want a lock.
        held = list(self._found.values())
        return len(held) > MOST or sum(one.chars for one in held) > MAX_CHARS

    def added(self, record: SpanRecord) -> SpanRecord:
        """The span with the messages that were held for it, where it has none itself."""
        kept = self._found.pop(record.span_id, None)
        if kept is None:
            return record
        completion = kept.completion
        texts = {
            INPUT: _json(completion.inputs),
            OUTPUT: _json(completion.outputs),
            INSTRUCTIONS: _json(completion.instructions),
        }
        return replace(record, attributes={**texts, **record.attributes})

    def clear(self) -> None:
        """Forget all, and want nothing more."""
        self.is_wanted = False
        self._found.clear()


HELD = Held()


class CompletionHook:
    """What the entry point `opentelemetry_genai_completion_hook` loads."""

    def __init__(self) -> None:
        """One is made for each instrumentation."""
        self._is_told = False

    def on_completion(
        self,
        *,
        inputs: Sequence[object] = (),
        outputs: Sequence[object] = (),
        system_instruction: Sequence[object] = (),
        span: Span | None = None,
        **_: object,
    ) -> None:
        """Called on the application's thread just before the span ends: only holds them."""
        with guard("a completion"):
            # A span that is not recorded never ends with us, and would be held for nothing.
            if HELD.is_wanted and span is not None and span.is_recording():
                HELD.put(span, _Completion(inputs, outputs, system_instruction))
            elif not HELD.is_wanted and not self._is_told:
                self._is_told = True
                LOG.warning(
                    "the completion hook serves RT4CHART_MODE=inline alone; it does nothing"
                )


def _json(messages: Sequence[object]) -> str:
    """As JSON, whatever is in them: what has no form there as text."""
    return values.text(_plain(list(messages)))


def _plain(value: object, depth: int = 0) -> object:
    inner = _inner(value)
    if inner is None:
        return value
    if depth > values.STEPS:
        return values.text(value)
    if isinstance(inner, Mapping):
        return {str(key): _plain(one, depth + 1) for key, one in inner.items()}
    return [_plain(one, depth + 1) for one in inner]


def _inner(value: object) -> Mapping[object, object] | Sequence[object] | None:
    """What a map, a list or one of the instrumentations' dataclasses holds; None for a leaf."""
    if is_dataclass(value) and not isinstance(value, type):
        return {one.name: getattr(value, one.name) for one in fields(value)}
    return value if isinstance(value, Mapping | list | tuple) else None


def _chars(completion: _Completion) -> int:
    return sum(map(len, _texts(completion)))


def _texts(value: object) -> Iterator[str | bytes]:
    """The texts at any depth; what holds itself is looked into once."""
    waiting, seen = [value], set()
    while waiting:
        one = waiting.pop()
        if isinstance(one, str | bytes):
            yield one
            continue
        inner = _inner(one)
        if inner is None or id(one) in seen:
            continue
        seen.add(id(one))
        waiting += inner.values() if isinstance(inner, Mapping) else inner
