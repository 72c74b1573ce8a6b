from __future__ import annotations

import json
from dataclasses import replace

import pytest

from otel_rt4chart.spans.exchange.span_tree import SpanTree
from otel_rt4chart.spans.graph.chain import ChainStep, TraceChain, read_chain
from otel_rt4chart.spans.model.record import SpanLink
from otel_rt4chart.spans.model.span_view import OperationKind
from otel_rt4chart.verify.trail.graph import Graph
from tests.otel_rt4chart.spans.graph.steps import Steps, edges, inputs

QUESTION = "What happened to the valve maker?"
ONE = "Acme bought the valve maker Zenit in 2019 for cash, as the minutes of the board say."
TWO = "Zenit made valves in Turin and had some forty jobs to fill when the works were sold."
FIRST = "Acme, says the first page, took over the maker of valves in the year 2019."
SECOND = "The second page tells of forty open jobs in a works in the city of Turin."
MERGED = "Zenit was taken over by Acme in 2019, when forty jobs were open."
ANSWER = "It was taken over in 2019."


def summaries() -> tuple[Steps, dict[str, str]]:
    """Two pages, a summary of each, a merged one, and an answer; the ids of the spans by name."""
    steps = Steps()
    root = steps.chain(question=QUESTION)
    found = {"search": steps.search(root, ONE, TWO)}
    found["first"] = steps.generate("summarise 1", root, FIRST, f"Summarise:\n\n{ONE}")
    found["second"] = steps.generate("summarise 2", root, SECOND, f"Summarise:\n\n{TWO}")
    found["merged"] = steps.generate("merge", root, MERGED, f"Merge these: [{FIRST}] [{SECOND}]")
    found["answer"] = steps.generate("answer", root, ANSWER, (f"Context: {MERGED}", QUESTION))
    return steps, found


def test_each_step_was_made_from_what_its_prompt_contains() -> None:
    """Pages, their summaries, the merged one: each edge is a text that flowed."""
    steps, ids = summaries()

    chain = steps.read(ids["answer"])

    assert inputs(chain, ids["answer"]) == [MERGED]
    assert inputs(chain, ids["merged"]) == [FIRST, SECOND]
    assert inputs(chain, ids["first"]) == [ONE]
    assert inputs(chain, ids["second"]) == [TWO]
    assert chain.problem == ""
    assert chain.answer == ids["answer"]
    assert [node.stage for node in chain.nodes] == [
        *("search", "search", "summarise", "summarise", "merge", "answer")
    ]


def test_a_step_says_which_span_it_was_read_from() -> None:
    """The name, the kind and the stage are there for people, the id for links."""
    steps, ids = summaries()

    chain = steps.read(ids["answer"])

    assert chain.steps["p0"] == ChainStep(
        "p0", ids["search"], "search", OperationKind.RETRIEVER, "search"
    )
    assert chain.steps[ids["first"]] == ChainStep(
        ids["first"], ids["first"], "summarise 1", OperationKind.LLM, "summarise"
    )
    assert set(chain.steps) == {node.id for node in chain.nodes}


def test_a_single_step_is_a_chain() -> None:
    """Retrieval and generation: the passages are the sources."""
    steps = Steps()
    root = steps.chain(question=QUESTION)
    steps.search(root, ONE, TWO)
    answer = steps.generate("answer", root, ANSWER, f"{QUESTION}\n{ONE}\n{TWO}")

    chain = steps.read(answer)

    assert (inputs(chain, answer), chain.problem) == ([ONE, TWO], "")


def test_a_discarded_draft_and_a_retry_are_no_inputs() -> None:
    """Only the draft that the next prompt contains counts, although the other says nearly it."""
    steps = Steps()
    root = steps.chain(question=QUESTION)
    steps.search(root, ONE)
    steps.generate("draft", root, f"{FIRST} Nobody knows the price.", f"Draft: {ONE}")
    failed = steps.generate("draft", root, FIRST, f"Draft: {ONE}", status="Error")
    kept = steps.generate("draft", root, f"{FIRST} The price is known.", f"Draft: {ONE}")
    answer = steps.generate("answer", root, ANSWER, f"Polish: {FIRST} The price is known.")

    chain = steps.read(answer)

    assert inputs(chain, answer) == [f"{FIRST} The price is known."]
    assert chain.steps[kept].span_id == kept
    assert failed not in chain.steps


