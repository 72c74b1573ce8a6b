# ruff: noqa: ANN401 - attributes and options of a span pass through
"""Traces of steps for the tests of chains: each span starts after the one before has ended."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from otel_rt4chart.spans.graph.chain import TraceChain, find_chain
from otel_rt4chart.spans.model.record import SpanLink, SpanRecord

KIND = "openinference.span.kind"
TRACE = "a" * 32


@dataclass(slots=True)
class Steps:
    """The spans of one trace; each method adds one and returns its id.

    `at` is a pair of times for a span that runs beside others, `parent` the id of the span around.
    """

    spans: list[SpanRecord] = field(default_factory=list)
    trace: str = TRACE
    numbers: count[int] = field(default_factory=lambda: count(1))

    def span(
        self,
        name: str,
        kind: str,
        parent: str = "",
        *,
        at: tuple[int, int] | None = None,
        links: tuple[SpanLink, ...] = (),
        status: str = "Unset",
        **attributes: Any,
    ) -> str:
        """A span; dots in the names of attributes are double underscores."""
        number = next(self.numbers)
        start, end = at or (number * 10, number * 10 + 5)
        named = {key.replace("__", "."): value for key, value in attributes.items()}
        one = SpanRecord(
            self.trace,
            f"{number:016x}" if self.trace == TRACE else f"{self.trace[:8]}{number:08x}",
            name,
            start,
            end,
            parent,
            status=status,
            attributes={KIND: kind, **named},
            links=links,
        )
        self.spans.append(one)
        return one.span_id

    def chain(self, name: str = "ask", question: str = "", parent: str = "", **more: Any) -> str:
        """A chain around other spans: it lasts longer than any test."""
        return self.span(name, "CHAIN", parent, at=(0, 10**6), input__value=question, **more)

    def search(self, parent: str, *texts: str, name: str = "search", **more: Any) -> str:
        """A retrieval of these texts."""
        rows = [{"id": f"p{n}", "content": text} for n, text in enumerate(texts)]
        return self.span(name, "RETRIEVER", parent, output__value=json.dumps(rows), **more)

    def rerank(self, parent: str, given: tuple[str, ...], kept: tuple[str, ...]) -> str:
        """A reranker."""
        documents: dict[str, Any] = {
            f"reranker.{side}_documents.{n}.document.content": text
            for side, texts in (("input", given), ("output", kept))
            for n, text in enumerate(texts)
        }
        return self.span("rerank", "RERANKER", parent, **documents)

    def generate(
        self, name: str, parent: str, text: str, prompt: str | tuple[str, ...] = (), **more: Any
    ) -> str:
        """A generation; the messages of its prompt are the user's, or a tool's after `tool:`."""
        messages = (prompt,) if isinstance(prompt, str) else prompt
        attributes: dict[str, Any] = {"llm.output_messages.0.message.content": text}
        for n, message in enumerate(messages):
            is_tool = message.startswith("tool:")
            attributes |= {
                f"llm.input_messages.{n}.message.role": "tool" if is_tool else "user",
                f"llm.input_messages.{n}.message.content": message.removeprefix("tool:"),
            }
        return self.span(name, "LLM", parent, **attributes, **more)

    def tool(self, parent: str, text: str, name: str = "look_up", **more: Any) -> str:
        """A tool that returned a text."""
        return self.span(name, "TOOL", parent, output__value=text, **more)

    def read(self, answer: str, *linked: SpanRecord, with_question: bool = False) -> TraceChain:
        """The chain of an answer."""
        return find_chain(self.spans, answer, linked, with_question=with_question)


def edges(chain: TraceChain) -> set[tuple[str, str]]:
    """The edges between the spans of a chain, by the names of its steps."""
    names = {name: step.name for name, step in chain.steps.items()}
    return {(names[one], names[node.id]) for node in chain.nodes for one in node.inputs}


def inputs(chain: TraceChain, span_id: str) -> list[str]:
    """The texts that the output of a span was made from."""
    texts = {node.id: node.text for node in chain.nodes}
    (node,) = (
        one
        for one in chain.nodes
        if (step := chain.steps[one.id]).span_id == span_id and step.kind != "PROMPT"
    )
    return [texts[name] for name in node.inputs]
