"""The name of a step: that of its span or of the step around it, without what calls differ in."""

from __future__ import annotations

import re
from collections.abc import Iterable

from otel_rt4chart.core.text import bounded_name
from otel_rt4chart.spans.exchange.route import is_unnamed, sync_name
from otel_rt4chart.spans.model.span_view import OperationKind, SpanView

# Names that a package gives to every call of a model: which step it was, only a span around it
# says. Of packages under tests/recorded, and of the semantic conventions for generative AI.
CLIENT = re.compile(
    r"(?:chat|text_completion|generate_content|completion|invoke_model|responses?)(?: .*)?"
    r"|(?:[\w.]*\.)?(?:a?chat|a?complete|a?predict|a?generate|doGenerate|doStream|task|completions?"
    r"|create|invoke_model|forward|__call__|run|invoke)"
    r"|(?:Async|Azure)?(?:Chat)?(?:OpenAI|Anthropic|Bedrock\w*|Google\w*|Vertex\w*|Ollama|Mistral\w*"
    r"|Cohere|Groq|LiteLLM|HuggingFace\w*|Completions?|Adapter|LM)[\w.-]*"
    r"|(?:generator|llm|generation|model|turn)",
    re.IGNORECASE,
)
# What one call differs in from the next: ids, numbers and dates.
IDS = re.compile(
    r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b|\b(?=[a-f]*[0-9])[0-9a-f]{8,}\b",
    re.IGNORECASE,
)
INNER_NUMBERS = re.compile(r"(?<=[ _\-#/])\d+(?=[ _\-/])")
# A longer name is cut before its numbers are taken out.
LONGEST_NAME = 1_000
OPERATION = re.compile(
    r"^(?:invoke_workflow|invoke_agent|execute_task|execute_tool|create_agent) (?=\S)"
)
DEFAULTS = {
    OperationKind.LLM: "generate",
    OperationKind.RETRIEVER: "retrieve",
    OperationKind.RERANKER: "rerank",
    OperationKind.TOOL: "tool",
    OperationKind.PROMPT: "prompt",
    OperationKind.AGENT: "agent",
}


def stage_name(view: SpanView, around: Iterable[SpanView]) -> str:
    """The stage of a step; `around` are the spans around it, the nearest first, without the turn.

    A call of a model that is named after its package takes the name of the step around it.
    """
    for one in (view, *around):
        name = plain_name(one.span.name)
        is_client = view.kind is OperationKind.LLM and CLIENT.fullmatch(name)
        if name and not is_unnamed(one.span.name) and not is_client:
            return name
        if view.kind is not OperationKind.LLM:
            break
    return DEFAULTS.get(view.kind) or plain_name(view.span.name) or "step"


def plain_name(name: str) -> str:
    """A span's name without ids, numbers, and the prefix of an operation."""
    plain = sync_name(OPERATION.sub("", name.strip()[:LONGEST_NAME], count=1))
    plain = INNER_NUMBERS.sub("", _without_last_numbers(IDS.sub("", plain)))
    plain = " ".join(plain.split()).rstrip(" -.:#/")
    return bounded_name(plain or name.strip())


def _without_last_numbers(name: str) -> str:
    """`page` for `page 3 of 5`, `page-1.2` and `page (3)`: the numbers that a name ends with."""
    while True:
        number = name.rstrip(")]_")
        rest = number.rstrip("0123456789")
        if rest == number:
            return name
        name = rest.rstrip(" _-.:#/([,")
        if name.endswith(" of") and name[:-3].rstrip()[-1:].isdigit():
            name = name.removesuffix(" of")
