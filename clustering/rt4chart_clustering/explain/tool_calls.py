"""The tools that a model may call, and the parsing of its calls."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from otel_rt4chart.core.errors import InputError
from rt4chart_clustering.explain.finding import SCORES
from rt4chart_clustering.explain.loss_stage import LossStage

SUBMIT = "submit_finding"
_TEXT = {"type": "string"}
_SPAN = {"trace_id": _TEXT, "span_id": _TEXT}


def _object(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


_QUOTES = {"type": "array", "items": _object({**_SPAN, "passage_id": _TEXT, "text": _TEXT})}
_FINDING = {
    "cause": _TEXT,
    "stage": {"type": "string", "enum": list(LossStage)},
    "quotes": _QUOTES,
    "immediate_fix": _TEXT,
    "scores": _object({name: {"type": "integer"} for name in SCORES}),
}
TOOLS: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "get_issue": ("the issue: pattern, counts, where the evidence was lost, typical failures", {}),
    "search_failures": (
        "failures of this issue whose claim, question or answer span holds the words; empty: any",
        {"words": _TEXT, "offset": {"type": "integer"}},
    ),
    "get_verdict": ("an answer: question, text, and its claims with label and evidence", _SPAN),
    "get_passages": (
        "the passages on the way to an answer and the stages each was seen at; with a passage_id "
        "the whole text of that one",
        {**_SPAN, "passage_id": _TEXT},
    ),
    "read_span": ("a span: name, status, times, attributes", _SPAN),
    "get_children": ("the spans right under a span; with an empty span_id the roots", _SPAN),
    "compare_with_faithful": (
        "the faithful answer of the same route whose question is most like this answer's",
        _SPAN,
    ),
    SUBMIT: ("the finding, once, at the end", _FINDING),
}  # fmt: skip
SCHEMA = _object(
    {
        "thought": _TEXT,
        "call": {
            "anyOf": [
                _object({"tool": {"type": "string", "enum": [name]}, "arguments": _object(given)})
                for name, (_, given) in TOOLS.items()
            ]
        },
    }
)


@dataclass(frozen=True, slots=True)
class ToolCall:
    """The name of a tool and its arguments, both unchecked."""

    tool: str
    arguments: Mapping[str, Any]


def describe_tools() -> str:
    """The list of tools in the instructions."""
    lines = []
    for name, (text, given) in TOOLS.items():
        lines.append(f"- {name}({', '.join(given)}): {text}")
    stages = ", ".join(LossStage)
    quote = '{"trace_id", "span_id", "passage_id", "text"}'
    lines.append(f"`stage` is one of {stages}; a quote is {quote}; scores has {', '.join(SCORES)}.")
    return "\n".join(lines)


def parse_call(reply: str) -> ToolCall:
    """The call in a reply, also within prose or code fences; InputError if there is none."""
    start, end = reply.find("{"), reply.rfind("}")
    try:
        value = json.loads(reply[start : end + 1])
    except (ValueError, RecursionError):
        raise InputError(
            "expected one JSON object with thought and call, got another text"
        ) from None
    inner = value.get("call", value) if isinstance(value, dict) else None
    if not isinstance(inner, dict) or not isinstance(inner.get("tool"), str):
        raise InputError('expected {"thought": …, "call": {"tool": …, "arguments": {…}}}')
    arguments = inner.get("arguments", {})
    if not isinstance(arguments, dict):
        raise InputError("expected arguments as a JSON object")
    return ToolCall(inner["tool"], arguments)
