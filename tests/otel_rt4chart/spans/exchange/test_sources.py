"""The final context of an answer, from the best source in its trace."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from otel_rt4chart.spans.exchange.exchanges import find_candidates
from otel_rt4chart.spans.model.record import SpanRecord
from otel_rt4chart.spans.model.verdict import Decision
from tests.otel_rt4chart.spans.model.made import (
    CHAIN,
    KIND,
    LLM,
    SEARCH,
    STORE,
    TEXT,
    VARIABLES,
    generation,
    made,
    reranker,
    retriever,
    tool,
)

RERANKED = reranker(4, 1, ("Reranked.",), ("Retrieved.", "Reranked."))
RETRIEVED = retriever(2, 1, "Retrieved.", "Reranked.")
STORED = tool(5, 1, "Looked up.", **STORE)
CALLED = tool(6, 1, "Called.")
PROMPT = ("user", "Context:\nPrompted.\n\nQuestion: How long?")
TEMPLATE = {VARIABLES: json.dumps({"context": "Filled in.", "question": "How long?"})}
ANSWER = generation(9, 1, "30 days.", PROMPT, **TEMPLATE)
PLAIN = generation(9, 1, "30 days.", PROMPT)
BARE = generation(9, 1, "30 days.", ("system", "Be kind."), ("user", "How long?"))


def context(*spans: SpanRecord) -> list[str]:
    """The passages of the only answer."""
    (found,) = find_candidates([CHAIN, *spans])
    return [passage.text for passage in found.exchange.passages]


@pytest.mark.parametrize(
    ("spans", "expected"),
    [
        ([RETRIEVED, RERANKED, ANSWER, CALLED], ["Reranked."]),
        ([RETRIEVED, ANSWER, CALLED], ["Retrieved.", "Reranked."]),
        ([STORED, CALLED, ANSWER], ["Filled in."]),
        ([STORED, CALLED, PLAIN], ["Looked up."]),
        ([CALLED, PLAIN], ["Called.", "Prompted."]),
        ([CALLED, BARE], ["Called."]),
        ([PLAIN], ["Prompted."]),
        ([BARE], []),
    ],
)
def test_the_best_source_is_taken(spans: list[SpanRecord], expected: list[str]) -> None:
    """Rerankers, retrievers, templates, tools on data stores, then the rest."""
    assert context(*spans) == expected


def test_a_store_beside_a_retriever_is_a_source_too() -> None:
    """An agent may look things up in two ways."""
    assert context(RETRIEVED, STORED, CALLED, BARE) == ["Retrieved.", "Reranked.", "Looked up."]


def test_a_store_around_a_retriever_says_the_same_once_more() -> None:
    """The retriever's documents are what the tool's text was made of."""
    inside = retriever(6, 5, "One.", "Two.")

    assert context(tool(5, 1, "One.\n\nTwo.", **STORE), inside, BARE) == ["One.", "Two."]


def test_tools_messages_in_the_prompt_are_results() -> None:
    """Where the tool itself is not traced; where it is, it counts once."""
    asked = generation(9, 1, "30 days.", ("user", "How long?"), ("tool", "Called."), ("tool", "2"))

    assert context(asked) == ["Called.", "2"]
    assert context(CALLED, asked) == ["Called.", "2"]
    assert context(CALLED, RETRIEVED, asked) == ["Retrieved.", "Reranked."]


def test_documents_in_a_tools_message_are_a_passage_each() -> None:
    """With the ids that the store gave them."""
    rows = json.dumps([{"id": "a", "text": "One."}, {"id": "b", "text": "Two."}])
    asked = generation(9, 1, "30 days.", ("user", "How long?"), ("tool", rows))

    (found,) = find_candidates([CHAIN, asked])

    assert [(one.id, one.text) for one in found.exchange.passages] == [("a", "One."), ("b", "Two.")]


def test_another_turns_tools_are_no_source() -> None:
    """Nor is what ran after the answer."""
    other = made(40, 0, {KIND: "CHAIN"})
    elsewhere = replace(tool(4, 40, "Elsewhere."), parent_span_id=other.span_id)
    later = tool(900, 1, "Later.")

    assert context(other, elsewhere, later, BARE) == []


def test_a_prompt_span_fills_the_template() -> None:
    """The last one before the answer; a router has one too."""
    router = made(3, 1, {KIND: "PROMPT", VARIABLES: '{"context": "Routes."}'})
    filled = made(5, 1, {KIND: "PROMPT", VARIABLES: '{"context": "Filled in."}'})

    assert context(router, filled, BARE) == ["Filled in."]


@pytest.mark.parametrize(("answer", "expected"), [(ANSWER, ["Filled in."]), (PLAIN, ["Prompted."])])
@pytest.mark.parametrize("dropped", [0, 5])
def test_what_a_retriever_lost_the_prompt_may_show(
    answer: SpanRecord, expected: list[str], dropped: int
) -> None:
    """The SDK evicts documents of long lists; a placeholder hides them."""
    hidden = {} if dropped else {TEXT.format(1): "__REDACTED__"}
    search = made(2, 1, {KIND: "RETRIEVER", TEXT.format(0): "One.", **hidden}, dropped=dropped)

    (found,) = find_candidates([CHAIN, search, answer])
    (alone,) = find_candidates([CHAIN, search, BARE])

    assert [one.text for one in found.exchange.passages] == expected
    assert found.blocked is None
    assert alone.blocked is (Decision.TRUNCATED if dropped else Decision.REDACTED)


def test_a_hidden_prompt_is_not_an_absent_one() -> None:
    """It may have held the context."""
    hidden = generation(9, 1, "30 days.", ("user", "__REDACTED__"))

    assert find_candidates([CHAIN, hidden])[0].blocked is Decision.REDACTED
    assert find_candidates([CHAIN, SEARCH, hidden])[0].blocked is None


def test_the_question_stands_apart_from_the_context() -> None:
    """A chain that names no input leaves the prompt to ask."""
    silent = replace(CHAIN, attributes={KIND: "CHAIN"})

    (found,) = find_candidates([silent, RETRIEVED, PLAIN])

    assert found.exchange.question == "How long?"
    for whole in ('{"retriever": {"top_k": 3}}', "user\nHow long?"):
        chain = replace(CHAIN, attributes={KIND: "CHAIN", "input.value": whole})
        assert find_candidates([chain, RETRIEVED, PLAIN])[0].exchange.question == "How long?"
    assert find_candidates([CHAIN, SEARCH, LLM])[0].exchange.question == "How long is the trial?"
