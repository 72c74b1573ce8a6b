from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_rt4chart.core.text import bounded_name
from otel_rt4chart.spans.exchange.exchanges import find_candidates, linked_trace_ids
from otel_rt4chart.spans.model.record import SpanLink, SpanRecord
from otel_rt4chart.spans.model.shortening import shorten_text
from otel_rt4chart.spans.model.verdict import Decision
from tests.otel_rt4chart.spans.model.made import (
    CHAIN,
    KIND,
    LLM,
    RANKED,
    SAID,
    SEARCH,
    TEXT,
    generation,
    made,
    reranker,
    retriever,
    span,
    tool,
)


def test_an_exchange_is_the_question_the_documents_and_the_answer() -> None:
    """The plain case: a chain with a retriever and a generation."""
    (found,) = find_candidates([CHAIN, SEARCH, LLM])

    assert found.exchange.question == "How long is the trial?"
    assert [passage.text for passage in found.exchange.passages] == ["14 days.", "Free."]
    assert found.exchange.answer == "30 days."
    assert (found.span_id, found.start_ns) == (LLM.span_id, LLM.start_ns)
    assert (found.service, found.environment, found.model) == ("shop", "prod", "m-1")
    assert found.blocked is None


def test_every_name_of_an_answer_is_bounded() -> None:
    """Each name is a series of metrics and a row of the console, whatever a client sends."""
    huge = "x" * 10**6
    resource = {
        "service.name": huge,
        "service.version": huge,
        "deployment.environment.name": huge,
    }
    long_names = {"rt4chart.route": huge, "llm.model_name": huge, "session.id": huge}
    version = {"llm.prompt_template.version": huge}
    answer = replace(LLM, attributes={**LLM.attributes, **long_names, **version}, resource=resource)

    (found,) = find_candidates([CHAIN, SEARCH, answer])

    names = (found.service, found.release, found.environment, found.route, found.model)
    assert {*names, found.session, found.prompt_version} == {bounded_name(huge)}


TURN = st.lists(
    st.sampled_from(
        [
            lambda n, p: retriever(n, p, "14 days.", f"Passage {n}."),
            lambda n, p: reranker(n, p, ("14 days.",), ("14 days.", "Free.")),
            lambda n, p: generation(n, p, f"Answer {n}.", ("user", "Context: One.")),
            lambda n, p: generation(n, p, "", ("user", "How long?")),
            lambda n, p: tool(n, p, f"Result {n}."),
            lambda n, p: span(n, "CHAIN", p, output__value=f"Answer {n + 1}."),
            lambda n, p: span(n, "AGENT", p, rt4chart__sampled=n % 2 == 0),
            lambda n, p: span(n, "EVALUATOR", p),
        ]
    ),
    max_size=10,
)


