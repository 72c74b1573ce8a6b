"""Pydantic AI and Logfire: GenAI's names, and older names of their own."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from otel_rt4chart.spans.conventions.convention import (
    GENERATION_KINDS,
    TOOL_KINDS,
    AttributeSource,
    Convention,
    ValueShape,
)
from otel_rt4chart.spans.model.span_view import OperationKind

EVENTS_PROMPT, EVENTS_CHOICE = "logfire.events.prompt", "logfire.events.choice"
ALL_PROMPT, ALL_CHOICE = "logfire.all_events.prompt", "logfire.all_events.choice"


def split_events(
    value: object, _: Mapping[str, object], prompt: str, choice: str
) -> Mapping[str, object]:
    """Split a list of GenAI events into two keys: the prompt and the choices."""
    sides: dict[str, list[object]] = {}
    for event in value if isinstance(value, list | tuple) else ():
        is_choice = isinstance(event, Mapping) and event.get("event.name") == "gen_ai.choice"
        sides.setdefault(choice if is_choice else prompt, []).append(event)
    return sides


PYDANTIC_AI = Convention(
    name="Pydantic AI and Logfire",
    source="https://github.com/pydantic/pydantic-ai/blob/main/pydantic_ai_slim/pydantic_ai/models/"
    "instrumented.py",
    hints=(
        ("pydantic_ai.all_messages", OperationKind.AGENT),
        ("all_messages_events", OperationKind.AGENT),
        ("tool_response", OperationKind.TOOL),
        (EVENTS_CHOICE, OperationKind.LLM),
    ),
    names=(("agent run", OperationKind.AGENT), ("running tool", OperationKind.TOOL)),
    scopes=("pydantic-ai", "logfire"),
    derived={
        "events": partial(split_events, prompt=EVENTS_PROMPT, choice=EVENTS_CHOICE),
        "all_messages_events": partial(split_events, prompt=ALL_PROMPT, choice=ALL_CHOICE),
    },
    placeholder_starts=("[Scrubbed due to ",),
    input=(
        AttributeSource("tool_arguments", ValueShape.WHOLE, TOOL_KINDS),
        AttributeSource("pydantic_ai.all_messages", ValueShape.WHOLE, is_last=True),
        AttributeSource(ALL_PROMPT, ValueShape.WHOLE, is_last=True),
        AttributeSource("prompt", ValueShape.WHOLE, is_last=True, scope="logfire"),
    ),
    output=(
        AttributeSource("final_result", ValueShape.WHOLE),
        AttributeSource(EVENTS_CHOICE, ValueShape.MESSAGES, GENERATION_KINDS),
        AttributeSource("response_data", ValueShape.WHOLE, GENERATION_KINDS, scope="logfire"),
        AttributeSource("tool_response", ValueShape.WHOLE, TOOL_KINDS),
        AttributeSource("pydantic_ai.all_messages", ValueShape.LAST, is_last=True),
        AttributeSource(ALL_CHOICE, ValueShape.LAST, is_last=True),
    ),
    prompt=(
        AttributeSource(EVENTS_PROMPT, ValueShape.MESSAGES, GENERATION_KINDS),
        AttributeSource("request_data", ValueShape.MESSAGES, GENERATION_KINDS, scope="logfire"),
    ),
    documents=(AttributeSource("tool_response", ValueShape.DOCUMENTS, TOOL_KINDS),),
)
