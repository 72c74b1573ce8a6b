"""Finds the attributes that hold texts of users and passages, and rewrites those texts."""

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
    CONTENT_KEYS,
    DOCUMENT_FIELDS,
    DOCUMENT_WRAPPERS,
    LIST_WRAPPERS,
    METADATA_KEYS,
)
from otel_rt4chart.spans.reading.messages import (
    INPUT_KEYS,
    MESSAGE_KEYS,
    OUTPUT_KEYS,
    TOOL_CALL_KEYS,
    TOOL_RESULT_KEYS,
)

# Values of these keys identify and classify texts. They stay, so that the structure is readable.
_ENUM_KEYS = "role type kind label relation annotator_kind finish_reason mime_type"
_ID_KEYS = "id tool_call_id identifier"
STRUCTURAL_KEYS = frozenset(f"{_ENUM_KEYS} {_ID_KEYS}".split())
_MESSAGE_FIELDS = frozenset({
    "parts", "contents", "message_content", "tool_call", "function", "name", "arguments",
    "description", "system", "event", "finish_reasons", "ids", "embeddings", "choice", "user",
    "assistant", "tool",
})  # fmt: skip
_FIELD_NAMES = STRUCTURAL_KEYS.union(
    _MESSAGE_FIELDS, CONTEXT_NAMES, LIST_WRAPPERS, DOCUMENT_WRAPPERS, DOCUMENT_FIELDS,
    CONTENT_KEYS, METADATA_KEYS,
    TOOL_CALL_KEYS, MESSAGE_KEYS, TOOL_RESULT_KEYS, INPUT_KEYS, OUTPUT_KEYS,
)  # fmt: skip


def is_field(key: str) -> bool:
    """True for the name of a known field, or for several joined by dots."""
    return all(
        part in _FIELD_NAMES or (part.isdecimal() and len(part) < 7) for part in key.split(".")
    )


Rewrite = Callable[[str], str]
MAX_DEPTH = 100
TEXT_KEYS = (
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
    # Exceptions: their messages may quote text.
    "exception.message",
    "exception.stacktrace",
    # Our own
    "rt4chart.claims",
    "rt4chart.findings",
    "evaluations",
)
MIN_NUMBER_DIGITS = 7  # a shorter integer is a count, not an account or phone number
_TEXT_KEYS = frozenset(TEXT_KEYS)


def holds_text(key: str) -> bool:
    """True for an attribute whose value may quote users or passages."""
    if key.rpartition(".")[2] in STRUCTURAL_KEYS:
        return False
    end = len(key)
    while end > 0:
        if key[:end] in _TEXT_KEYS:
            return True
        end = key.rfind(".", 0, end)
    return False


def rewrite_attributes(
    attributes: Mapping[str, AttributeValue], rewrite: Rewrite
) -> dict[str, Any]:
    """The attributes with all texts rewritten."""
    return {
        key: rewrite_value(value, rewrite) if holds_text(key) else value
        for key, value in attributes.items()
    }


def rewrite_value(value: Any, rewrite: Rewrite, depth: int = 0) -> Any:  # noqa: ANN401 JSON is anything
    """Rewrite texts in a value at any depth; a number becomes a text only if rewritten."""
    if isinstance(value, str):
        return _rewrite_text(value, rewrite, depth)
    if value is None or isinstance(value, bool | float):
        return value
    if isinstance(value, int):
        return _rewrite_number(value, rewrite)
    if isinstance(value, Mapping):
        return _rewrite_map(value, rewrite, depth)
    if isinstance(value, Sequence):
        inner = [rewrite_value(item, rewrite, depth + 1) for item in value]
        return tuple(inner) if isinstance(value, tuple) else inner
    return rewrite(str(value))


def _rewrite_number(value: int, rewrite: Rewrite) -> int | str:
    if abs(value) < 10 ** (MIN_NUMBER_DIGITS - 1) or value.bit_length() > 256:
        return value
    written = str(value)
    changed = rewrite(written)
    return value if changed == written else changed


def _rewrite_map(value: Mapping[Any, Any], rewrite: Rewrite, depth: int) -> dict[Any, Any]:
    """Rewrite values, and keys except names of known fields; equal rewritten keys are numbered."""
    result: dict[Any, Any] = {}
    numbers: Counter[str] = Counter()
    for key, item in value.items():
        new_key = key
        if isinstance(key, str) and not is_field(key):
            new_key = rewrite(key)
            numbers[new_key] += 1
            new_key += f"~{numbers[new_key]}" * (numbers[new_key] > 1)
        is_structural = key in STRUCTURAL_KEYS and _is_scalar_or_list(item)
        result[new_key] = item if is_structural else rewrite_value(item, rewrite, depth + 1)
    return result


def _rewrite_text(text: str, rewrite: Rewrite, depth: int) -> str:
    """Rewrite a text; JSON in it stays JSON."""
    if depth < MAX_DEPTH and text[:64].lstrip()[:1] in ("{", "[", '"'):
        try:
            # Parsers use the last of duplicate keys, but the text of the first one must not stay.
            duplicates: list[bool] = []
            value = json.loads(text, object_pairs_hook=partial(_collect_object, duplicates))
            changed = rewrite_value(value, rewrite, depth + 1)
            if changed == value and not duplicates:
                return text
            if changed == semconv.REDACTED:
                return semconv.REDACTED
            return json.dumps(changed, ensure_ascii=False)
        except (ValueError, RecursionError):
            pass
    return rewrite(text)


def _collect_object(duplicates: list[bool], pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        duplicates.append(True)
    return found


def _is_scalar_or_list(value: object) -> bool:
    """True for a string, a number, or a list of them."""
    parts = value if isinstance(value, list | tuple) else (value,)
    return all(part is None or isinstance(part, str | int | float) for part in parts)
