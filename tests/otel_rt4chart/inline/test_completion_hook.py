from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest
from opentelemetry.sdk.trace import Span, TracerProvider
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF, ALWAYS_ON, Sampler
from opentelemetry.trace import Span as AnySpan
from opentelemetry.trace import format_span_id

from otel_rt4chart.inline.completion_hook import (
    INPUT,
    MAX_COMPLETIONS,
    OUTPUT,
    PENDING_COMPLETIONS,
    CompletionHook,
)
from otel_rt4chart.spans.model.record import SpanRecord


@dataclass
class Text:
    """A part of a message, as the instrumentations make them."""

    content: object
    type: str = "text"


@dataclass
class Said:
    """A message of theirs."""

    role: str
    parts: list[Text] = field(default_factory=list)


@pytest.fixture(autouse=True)
def wanted() -> Iterator[None]:
    """The inline mode is on, for one test."""
    PENDING_COMPLETIONS.is_enabled = True
    yield
    PENDING_COMPLETIONS.clear()


def completed(*inputs: object, sampler: Sampler = ALWAYS_ON, outputs: object = ()) -> AnySpan:
    """A span for which the hook was called."""
    tracer = TracerProvider(sampler=sampler, shutdown_on_exit=False).get_tracer("app")
    span = tracer.start_span("chat m")
    CompletionHook().on_completion(inputs=inputs, outputs=outputs, span=span)  # type: ignore[arg-type]
    span.end()
    return span


def read(span: AnySpan) -> SpanRecord:
    """The span with what was held for it."""
    assert isinstance(span, Span)
    return PENDING_COMPLETIONS.with_messages(
        SpanRecord("a" * 32, format_span_id(span.context.span_id), "chat m", 1, 2)
    )


def test_messages_are_held_until_the_span_is_read() -> None:
    """Once, as JSON."""
    span = completed(Said("user", [Text("How long?")]), outputs=[Said("assistant")])

    found = read(span).attributes

    assert json.loads(str(found[INPUT])) == [
        {"role": "user", "parts": [{"content": "How long?", "type": "text"}]}
    ]
    assert json.loads(str(found[OUTPUT])) == [{"role": "assistant", "parts": []}]
    assert read(span).attributes == {}


def test_messages_of_a_span_that_is_not_read_are_dropped() -> None:
    """They would stay until others need their room."""
    one, other = (completed(Said("user", [Text("How long?")])) for _ in range(2))
    assert isinstance(one, Span)

    PENDING_COMPLETIONS.forget([one])

    assert read(one).attributes == {}
    assert INPUT in read(other).attributes


def test_nothing_is_held_of_a_span_that_is_dropped() -> None:
    """It never ends with us, and would stay."""
    span = completed(Said("user", [Text("x" * 100_000)]), sampler=ALWAYS_OFF)

    assert not PENDING_COMPLETIONS._by_span
    assert not span.is_recording()


def test_what_is_held_is_bounded_by_number(monkeypatch: pytest.MonkeyPatch) -> None:
    """The oldest give way, and are counted."""
    before = PENDING_COMPLETIONS.dropped
    spans = [completed(Said("user", [Text("x")])) for _ in range(MAX_COMPLETIONS + 2)]

    assert len(PENDING_COMPLETIONS._by_span) == MAX_COMPLETIONS
    assert PENDING_COMPLETIONS.dropped == before + 2
    assert read(spans[0]).attributes == {}
    assert read(spans[-1]).attributes == {
        "gen_ai.input.messages": '[{"role":"user","parts":[{"content":"x","type":"text"}]}]',
        "gen_ai.output.messages": "[]",
        "gen_ai.system_instructions": "[]",
    }


def test_what_is_held_is_bounded_by_size(monkeypatch: pytest.MonkeyPatch) -> None:
    """Long prompts count as long; one that alone is too long is not held."""
    monkeypatch.setattr("otel_rt4chart.inline.completion_hook.MAX_CHARS", 2_500)
    spans = [completed({"role": "user", "content": "x" * 1_000}) for _ in range(3)]

    assert [bool(read(one).attributes) for one in spans] == [False, True, True]
    assert read(completed("x" * 3_000)).attributes == {}


@pytest.mark.parametrize("strange", [{(1, 2): 3}, threading.Lock(), float("nan"), b"x", "\ud800"])
def test_whatever_a_message_holds_its_text_is_read(strange: object) -> None:
    """Keys that JSON has not, objects that nobody can copy."""
    span = completed(Said("user", [Text("How long?"), Text(strange)]))

    found = json.loads(str(read(span).attributes[INPUT]))

    assert found[0]["parts"][0]["content"] == "How long?"


def test_a_message_that_holds_itself_is_read() -> None:
    """As far as anybody would read it."""
    endless: dict[str, object] = {"role": "user", "content": "How long?"}
    endless["again"] = endless

    assert json.loads(str(read(completed(endless)).attributes[INPUT]))[0]["content"] == "How long?"