def test_a_passage_that_a_summary_quotes_is_no_direct_input() -> None:
    """The prompt holds the summary, which holds the passage: the longer text explains the words."""
    steps = Steps()
    root = steps.chain(question=QUESTION)
    steps.search(root, ONE, TWO)
    quoting = f"The first page says word for word: {ONE}"
    steps.generate("summarise", root, quoting, f"Summarise: {ONE}")
    answer = steps.generate("answer", root, ANSWER, f"Context: {quoting}\nAlso: {TWO}")

    assert inputs(steps.read(answer), answer) == [TWO, quoting]


@pytest.mark.parametrize(
    "shown",
    [
        json.dumps({"messages": [{"content": f"Summary:\n\n“{FIRST}”\tEnd"}]}),
        json.dumps(json.dumps({"text": FIRST.replace("says", "says\nonce\nmore:")})),
        FIRST.replace(" ", "\n").upper(),
        f"<page>{FIRST.replace(',', '**,**')}</page>",
        FIRST[: len(FIRST) * 2 // 3] + "…",
        "\n".join(f"> {word}" for word in FIRST.split()),
        FIRST.replace(" says ", " &quot;says&quot; "),
    ],
    ids=["json", "json in json", "wrapped", "markup", "cut", "quoted lines", "html"],
)
def test_a_text_is_found_however_the_prompt_shows_it(shown: str) -> None:
    """Escapes, markup, line breaks, case and a missing end do not hide a text."""
    steps = Steps()
    root = steps.chain(question=QUESTION)
    steps.search(root, ONE)
    steps.generate("summarise", root, FIRST, f"Summarise: {ONE}")
    answer = steps.generate("answer", root, ANSWER, shown)

    assert inputs(steps.read(answer), answer) == [FIRST]


def test_texts_of_scripts_without_spaces_are_found() -> None:
    """Chinese and Thai are compared character by character."""
    steps = Steps()
    root = steps.chain(question="阀门厂怎么了?")
    page, summary = (
        "安科公司于2019年收购了都灵的阀门制造商泽尼特。",
        "泽尼特在2019年被收购,总部设在都灵。",
    )
    steps.search(root, page, "บริษัทแห่งนี้ผลิตวาล์วในเมืองตูริน")
    steps.generate("summarise", root, summary, f"请总结:{page}")
    answer = steps.generate(
        "answer", root, "被安科收购。", f"内容:{summary}\nบริษัทแห่งนี้ผลิตวาล์วในเมืองตูริน"
    )

    assert inputs(steps.read(answer), answer) == ["บริษัทแห่งนี้ผลิตวาล์วในเมืองตูริน", summary]


def test_a_field_of_a_json_output_flows_by_itself() -> None:
    """A step may pass on one field of what a model wrote."""
    steps = Steps()
    root = steps.chain(question=QUESTION)
    steps.search(root, ONE)
    written = json.dumps({"language": "en", "notes": [SECOND] * 3, "summary": FIRST})
    made = steps.generate("summarise", root, written, f"Summarise as JSON: {ONE}")
    answer = steps.generate("answer", root, ANSWER, f"Context: {FIRST}")

    chain = steps.read(answer)

    assert inputs(chain, answer) == [written]
    assert inputs(chain, made) == [ONE]


def test_a_short_text_counts_where_it_stands_alone() -> None:
    """Two words are found as a line or a value, not in the middle of a sentence."""
    steps = Steps()
    root = steps.chain(question=QUESTION)
    steps.search(root, ONE)
    steps.tool(root, "in 2019")
    steps.tool(root, "forty jobs")
    answer = steps.generate("answer", root, ANSWER, f"{ONE}\nJobs: forty jobs")

    assert inputs(steps.read(answer), answer) == [ONE, "forty jobs"]


def test_steps_that_only_pass_texts_on_are_left_out() -> None:
    """A chain that joins passages and one around a generation put out what others wrote."""
    steps = Steps()
    root = steps.chain(question=QUESTION)
    steps.search(root, ONE, TWO)
    joined = f"[1] {ONE}\n\n[2] {TWO}"
    steps.span("join", "CHAIN", root, output__value=joined)
    around = steps.chain("summarise", parent=root, output__value=FIRST)
    steps.generate("ChatOpenAI", around, FIRST, f"Summarise: {joined}")
    steps.span("parse", "CHAIN", root, input__value=FIRST, output__value=FIRST)
    answer = steps.generate("answer", root, ANSWER, f"Context: {FIRST}")

    chain = steps.read(answer)

    assert edges(chain) == {("search", "ChatOpenAI"), ("ChatOpenAI", "answer")}
    assert [node.stage for node in chain.nodes] == ["search", "search", "summarise", "answer"]


def test_a_step_without_a_model_that_writes_its_own_text_is_a_node() -> None:
    """A hand-made step that no package traces a model in: its input says what it was made from."""
    steps = Steps()
    root = steps.chain(question=QUESTION)
    steps.search(root, ONE)
    steps.span("summarise", "CHAIN", root, input__value=ONE, output__value=FIRST)
    answer = steps.generate("answer", root, ANSWER, f"Context: {FIRST}")

    assert edges(steps.read(answer)) == {("search", "summarise"), ("summarise", "answer")}


def test_a_reranked_passage_is_the_retrieved_one() -> None:
    """One node for a passage, although two spans put it out."""
    steps = Steps()
    root = steps.chain(question=QUESTION)
    steps.search(root, ONE, TWO)
    steps.rerank(root, (ONE, TWO), (TWO,))
    answer = steps.generate("answer", root, ANSWER, f"Context: {TWO}")

    chain = steps.read(answer)

    assert [(node.id, node.text) for node in chain.nodes] == [("p1", TWO), (answer, ANSWER)]


def test_a_loop_has_a_node_for_each_call() -> None:
    """Each refinement reads the one before and another page."""
    steps = Steps()
    root = steps.chain(question=QUESTION)
    pages = [
        f"Page {n} of the minutes tells in item {n * 7} of matter number {n}." for n in range(4)
    ]
    steps.search(root, *pages)
    said, calls = "", []
    for n, page in enumerate(pages):
        shown = f"So far: {said}\nNew: {page}"
        said = f"After round {n} the summary has {n + 1} matters and ends with item {n * 7}."
        calls.append(steps.generate(f"refine {n}", root, said, shown))

    chain = steps.read(calls[-1])

    assert [inputs(chain, call)[0] for call in calls] == pages
    assert [len(inputs(chain, call)) for call in calls] == [1, 2, 2, 2]
    assert {node.stage for node in chain.nodes} == {"search", "refine"}


def test_parallel_branches_do_not_read_each_other() -> None:
    """Two branches at the same time; a branch that ended after the answer began is none."""
    steps = Steps()
    root = steps.chain(question=QUESTION)
    steps.search(root, ONE, TWO, at=(5, 8))
    steps.generate("left", root, FIRST, ONE, at=(10, 30))
    steps.generate("right", root, SECOND, TWO, at=(10, 40))
    steps.generate("late", root, MERGED, ONE, at=(10, 90))
    answer = steps.generate("answer", root, ANSWER, f"{FIRST}\n{SECOND}\n{MERGED}", at=(50, 60))

    assert edges(steps.read(answer)) == {
        ("search", "left"), ("search", "right"), ("left", "answer"), ("right", "answer")
    }  # fmt: skip


def test_an_agent_reads_the_results_of_its_tools() -> None:
    """Tool results are sources, the agent's own earlier words are a step."""
    steps = Steps()
    root = steps.span("agent", "AGENT", at=(0, 10**6), input__value=QUESTION)
    thought = "I should look at the minutes of the board of Acme first of all."
    steps.generate("chat gpt", root, thought, QUESTION)
    row = json.dumps({"company": "Zenit", "bought_by": "Acme", "year": 2019})
    steps.tool(root, row)
    answer = steps.generate("chat gpt", root, ANSWER, (QUESTION, thought, f"tool:{row}"))

    chain = steps.read(answer)

    assert inputs(chain, answer) == [thought, row]
    assert chain.problem == ""
    assert Graph(chain.nodes).is_source(next(one.id for one in chain.nodes if one.text == row))


def test_an_agent_as_a_tool_is_a_step_of_its_own() -> None:
    """What a tool returns that has a generation inside was written by that generation."""
    steps = Steps()
    root = steps.span("agent", "AGENT", at=(0, 10**6), input__value=QUESTION)
    tool = steps.tool(root, json.dumps({"result": FIRST}), at=(20, 900))
    steps.search(tool, ONE)
    inner = steps.generate("chat", tool, FIRST, ONE)
    answer = steps.generate("chat", root, ANSWER, f"tool:{FIRST}", at=(901, 950))

    chain = steps.read(answer)

    assert inputs(chain, answer) == [FIRST]
    assert inputs(chain, inner) == [ONE]
    assert tool not in chain.steps


def test_a_call_that_is_traced_twice_is_one_step() -> None:
    """The outer span has the answer, the inner one the prompt."""
    steps = Steps()
    root = steps.chain(question=QUESTION)
    steps.search(root, ONE)
    outer = steps.generate("predict", root, ANSWER, at=(20, 900))
    steps.generate("chat", outer, ANSWER, f"Context: {ONE}")

    chain = steps.read(outer)

    assert [node.id for node in chain.nodes] == ["p0", outer]
    assert inputs(chain, outer) == [ONE]


def test_passages_of_a_linked_trace_are_sources() -> None:
    """A retrieval job in another trace, which the answer's span links to."""
    job = Steps(trace="b" * 32)
    search = job.search("", ONE)
    steps = Steps()
    link = SpanLink(job.trace, search)
    said = steps.generate("answer", "", ANSWER, f"Context: {ONE}", at=(1000, 1010), links=(link,))
    blind = steps.generate("answer", "", SECOND, at=(1020, 1030), links=(link,))

    assert inputs(steps.read(said, *job.spans), said) == [ONE]
    assert inputs(steps.read(blind, *job.spans), blind) == [ONE]


def test_a_passage_that_only_the_prompt_holds_is_a_source() -> None:
    """Without a span of a retrieval, the sections of a prompt are what was retrieved."""
    steps = Steps()
    answer = steps.generate("answer", "", ANSWER, f"<context>{ONE}</context>\n{QUESTION}")

    chain = steps.read(answer)

    assert inputs(chain, answer) == [ONE]
    (source,) = (step for step in chain.steps.values() if step.kind is OperationKind.PROMPT)
    assert (source.span_id, source.stage) == (answer, "prompt")


def test_the_question_is_a_source_by_option() -> None:
    """A user states facts; they count only where the caller says so."""
    steps = Steps()
    told = "My lamp is from the winter sale and was delivered on 3 May. May I return it?"
    root = steps.chain(question=told)
    steps.search(root, ONE)
    answer = steps.generate("answer", root, ANSWER, f"{ONE}\n\nQuestion: {told}")

    assert inputs(steps.read(answer), answer) == [ONE]
    assert inputs(steps.read(answer, with_question=True), answer) == [told, ONE]


def test_without_recorded_prompts_the_order_decides() -> None:
    """Spans made by hand: the summary is of the passages, the answer has both before it."""
    steps = Steps()
    root = steps.chain(question=QUESTION)
    steps.search(root, ONE, TWO)
    summary = steps.generate("summarise", root, FIRST)
    answer = steps.generate("answer", root, ANSWER)

    chain = steps.read(answer)

    assert inputs(chain, summary) == [ONE, TWO]
    assert inputs(chain, answer) == [ONE, TWO, FIRST]


def test_without_recorded_prompts_calls_of_one_stage_are_side_by_side() -> None:
    """A map over pages: no summary is an input of the next, all are inputs of the answer."""
    steps = Steps()
    root = steps.chain(question=QUESTION)
    branches = []
    for text, summary in ((ONE, FIRST), (TWO, SECOND)):
        branch = steps.span("branch", "NONE", root, at=(0, 500))
        steps.search(branch, text)
        branches.append(steps.generate("summarise", branch, summary))
    answer = steps.generate("answer", root, ANSWER, at=(600, 700))

    chain = steps.read(answer)

    assert [inputs(chain, one) for one in branches] == [[ONE], [TWO]]
    assert inputs(chain, answer) == [ONE, FIRST, TWO, SECOND]


def test_a_passage_is_that_of_the_own_turn() -> None:
    """Another request of the same trace found the same passage before."""
    steps = Steps()
    job = steps.span("job", "NONE", at=(0, 10**6))
    steps.search(steps.chain("other", "Why?", job), ONE)
    search = steps.search(root := steps.chain("ask", QUESTION, job), ONE)
    answer = steps.generate("answer", root, ANSWER, ONE)

    assert steps.read(answer).steps["p0"].span_id == search


def test_steps_that_pass_on_a_growing_text_are_followed_within_bounds() -> None:
    """Eighty steps, each with the text of the one before and a word more."""
    steps = Steps()
    root = steps.chain(question=QUESTION)
    steps.search(root, ONE)
    text = ONE
    for n in range(80):
        text += f" more{n}"
        steps.span(f"grow {n}", "CHAIN", root, output__value=text)
    answer = steps.generate("answer", root, ANSWER, text)

    chain = steps.read(answer)

    assert chain.problem == ""
    assert any(node.text == ONE for node in chain.nodes)


def test_many_steps_without_prompts_are_a_chain() -> None:
    """Each follows the one before it; the passages may have been read by any."""
    steps = Steps()
    root = steps.chain(question=QUESTION)
    steps.search(root, ONE)
    names = [f"{chr(97 + n // 26)}{chr(97 + n % 26)}" for n in range(150)]
    made = [steps.generate(name, root, f"The text of step {name} in words.") for name in names]

    chain = steps.read(made[-1])

    assert inputs(chain, made[-1])[-1] == f"The text of step {names[-2]} in words."
    assert inputs(chain, made[5]) == [ONE, f"The text of step {names[4]} in words."]


def several_last_steps(steps: Steps, root: str) -> str:
    """Two steps that nothing read, before an answer whose prompt was not recorded."""
    steps.search(root, ONE)
    steps.generate("draft", root, FIRST, ONE)
    steps.generate("criticise", root, SECOND, ONE)
    return steps.generate("answer", root, ANSWER)


def lost_prompt(steps: Steps, root: str) -> str:
    """A step before the answer has a text, and nothing says where it is from."""
    steps.generate("draft", root, FIRST, at=(20, 25))
    return steps.generate("answer", root, ANSWER, FIRST, at=(30, 35))


def cut_source(steps: Steps, root: str) -> str:
    """A limit cut what was retrieved, and the prompt is not there either."""
    steps.span("search", "RETRIEVER", root, output__value='[{"id": "p0", "content": "Acme bou')
    return steps.generate("answer", root, ANSWER)


def cut_prompt(steps: Steps, root: str) -> str:
    """The service shortened the prompt of a step before the answer."""
    steps.search(root, ONE)
    steps.generate("draft", root, FIRST, f"{ONE}… [shortened from 9000 bytes]")
    steps.spans[-1] = replace(steps.spans[-1], shortened_attributes=1)
    return steps.generate("answer", root, ANSWER, FIRST)


PROBLEMS = {
    "lost prompt": (lost_prompt, "What the step “draft” was made from was not recorded."),
    "cut prompt": (cut_prompt, "The text of the step “draft” was cut."),
    "cut source": (cut_source, "The text of the step “search” was cut."),
    "several": (several_last_steps, "What the step “answer” was made from was not recorded."),
    "closed book": (
        lambda steps, root: steps.generate("answer", root, ANSWER, QUESTION),
        "No text that the answer was made from was recorded.",
    ),
    "silent": (
        lambda steps, root: steps.generate("answer", root, "", ONE), "The answer has no text."
    ),
    "hidden": (
        lambda steps, root: steps.generate("answer", root, "__REDACTED__", ONE),
        "The text of the answer was redacted.",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", PROBLEMS)
def test_a_trace_that_is_no_chain_says_why(name: str) -> None:
    """There are no nodes then, and one plain sentence."""
    steps = Steps()
    make, problem = PROBLEMS[name]
    answer = make(steps, steps.chain(question=QUESTION))

    assert steps.read(answer) == TraceChain(problem=problem)


def test_a_trace_with_too_many_words_is_a_problem() -> None:
    """The comparison ends where the caller's limit is reached."""
    steps, ids = summaries()
    tree = SpanTree(steps.spans)
    (answer,) = (view for view in tree if view.span.span_id == ids["answer"])

    assert read_chain(tuple(tree), answer).problem == ""
    assert read_chain(tuple(tree), answer, max_words=50) == TraceChain(
        problem="The texts of the trace are too long to be compared."
    )


def test_an_answer_that_is_not_in_the_trace_is_a_problem() -> None:
    """An id that no span has."""
    steps, _ = summaries()

    assert steps.read("f" * 16).problem == "The span of the answer is not in the trace."
