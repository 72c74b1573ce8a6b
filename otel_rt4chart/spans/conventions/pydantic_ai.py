"""Pydantic AI and Logfire: GenAI's names, and older ones of their own."""

from __future__ import annotations

from collections.abc import Mapping

from otel_rt4chart.spans.conventions.convention import (
    GENERATION,
    TOOL,
    Convention,
    Shape,
    Source,
)
from otel_rt4chart.spans.view import Kind

EVENTS_PROMPT, EVENTS_CHOICE = "logfire.events.prompt", "logfire.events.choice"
ALL_PROMPT, ALL_CHOICE = "logfire.all_events.prompt", "logfire.all_events.choice"


def events_by_side(value: object) -> tuple[list[object], list[object]]:
    """A list of GenAI's events as what went in and what came out."""
    found = value if isinstance(value, list | tuple) else []
    prompt: list[object] = []
    choices: list[object] = []
    for one in found:
        is_choice = isinstance(one, Mapping) and one.get("event.name") == "gen_ai.choice"
        (choices if is_choice else prompt).append(one)
    return prompt, choices


def events(value: object) -> Mapping[str, object]:
    """A request's events under the keys of the table."""
    return dict(zip((EVENTS_PROMPT, EVENTS_CHOICE), events_by_side(value), strict=True))


def all_events(value: object) -> Mapping[str, object]:
    """A run's events under the keys of the table."""
    return dict(zip((ALL_PROMPT, ALL_CHOICE), events_by_side(value), strict=True))


PYDANTIC_AI = Convention(
    name="Pydantic AI and Logfire",
    source="https://github.com/pydantic/pydantic-ai/blob/main/pydantic_ai_slim/pydantic_ai/models/"
    "instrumented.py",
    hints=(
        ("pydantic_ai.all_messages", Kind.AGENT),
        ("all_messages_events", Kind.AGENT),
        ("tool_response", Kind.TOOL),
        (EVENTS_CHOICE, Kind.LLM),
    ),
    names=(("agent run", Kind.AGENT), ("running tool", Kind.TOOL)),
    scopes=("pydantic-ai", "logfire"),
    derived={"events": events, "all_messages_events": all_events},
    placeholder_starts=("[Scrubbed due to ",),
    input=(
        Source("tool_arguments", Shape.WHOLE, TOOL),
        Source("pydantic_ai.all_messages", Shape.WHOLE, is_last=True),
        Source(ALL_PROMPT, Shape.WHOLE, is_last=True),
        Source("prompt", Shape.WHOLE, is_last=True, scope="logfire"),
    ),
    output=(
        Source("final_result", Shape.WHOLE),
        Source(EVENTS_CHOICE, Shape.MESSAGES, GENERATION),
        Source("response_data", Shape.WHOLE, GENERATION, scope="logfire"),
        Source("tool_response", Shape.WHOLE, TOOL),
        Source("pydantic_ai.all_messages", Shape.LAST, is_last=True),
        Source(ALL_CHOICE, Shape.LAST, is_last=True),
    ),
    prompt=(
        Source(EVENTS_PROMPT, Shape.MESSAGES, GENERATION),
        Source("request_data", Shape.MESSAGES, GENERATION, scope="logfire"),
    ),
    documents=(Source("tool_response", Shape.DOCUMENTS, TOOL),),
)
