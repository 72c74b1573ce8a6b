"""Spans for the tests of exchanges: a chain with its retriever and its generation, and more."""

from __future__ import annotations

from otel_rt4chart.spans.model.record import Attributes, SpanLink, SpanRecord

KIND = "openinference.span.kind"
SAID = "llm.output_messages.0.message.content"
TEXT = "retrieval.documents.{}.document.content"
RANKED = "reranker.output_documents.{}.document.content"
GIVEN = "reranker.input_documents.{}.document.content"
VARIABLES = "llm.prompt_template.variables"


def span(number: int, kind: str, parent: int, **attributes: str | float | bool) -> SpanRecord:
    """A span that starts at its number; dots in names are written as double underscores."""
    named = {key.replace("__", "."): value for key, value in attributes.items()}
    return made(number, parent, {KIND: kind, **named})


def made(
    number: int,
    parent: int,
    attributes: Attributes,
    *,
    dropped: int = 0,
    links: tuple[SpanLink, ...] = (),
    status: str = "Unset",
) -> SpanRecord:
    """A span from its attributes."""
    return SpanRecord(
        trace_id="a" * 32,
        span_id=f"{number:016x}",
        name=f"span {number}",
        start_ns=number * 10,
        end_ns=number * 10 + 500,
        parent_span_id=f"{parent:016x}" if parent else "",
        status=status,
        attributes=attributes,
        links=links,
        resource={"service.name": "shop", "deployment.environment.name": "prod"},
        dropped_attributes=dropped,
    )


def retriever(number: int, parent: int, *texts: str) -> SpanRecord:
    """A retrieval of these texts."""
    found = {TEXT.format(place): text for place, text in enumerate(texts)}
    return made(number, parent, {KIND: "RETRIEVER", **found})


def reranker(number: int, parent: int, kept: tuple[str, ...], given: tuple[str, ...]) -> SpanRecord:
    """A reranker that kept some of what it was given."""
    documents = {RANKED.format(place): text for place, text in enumerate(kept)}
    documents |= {GIVEN.format(place): text for place, text in enumerate(given)}
    return made(number, parent, {KIND: "RERANKER", **documents})


def generation(
    number: int, parent: int, said: str, *prompt: tuple[str, str], **more: str
) -> SpanRecord:
    """A generation with its prompt as (role, text)."""
    messages: dict[str, str] = {}
    for place, (role, text) in enumerate(prompt):
        messages[f"llm.input_messages.{place}.message.role"] = role
        messages[f"llm.input_messages.{place}.message.content"] = text
    output = {SAID: said} if said else {}
    return made(number, parent, {KIND: "LLM", **output, **messages, **more})


def tool(number: int, parent: int, text: str, **more: str) -> SpanRecord:
    """A tool that returned a text; `gen_ai.tool.type` = `datastore` marks one on a data store."""
    return made(number, parent, {KIND: "TOOL", "output.value": text, **more})


STORE = {"gen_ai.tool.type": "datastore"}
CHAIN = span(1, "CHAIN", 0, input__value="How long is the trial?")
SEARCH = retriever(2, 1, "14 days.", "Free.")
LLM = generation(3, 1, "30 days.", **{"llm.model_name": "m-1"})
