"""Finds the attributes that hold texts of users and passages, and rewrites attribute values."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from opentelemetry.util.types import AttributeValue

from otel_rt4chart.core import semconv
from otel_rt4chart.spans.conventions.convention import CONTEXT_NAMES
from otel_rt4chart.spans.conventions.registry import KIND_ATTRIBUTES
from otel_rt4chart.spans.exchange.route import ROUTE_KEY_SET
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


class ValueRewrites(NamedTuple):
    """How the texts in a value are rewritten, and the ids and classes among them."""

    text: Rewrite
    identifier: Rewrite


class AttributeRewrites(NamedTuple):
    """How texts, the values of all other attributes, and ids are rewritten."""

    text: Rewrite
    elsewhere: Rewrite
    identifier: Rewrite

    @property
    def of_text(self) -> ValueRewrites:
        """For attributes that hold texts."""
        return ValueRewrites(self.text, self.identifier)

    @property
    def of_others(self) -> ValueRewrites:
        """For all other attributes."""
        return ValueRewrites(self.elsewhere, self.identifier)


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
    "traceloop.llama_index",
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
    # Statements and addresses hold parameters.
    "db.statement",
    "db.query.text",
    "db.query.parameter",
    "db.operation.parameter",
    "url.full",
    "url.query",
    "http.url",
    "http.target",
    # Exceptions: their messages may quote text.
    "exception.message",
    "exception.stacktrace",
    # Our own
    "rt4chart.claims",
    "rt4chart.findings",
    "evaluations",
)
MIN_NUMBER_DIGITS = 7  # a shorter number is a count, not an account or phone number
MAX_NUMBER = 10**77
_NAME_KEYS = ROUTE_KEY_SET.union(attribute for _, attribute, _ in KIND_ATTRIBUTES)
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


def is_name(key: str) -> bool:
    """True for our marks, and for attributes that name a route or the kind of a span."""
    return key in _NAME_KEYS or (key.startswith("rt4chart.") and not holds_text(key))


def rewrite_attributes(
    attributes: Mapping[str, AttributeValue], rewrites: AttributeRewrites
) -> dict[str, Any]:
    """The attributes with all texts rewritten, and what must not leave in the other values."""
    of_text, of_others = rewrites.of_text, rewrites.of_others
    result: dict[str, Any] = {}
    for key, value in attributes.items():
        if holds_text(key):
            result[key] = rewrite_value(value, of_text)
        elif is_name(key):
            result[key] = value
        elif key.rpartition(".")[2] in STRUCTURAL_KEYS:
            result[key] = _rewrite_identifier(value, of_others)
        else:
            result[key] = rewrite_value(value, of_others)
    return result


def rewrite_value(value: Any, rewrites: ValueRewrites, depth: int = 0) -> Any:  # noqa: ANN401 JSON is anything
    """Rewrite texts in a value at any depth; a number becomes a text only if rewritten."""
    rewrite = rewrites.text
    if isinstance(value, str):
        return _rewrite_text(value, rewrites, depth)
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int | float):
        return _rewrite_number(value, rewrite)
    if isinstance(value, bytes):
        written = value.decode("utf-8", "replace")
        return value if (changed := rewrite(written)) == written else changed
    if isinstance(value, Mapping):
        return _rewrite_map(value, rewrites, depth)
    if isinstance(value, Sequence):
        inner = [rewrite_value(item, rewrites, depth + 1) for item in value]
        return tuple(inner) if isinstance(value, tuple) else inner
    return rewrite(str(value))


def _rewrite_number(value: float, rewrite: Rewrite) -> float | str:
    """The number, or a text if its digits are rewritten; a float has them if it is whole."""
    if not 10 ** (MIN_NUMBER_DIGITS - 1) <= abs(value) < MAX_NUMBER or value != int(value):
        return value
    written = str(int(value))
    changed = rewrite(written)
    return value if changed == written else changed


def _rewrite_map(value: Mapping[Any, Any], rewrites: ValueRewrites, depth: int) -> dict[Any, Any]:
    """Rewrite values, and keys except names of known fields; equal rewritten keys are numbered."""
    result: dict[Any, Any] = {}
    numbers: Counter[str] = Counter()
    for key, item in value.items():
        new_key = key
        if isinstance(key, str) and not is_field(key):
            new_key = rewrites.text(key)
            numbers[new_key] += 1
            new_key += f"~{numbers[new_key]}" * (numbers[new_key] > 1)
        is_structural = key in STRUCTURAL_KEYS and _is_scalar_or_list(item)
        result[new_key] = (
            _rewrite_identifier(item, rewrites)
            if is_structural
            else rewrite_value(item, rewrites, depth + 1)
        )
    return result


def _rewrite_identifier(value: Any, rewrites: ValueRewrites) -> Any:  # noqa: ANN401
    """An id or a class without what no id looks like by chance; numbers stay."""
    if isinstance(value, str):
        return rewrites.identifier(value)
    if isinstance(value, list | tuple):
        inner = [_rewrite_identifier(item, rewrites) for item in value]
        return tuple(inner) if isinstance(value, tuple) else inner
    return value


def _rewrite_text(text: str, rewrites: ValueRewrites, depth: int) -> str:
    """Rewrite a text; JSON in it stays JSON."""
    if depth < MAX_DEPTH and text[:64].lstrip()[:1] in ("{", "[", '"'):
        try:
            # Parsers use the last of duplicate keys, but the text of the first one must not stay.
            duplicates: list[bool] = []
            value = json.loads(text, object_pairs_hook=partial(_collect_object, duplicates))
            changed = rewrite_value(value, rewrites, depth + 1)
            if changed == value and not duplicates:
                return text
            if changed == semconv.REDACTED:
                return semconv.REDACTED
            return json.dumps(changed, ensure_ascii=False)
        except (ValueError, RecursionError):
            pass
    return rewrites.text(text)


def _collect_object(duplicates: list[bool], pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        duplicates.append(True)
    return found


def _is_scalar_or_list(value: object) -> bool:
    """True for a string, a number, or a list of them."""
    parts = value if isinstance(value, list | tuple) else (value,)
    return all(part is None or isinstance(part, str | int | float) for part in parts)
