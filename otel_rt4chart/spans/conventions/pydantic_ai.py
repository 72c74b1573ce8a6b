"""Pydantic AI and Logfire: GenAI's names, and older ones of their own."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from otel_rt4chart.spans.conventions.convention import GENERATION, TOOL, Convention, Shape, Source
from otel_rt4chart.spans.model.view import Kind

EVENTS_PROMPT, EVENTS_CHOICE = "logfire.events.prompt", "logfire.events.choice"
ALL_PROMPT, ALL_CHOICE = "logfire.all_events.prompt", "logfire.all_events.choice"


def by_side(value: object, prompt: str, choice: str) -> Mapping[str, object]:
    """A list of GenAI's events under two keys: what went in, and what came out."""
    sides: dict[str, list[object]] = {}
    for one in value if isinstance(value, list | tuple) else ():
        is_choice = isinstance(one, Mapping) and one.get("event.name") == "gen_ai.choice"
        sides.setdefault(choice if is_choice else prompt, []).append(one)
    return sides


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
    derived={
        "events": partial(by_side, prompt=EVENTS_PROMPT, choice=EVENTS_CHOICE),
        "all_messages_events": partial(by_side, prompt=ALL_PROMPT, choice=ALL_CHOICE),
    },
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
