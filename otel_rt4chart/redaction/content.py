"""Which attributes hold texts of users and passages, and how they are rewritten in place."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from opentelemetry.util.types import AttributeValue

from otel_rt4chart.core import semconv
from otel_rt4chart.spans.conventions.convention import CONTEXT_NAMES
from otel_rt4chart.spans.reading.documents import (
    AROUND_MANY,
    AROUND_ONE,
    BESIDE,
    CONTENT_KEYS,
    METADATA_KEYS,
)
from otel_rt4chart.spans.reading.messages import CALLS, HOLDERS, RESULTS
from otel_rt4chart.spans.reading.whole_text import INPUT_KEYS, OUTPUT_KEYS

# What names and orders the texts stays: without it nobody could tell what was there.
_ENUMS = "role type kind label relation annotator_kind finish_reason mime_type"
_IDS = "id tool_call_id identifier"
STRUCTURE = frozenset(f"{_ENUMS} {_IDS}".split())
_BESIDE = frozenset({
    "parts", "contents", "message_content", "tool_call", "function", "name", "arguments",
    "description", "system", "event", "finish_reasons", "ids", "embeddings", "choice", "user",
    "assistant", "tool",
})  # fmt: skip
_FIELDS = STRUCTURE.union(
    _BESIDE, CONTEXT_NAMES, AROUND_MANY, AROUND_ONE, BESIDE, CONTENT_KEYS, METADATA_KEYS,
    CALLS, HOLDERS, RESULTS, INPUT_KEYS, OUTPUT_KEYS,
)  # fmt: skip


def is_field(key: str) -> bool:
    """True for the name of a known field, or for several with dots between them."""
    return all(one in _FIELDS or (one.isdecimal() and len(one) < 7) for one in key.split("."))


Rewrite = Callable[[str], str]
DEEPEST = 100
TEXT_HOLDERS = (
    # OpenInference
    "input.value",
    "output.value",
    "retrieval.documents",
    "reranker.input_documents",
    "reranker.output_documents",
    "reranker.query",
    "llm.input_messages",
    "llm.output_messages",
    "llm.prompts",
    "llm.choices",
    "llm.prompt_template.template",
    "llm.prompt_template.variables",
    "llm.function_call",
    "embedding.embeddings",
    "embedding.text",
    "metadata",
    "tool.parameters",
    # OpenTelemetry GenAI, traceAI's keys under its names, and the events of 1.36 and before
    "gen_ai.input.messages",
    "gen_ai.output.messages",
    "gen_ai.system_instructions",
    "gen_ai.retrieval.query",
    "gen_ai.retrieval.documents",
    "gen_ai.reranker",
    "gen_ai.tool.call.arguments",
    "gen_ai.tool.call.result",
    "gen_ai.prompt",
    "gen_ai.completion",
    "gen_ai.events",
    "gen_ai.event.content",
    "gen_ai.task",
    "gen_ai.evaluation.explanation",
    "content",
    "message",
    # Traceloop, vector databases
    "traceloop.entity.input",
    "traceloop.entity.output",
    "traceloop.prompt.template",
    "traceloop.prompt.template_variables",
    "db.query.result",
    "db.search.result",
    # Langfuse
    "langfuse.observation.input",
    "langfuse.observation.output",
    "langfuse.observation.metadata",
    "langfuse.observation.status_message",
    "langfuse.trace.input",
    "langfuse.trace.output",
    "langfuse.trace.metadata",
    # Vercel
    "ai.prompt",
    "ai.response",
    "ai.result",
    "ai.toolCall",
    "ai.ranking",
    "ai.value",
    "ai.values",
    # TruLens
    "ai.observability.call",
    "ai.observability.retrieval",
    "ai.observability.reranking",
    "ai.observability.record_root",
    # MLflow, Laminar, Google ADK
    "mlflow.spanInputs",
    "mlflow.spanOutputs",
    "mlflow.chat.messages",
    "lmnr.span.input",
    "lmnr.span.output",
    "gcp.vertex.agent",
    # Pydantic AI, Logfire
    "pydantic_ai.all_messages",
    "all_messages_events",
    "events",
    "final_result",
    "request_data",
    "response_data",
    "logfire.msg",
    "logfire.events",
    "logfire.all_events",
    "input",
    "output",
    "prompt",
    "completion",
    "tool_arguments",
    "tool_response",
    # what is raised may quote what it could not read
    "exception.message",
    "exception.stacktrace",
    # ours
    "rt4chart.claims",
    "rt4chart.findings",
    "evaluations",
)
LEAST_DIGITS = 7  # a smaller whole number is a count, not somebody's
_HOLDERS = frozenset(TEXT_HOLDERS)


def holds_text(key: str) -> bool:
    """True for an attribute whose value may quote users or passages."""
    if key.rpartition(".")[2] in STRUCTURE:
        return False
    at = len(key)
    while at > 0:
        if key[:at] in _HOLDERS:
            return True
        at = key.rfind(".", 0, at)
    return False


def rewritten(attributes: Mapping[str, AttributeValue], rewrite: Rewrite) -> dict[str, Any]:
    """The attributes, with the texts in those that hold some rewritten."""
    return {
        key: in_value(value, rewrite) if holds_text(key) else value
        for key, value in attributes.items()
    }


def in_value(value: Any, rewrite: Rewrite, depth: int = 0) -> Any:  # noqa: ANN401 JSON is anything
    """Texts in a value, at any depth; a number becomes a text only where one is rewritten."""
    if isinstance(value, str):
        return _in_text(value, rewrite, depth)
    if value is None or isinstance(value, bool | float):
        return value
    if isinstance(value, int):
        return _in_number(value, rewrite)
    if isinstance(value, Mapping):
        return _in_map(value, rewrite, depth)
    if isinstance(value, Sequence):
        inner = [in_value(one, rewrite, depth + 1) for one in value]
        return tuple(inner) if isinstance(value, tuple) else inner
    return rewrite(str(value))


def _in_number(value: int, rewrite: Rewrite) -> int | str:
    if abs(value) < 10 ** (LEAST_DIGITS - 1) or value.bit_length() > 256:
        return value
    shown = str(value)
    changed = rewrite(shown)
    return value if changed == shown else changed


def _in_map(value: Mapping[Any, Any], rewrite: Rewrite, depth: int) -> dict[Any, Any]:
    """Keys are rewritten too, but for the names of fields; those that become alike are numbered."""
    found: dict[Any, Any] = {}
    numbers: Counter[str] = Counter()
    for key, one in value.items():
        name = key
        if isinstance(key, str) and not is_field(key):
            name = rewrite(key)
            numbers[name] += 1
            name += f"~{numbers[name]}" * (numbers[name] > 1)
        is_kept = key in STRUCTURE and _is_plain(one)
        found[name] = one if is_kept else in_value(one, rewrite, depth + 1)
    return found


def _in_text(text: str, rewrite: Rewrite, depth: int) -> str:
    """JSON inside a text stays JSON; what only looks like it is a text."""
    if depth < DEEPEST and text[:64].lstrip()[:1] in ("{", "[", '"'):
        try:
            # Of a key that stands twice readers take the last, but the first one is there to read.
            twice: list[bool] = []
            value = json.loads(text, object_pairs_hook=partial(_object, twice))
            changed = in_value(value, rewrite, depth + 1)
            if changed == value and not twice:
                return text
            if changed == semconv.REDACTED:
                return semconv.REDACTED
            return json.dumps(changed, ensure_ascii=False)
        except (ValueError, RecursionError):
            pass
    return rewrite(text)


def _object(twice: list[bool], pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        twice.append(True)
    return found


def _is_plain(value: object) -> bool:
    """True for a text, a number, or a list of them."""
    parts = value if isinstance(value, list | tuple) else (value,)
    return all(one is None or isinstance(one, str | int | float) for one in parts)