@given(TURN, st.randoms(), st.data())
def test_neither_order_nor_repetition_of_spans_matters(
    makers: list[Callable[[int, int], SpanRecord]], draw: random.Random, data: st.DataObject
) -> None:
    """Spans arrive in any order, delivery is at least once, and parents may form a loop."""
    count = len(makers)
    spans = [
        make(number, data.draw(st.integers(0, count + 1)))
        for number, make in enumerate(makers, start=1)
    ]
    mixed = spans + spans[: count // 2]
    draw.shuffle(mixed)

    assert find_candidates(mixed) == find_candidates(spans)
    assert linked_trace_ids(mixed) == set()


def test_of_two_versions_of_a_span_the_later_and_fuller_one_counts() -> None:
    """A span may be sent once before it is complete."""
    early = replace(LLM, attributes={KIND: "LLM"}, end_ns=LLM.start_ns)

    assert find_candidates([CHAIN, SEARCH, early, LLM]) == find_candidates(
        [LLM, early, SEARCH, CHAIN]
    )
    assert find_candidates([CHAIN, SEARCH, LLM, early])[0].exchange.answer == "30 days."


def test_a_query_rewrite_under_the_retriever_is_no_answer() -> None:
    """A generation inside a retrieval serves the retrieval."""
    rewrite = made(4, 2, {KIND: "LLM", SAID: "No"})

    (found,) = find_candidates([CHAIN, SEARCH, rewrite, LLM])

    assert found.exchange.answer == "30 days."


def test_of_several_generations_the_last_is_the_answer() -> None:
    """Intermediate steps are not what the user reads."""
    draft = made(4, 1, {KIND: "LLM", SAID: "Draft."})
    final = made(5, 1, {KIND: "LLM", SAID: "Final."})

    (found,) = find_candidates([CHAIN, SEARCH, draft, final])

    assert found.exchange.answer == "Final."


def test_a_generation_that_only_calls_a_tool_is_no_answer() -> None:
    """The agent went on after it."""
    call = {"llm.output_messages.0.message.tool_calls.0.tool_call.id": "x"}
    tool = made(9, 1, {KIND: "LLM", **call})

    (found,) = find_candidates([CHAIN, SEARCH, LLM, tool])

    assert found.span_id == LLM.span_id


def test_reranked_documents_replace_the_retrieved_ones() -> None:
    """What the generator saw is the reranker's output."""
    reranker = made(3, 1, {KIND: "RERANKER", RANKED.format(0): "Best."})

    (found,) = find_candidates(
        [CHAIN, SEARCH, reranker, replace(LLM, span_id="f" * 16, start_ns=90)]
    )

    assert [passage.text for passage in found.exchange.passages] == ["Best."]


def test_documents_of_several_retrievers_are_merged_once_each() -> None:
    """The same document found twice is one passage."""
    second = made(3, 1, {KIND: "RETRIEVER", TEXT.format(0): "Free.", TEXT.format(1): "New."})

    (found,) = find_candidates([CHAIN, SEARCH, second, replace(LLM, span_id="f" * 16, start_ns=90)])

    assert [passage.text for passage in found.exchange.passages] == ["14 days.", "Free.", "New."]


def test_another_text_under_a_known_id_gets_an_id_of_its_own() -> None:
    """Evidence names a passage by its id, so one id must mean one text."""
    key = "retrieval.documents.{}.document."
    search = made(
        2,
        1,
        {KIND: "RETRIEVER"}
        | {key.format(n) + "id": "faq" for n in range(3)}
        | {key.format(n) + "content": text for n, text in enumerate(("One.", "Two.", "One."))},
    )

    (found,) = find_candidates([CHAIN, search, LLM])

    assert [(p.id, p.text) for p in found.exchange.passages] == [("faq", "One."), ("faq~2", "Two.")]


def test_what_is_retrieved_after_a_reranker_counts_too() -> None:
    """A second hop without reranking; what the reranker chose from does not."""
    reranker = made(3, 1, {KIND: "RERANKER", RANKED.format(0): "Best."})
    second = made(4, 1, {KIND: "RETRIEVER", TEXT.format(0): "New."})

    (found,) = find_candidates([CHAIN, SEARCH, reranker, second, made(5, 1, LLM.attributes)])

    assert [passage.text for passage in found.exchange.passages] == ["Best.", "New."]


def test_a_retriever_inside_a_retriever_is_a_step_of_it() -> None:
    """A compressing retriever keeps a part of what the inner one found."""
    inner = made(3, 2, {KIND: "RETRIEVER", TEXT.format(0): "Dropped by the outer one."})

    (found,) = find_candidates([CHAIN, SEARCH, inner, made(4, 1, LLM.attributes)])

    assert [passage.text for passage in found.exchange.passages] == ["14 days.", "Free."]


@pytest.mark.parametrize("job", [1, 9])
def test_each_chain_of_a_batch_has_its_answer_and_its_passages(job: int) -> None:
    """Under a span that is no chain, or one that another service holds."""
    spans = [made(1, 0, {})]
    for turn in (10, 20, 30):
        spans += [
            span(turn, "CHAIN", job, input__value=f"Question {turn}?"),
            made(turn + 1, turn, {KIND: "RETRIEVER", TEXT.format(0): f"Passage {turn}."}),
            made(turn + 2, turn, {KIND: "LLM", SAID: f"Answer {turn}."}),
        ]

    found = find_candidates(spans)

    assert [(c.exchange.question, c.exchange.passages[0].text, c.exchange.answer)
            for c in found] == [
        (f"Question {turn}?", f"Passage {turn}.", f"Answer {turn}.") for turn in (10, 20, 30)
    ]  # fmt: skip
    assert [len(c.exchange.passages) for c in found] == [1, 1, 1]


def test_the_question_is_the_chains_under_a_servers_span() -> None:
    """The prompt holds the passages: it is the last resort."""
    prompt = {"llm.input_messages.0.message.role": "user",
              "llm.input_messages.0.message.content": "Context: 14 days. Q: …"}  # fmt: skip
    chain = span(2, "CHAIN", 1, input__value='{"messages": [{"content": "How long?"}]}')
    answer = made(4, 2, {**LLM.attributes, **prompt})

    (found,) = find_candidates([made(1, 0, {}), chain, replace(SEARCH, span_id="b" * 16), answer])

    assert found.exchange.question == "How long?"


@pytest.mark.parametrize("kind", ["EVALUATOR", "GUARDRAIL"])
def test_a_checks_own_generation_is_no_answer(kind: str) -> None:
    """A judge inside the traced request, as evaluation libraries run it."""
    check = made(4, 1, {KIND: kind})
    judge = made(5, 4, {KIND: "LLM", SAID: "Yes, faithful."})
    found_by_judge = made(6, 4, {KIND: "RETRIEVER", TEXT.format(0): "Other."})

    (found,) = find_candidates([CHAIN, SEARCH, found_by_judge, LLM, check, judge])

    assert found.exchange.answer == "30 days."
    assert [passage.text for passage in found.exchange.passages] == ["14 days.", "Free."]


@pytest.mark.parametrize(
    ("spans", "reason"),
    [
        ([CHAIN, LLM], Decision.NO_CONTEXT),
        ([CHAIN, SEARCH, made(3, 1, {KIND: "LLM"})], Decision.NO_CONTENT),
        ([CHAIN, SEARCH, made(3, 1, {KIND: "LLM", SAID: "__REDACTED__"})], Decision.REDACTED),
        ([CHAIN, made(2, 1, {KIND: "RETRIEVER", TEXT.format(0): "__REDACTED__"}), LLM],
         Decision.REDACTED),
        ([CHAIN, made(2, 1, {KIND: "RETRIEVER", TEXT.format(0): "14 days.",
                             TEXT.format(1): "__REDACTED__"}), LLM], Decision.REDACTED),
        ([CHAIN, made(2, 1, {TEXT.format(9): "Tenth."}, dropped=20), LLM], Decision.TRUNCATED),
        ([CHAIN, SEARCH, made(3, 1, {KIND: "LLM"}, dropped=3)], Decision.TRUNCATED),
    ],
)  # fmt: skip
def test_what_cannot_be_verified_says_why(spans: list[SpanRecord], reason: Decision) -> None:
    """Missing, hidden and lost text are told apart, and none of them is called baseless."""
    (found,) = find_candidates(spans)

    assert found.blocked is reason


def test_the_route_is_the_most_explicit_name() -> None:
    """Ours before the HTTP route before the root span's name."""
    http = made(7, 0, {"http.route": "/ask"})
    ours = replace(LLM, attributes={**LLM.attributes, "rt4chart.route": "support/refunds"})

    assert find_candidates([CHAIN, SEARCH, LLM])[0].route == "span 1"
    assert find_candidates([CHAIN, SEARCH, LLM, http])[0].route == "/ask"
    assert find_candidates([CHAIN, SEARCH, ours, http])[0].route == "support/refunds"


@pytest.mark.parametrize(("sampled", "rate"), [(False, 0.25), ("false", "0.25")])
def test_marks_are_read_from_any_span_of_the_trace(sampled: bool, rate: float) -> None:
    """Also where a database gives them back as text."""
    marked = replace(
        CHAIN,
        attributes={
            **CHAIN.attributes,
            "rt4chart.sampled": sampled,
            "rt4chart.sample_rate": rate,
        },
    )

    (found,) = find_candidates([marked, SEARCH, LLM])

    assert (found.sampled, found.sample_rate) == (False, 0.25)


def test_verdicts_are_no_answers() -> None:
    """Evaluators' spans, ours among them, never come back as candidates."""
    evaluator = made(4, 0, {KIND: "EVALUATOR", SAID: "entailed"})
    ours = replace(made(5, 0, {KIND: "LLM", SAID: "x"}), scope_name="otel_rt4chart")

    assert find_candidates([evaluator, ours]) == ()


def test_a_loop_of_parents_ends() -> None:
    """Spans that are each other's parent do not hang the assembly."""
    one = made(1, 2, {KIND: "CHAIN"})
    two = made(2, 1, {KIND: "LLM", SAID: "Said."})

    assert len(find_candidates([one, two])) == 1


def test_an_unknown_parent_is_a_root() -> None:
    """The caller's span may be in another service's export."""
    (found,) = find_candidates([replace(LLM, parent_span_id="e" * 16)])

    assert found.exchange.answer == "30 days."


def test_the_session_is_the_nearest_one_named() -> None:
    """On the answer, above it or anywhere in its trace."""
    chain = replace(CHAIN, attributes={**CHAIN.attributes, "session.id": "s-1"})
    answer = replace(LLM, attributes={**LLM.attributes, "session.id": "s-2"})

    assert find_candidates([CHAIN, SEARCH, LLM])[0].session == ""
    assert find_candidates([chain, SEARCH, LLM])[0].session == "s-1"
    assert find_candidates([chain, SEARCH, answer])[0].session == "s-2"


OTHER = "b" * 32
THERE = replace(SEARCH, trace_id=OTHER, parent_span_id="")
LINK = SpanLink(OTHER, THERE.span_id)


@pytest.mark.parametrize("linking", [CHAIN, LLM])
def test_a_linked_traces_documents_are_the_context_of_an_answer_without(
    linking: SpanRecord,
) -> None:
    """A queue stands between the retrieval and the generation."""
    spans = [replace(one, links=(LINK,)) if one is linking else one for one in (CHAIN, LLM)]

    (alone,) = find_candidates(spans)
    (found,) = find_candidates(spans, [THERE])

    assert linked_trace_ids(spans) == {OTHER}
    assert alone.blocked is Decision.NO_CONTEXT
    assert [one.text for one in found.exchange.passages] == ["14 days.", "Free."]
    assert [one.stages for one in found.staged] == [("retrieved",), ("retrieved",)]
    assert (found.trace_id, found.blocked) == (LLM.trace_id, None)


def test_an_answer_with_context_of_its_own_needs_no_other_trace() -> None:
    """Its links may mean anything."""
    spans = [replace(CHAIN, links=(LINK,)), SEARCH, LLM]
    other = replace(THERE, attributes={**THERE.attributes, TEXT.format(0): "Other."})

    assert linked_trace_ids(spans) == set()
    assert find_candidates(spans, [other]) == find_candidates(spans)


def test_of_a_linked_trace_the_linked_turn_counts() -> None:
    """The others answered other questions; where the linked span is not known, all of it does."""
    turns = [
        replace(one, trace_id=OTHER)
        for turn in (10, 20)
        for one in (span(turn, "CHAIN", 0), retriever(turn + 1, turn, f"Passage {turn}."))
    ]

    def linking(name: str) -> list[str]:
        chain = replace(CHAIN, links=(SpanLink(OTHER, name), SpanLink(LLM.trace_id, "e" * 16)))
        (found,) = find_candidates([chain, LLM], turns)
        return [one.text for one in found.exchange.passages]

    assert linking(f"{20:016x}") == ["Passage 20."]
    assert linking("e" * 16) == ["Passage 10.", "Passage 20."]


def test_the_traces_worth_fetching_are_few() -> None:
    """A span may link to a whole batch."""
    links = tuple(SpanLink(f"{number:032x}", "e" * 16) for number in range(50))

    assert len(linked_trace_ids([CHAIN, replace(LLM, links=links)])) == 8


def test_answer_whose_prompt_was_shortened_is_not_judged_on_its_tools_alone() -> None:
    """The prompt may have had more passages; a whole one in another span would do."""
    found = tool(2, 1, "14 days.")
    prompt = {"llm.input_messages.0.message.content": shorten_text("Context: " * 99, 200)}
    answer = replace(LLM, attributes={**LLM.attributes, **prompt}, shortened_attributes=1)

    (candidate,) = find_candidates([CHAIN, found, answer])
    (whole,) = find_candidates([CHAIN, found, LLM])

    assert (candidate.blocked, whole.blocked) == (Decision.TRUNCATED, None)
