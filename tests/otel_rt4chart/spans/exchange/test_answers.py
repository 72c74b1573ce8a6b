"""Which span says what the user read."""

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
    generation,
    made,
    retriever,
    span,
    tool,
)

ANSWER = "The trial lasts 14 days."
TITLE = generation(9, 1, "Length of the trial")


def chain(output: str) -> SpanRecord:
    """A chain that says what came out of it."""
    return span(1, "CHAIN", 0, input__value="How long?", output__value=output)


def said(*spans: SpanRecord) -> list[str]:
    """The answers in the spans."""
    return [found.exchange.answer for found in find_candidates(spans)]


@pytest.mark.parametrize(
    "output",
    [
        ANSWER,
        f"{ANSWER}\n\nSource: 1",
        "The trial\nlasts 14 days.",
        json.dumps({"answer": ANSWER, "title": "Length of the trial"}),
        json.dumps({"shown": {"body": ANSWER}, "title": "Length of the trial"}),
        json.dumps({"messages": [{"role": "user", "content": "How long?"},
                                 {"role": "assistant", "content": ANSWER}]}),
    ],
)  # fmt: skip
def test_the_turns_own_output_tells_the_answer(output: str) -> None:
    """A title that is made afterwards is not what was asked for."""
    assert said(chain(output), SEARCH, generation(5, 1, ANSWER), TITLE) == [ANSWER]


def test_a_word_of_the_output_does_not_make_a_router_the_answer() -> None:
    """The answer was reworked on the way out, so that the last generation stands for it."""
    router = generation(3, 1, "trial")

    found = said(chain("<p>The trial lasts <b>14</b> days.</p>"), SEARCH, router,
                 generation(5, 1, ANSWER))  # fmt: skip

    assert found == [ANSWER]


def test_of_parallel_generations_the_one_that_came_out_is_the_answer() -> None:
    """The slower one was thrown away."""
    slower = replace(generation(4, 1, "Two weeks."), end_ns=9_000)

    assert said(chain(ANSWER), SEARCH, generation(5, 1, ANSWER), slower) == [ANSWER]


def test_an_agents_answer_is_what_it_said_after_its_tools() -> None:
    """What it said when it called them is a step."""
    first = generation(2, 1, "Let me look that up.")
    last = generation(6, 1, ANSWER)

    assert said(span(1, "AGENT", 0), first, tool(3, 1, "14 days."), last) == [ANSWER]


def test_a_stream_that_outlives_its_chain_is_the_answer() -> None:
    """The chain returned the stream, not its text."""
    stream = replace(generation(5, 1, ANSWER), end_ns=99_000)

    assert said(chain("<generator object>"), SEARCH, LLM, stream) == [ANSWER]


def test_a_call_that_is_traced_twice_is_one_answer_with_its_prompt() -> None:
    """The framework's span is silent, or knows no prompt; the provider's has both."""
    inner = generation(4, 3, ANSWER, ("user", "Context: 14 days.\nQuestion: How long?"))
    outer = replace(generation(3, 1, ""), end_ns=90_000)

    (silent,) = find_candidates([CHAIN, outer, inner])
    (spoken,) = find_candidates([CHAIN, replace(generation(3, 1, ANSWER), end_ns=90_000), inner])

    assert (silent.span_id, silent.exchange.answer) == (inner.span_id, ANSWER)
    assert spoken.span_id == outer.span_id
    assert [one.text for one in spoken.exchange.passages] == ["14 days."]


def test_a_dump_around_a_call_gives_way_to_what_the_model_said() -> None:
    """The framework's span holds the whole response, the provider's the text in it."""
    dump = json.dumps({"blocks": [{"kind": "t", "body": ANSWER}], "raw": {"n": 1}})
    outer = replace(generation(3, 1, dump), end_ns=90_000)

    assert said(CHAIN, SEARCH, outer, generation(4, 3, ANSWER)) == [ANSWER]


@pytest.mark.parametrize(
    ("generated", "output"),
    [
        ("[[ ## reasoning ## ]]\nSo.\n\n[[ ## answer ## ]]\n14 days.\n\n[[ ## completed ## ]]",
         "14 days."),
        (json.dumps({"said": {"body": "14 days."}, "sure": 0.9}), "14 days."),
        (f"<think>It says two weeks.</think>\n{ANSWER}", ANSWER),
    ],
)  # fmt: skip
def test_what_a_chain_takes_off_an_answer_was_not_read(generated: str, output: str) -> None:
    """Reasoning and the fields of a form stay behind."""
    (found,) = find_candidates([chain(output), SEARCH, generation(5, 1, generated)])

    assert found.exchange.answer == output
    assert found.span_id == f"{5:016x}"


def test_a_word_of_an_answer_is_not_the_answer() -> None:
    """A chain that says that it is done says it by chance in the answer's words."""
    assert said(chain("lasts"), SEARCH, generation(5, 1, ANSWER)) == [ANSWER]


def test_a_failed_generation_gives_way_to_one_with_text() -> None:
    """The title could not be made; the answer was."""
    failed = made(9, 1, {KIND: "LLM"}, status="Error")

    assert said(CHAIN, SEARCH, LLM, failed) == ["30 days."]


def test_a_silent_last_generation_is_the_answer_all_the_same() -> None:
    """A router's words must not be verified in its place."""
    (found,) = find_candidates([CHAIN, SEARCH, generation(3, 1, "trial"), generation(5, 1, "")])

    assert (found.exchange.answer, found.blocked) == ("", Decision.NO_CONTENT)


@pytest.mark.parametrize("generations", [(), (generation(3, 1, ""),)])
@pytest.mark.parametrize("root", ["CHAIN", "AGENT", ""])
def test_a_chain_answers_where_no_generation_is_traced(
    root: str, generations: tuple[SpanRecord, ...]
) -> None:
    """Not every framework's model calls make spans, and some make empty ones."""
    whole = {"input.value": "How long?", "output.value": ANSWER} | ({KIND: root} if root else {})

    (found,) = find_candidates([made(1, 0, whole), SEARCH, *generations])

    assert (found.exchange.question, found.exchange.answer) == ("How long?", ANSWER)
    assert found.span_id == CHAIN.span_id
    assert [one.text for one in found.exchange.passages] == ["14 days.", "Free."]
    assert found.blocked is None


@pytest.mark.parametrize(
    "output",
    ["14 days.\n\nFree.", '{"hits": [{"url": "https://example.org/a/long/way", "n": 1}]}', ""],
)
def test_a_search_alone_is_no_answer(output: str) -> None:
    """Its chain gives back what it found."""
    assert said(chain(output), SEARCH) == []


def test_a_chain_without_a_retrieval_is_no_answer() -> None:
    """Most chains are not RAG, and their outputs not for anyone to read."""
    assert said(chain(ANSWER)) == []


@pytest.mark.parametrize("kind", ["EVALUATOR", "GUARDRAIL"])
def test_a_check_is_never_an_answer(kind: str) -> None:
    """Neither its generation nor its chain, though it looks things up."""
    inside = [
        replace(chain(ANSWER), span_id=f"{8:016x}", parent_span_id=f"{7:016x}"),
        retriever(9, 8, "14 days."),
        generation(10, 8, "Faithful."),
    ]

    assert said(made(7, 0, {KIND: kind, "output.value": "1.0"}), *inside) == []
