"""Messages of OpenTelemetry's GenAI instrumentations, for the inline mode, where spans have none.

Source: opentelemetry-util-genai, `completion_hook.py`; chosen with
`OTEL_INSTRUMENTATION_GENAI_COMPLETION_HOOK=rt4chart`. The hook is given the messages even where
content is not captured, so that they can be verified in this process and never leave it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, is_dataclass, replace
from typing import NamedTuple

from opentelemetry.trace import Span, format_span_id

from otel_rt4chart.guard import LOG, guard
from otel_rt4chart.spans.record import SpanRecord

MOST = 1_024
INPUT, OUTPUT = "gen_ai.input.messages", "gen_ai.output.messages"
INSTRUCTIONS = "gen_ai.system_instructions"


class _Completion(NamedTuple):
    inputs: Sequence[object]
    outputs: Sequence[object]
    instructions: Sequence[object]


class Held:
    """Completions by span, until the span has ended and is read; the oldest ones give way.

    It has no lock, which a fork could find held: each step is one operation of a dict.
    """

    def __init__(self) -> None:
        """Nothing is held until the inline mode wants it."""
        self.is_wanted = False
        self.dropped = 0
        self._found: dict[str, _Completion] = {}

    def put(self, span: Span, completion: _Completion) -> None:
        """Hold what belongs to a span that has not ended."""
        self._found[format_span_id(span.get_span_context().span_id)] = completion
        while len(self._found) > MOST:
            oldest = next(iter(self._found), None)
            if oldest is not None and self._found.pop(oldest, None) is not None:
                self.dropped += 1

    def added(self, record: SpanRecord) -> SpanRecord:
        """The span with the messages that were held for it, where it has none itself."""
        completion = self._found.pop(record.span_id, None)
        if completion is None:
            return record
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
            if HELD.is_wanted and span is not None and span.get_span_context().is_valid:
                HELD.put(span, _Completion(inputs, outputs, system_instruction))
            elif not HELD.is_wanted and not self._is_told:
                self._is_told = True
                LOG.warning(
                    "the completion hook serves RT4CHART_MODE=inline alone; it does nothing"
                )


def _json(values: Sequence[object]) -> str:
    plain = [
        asdict(one) if is_dataclass(one) and not isinstance(one, type) else one for one in values
    ]
    return json.dumps(plain, ensure_ascii=False, default=str)
