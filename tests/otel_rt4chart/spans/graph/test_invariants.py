from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from otel_rt4chart.spans.exchange.span_tree import SpanTree
from otel_rt4chart.spans.graph.chain import TraceChain, find_chain
from otel_rt4chart.spans.graph.inputs import InputFinder
from otel_rt4chart.spans.model.record import SpanRecord
from otel_rt4chart.verify.trail.graph import Graph
from tests.otel_rt4chart.spans.graph.steps import Steps

WORDS = ["acme", "bought", "zenit", "turin", "valves", "jobs", "board", "minutes", "cash", "lamps"]
TEXTS = st.lists(st.sampled_from(WORDS), min_size=1, max_size=30).map(" ".join)


@st.composite
def traces(draw: st.DrawFn) -> tuple[list[SpanRecord], str]:
    """Spans of all kinds that read and repeat each other's texts at any times, and an answer."""
    steps = Steps()
    texts = [draw(TEXTS)]
    parents = [""]
    for _ in range(draw(st.integers(1, 10))):
        start = draw(st.integers(0, 12))
        at = (start, start + draw(st.integers(-1, 6)))
        parent = draw(st.sampled_from(parents))
        kind = draw(st.sampled_from(["search", "generate", "blind", "tool", "chain", "rerank"]))
        text = draw(TEXTS | st.sampled_from(texts))
        read = " / ".join(draw(st.lists(st.sampled_from(texts), max_size=4)))
        match kind:
            case "search":
                made = steps.search(parent, text, draw(st.sampled_from(texts)), at=at)
            case "rerank":
                made = steps.rerank(parent, tuple(texts[-3:]), tuple(texts[-1:]))
            case "tool":
                made = steps.tool(parent, text, at=at)
            case "chain":
                made = steps.span("step", "CHAIN", parent, at=at, output__value=f"{read} {text}")
            case "blind":
                made = steps.generate("guess", parent, text, at=at)
            case _:
                made = steps.generate("step", parent, text, read, at=at)
        texts.append(text)
        parents.append(made)
    asked = " / ".join(draw(st.lists(st.sampled_from(texts), min_size=1, max_size=4)))
    answer = steps.generate("answer", draw(st.sampled_from(parents)), "the end", asked, at=(20, 25))
    return steps.spans, answer


def shape(chain: TraceChain) -> tuple[str, dict[str, tuple[str, tuple[str, ...]]]]:
    """The problem, and each node with its text and its inputs."""
    return chain.problem, {node.id: (node.text, node.inputs) for node in chain.nodes}


@given(traces())
@settings(max_examples=100, deadline=None)
def test_the_graph_of_any_trace_is_sound(trace: tuple[list[SpanRecord], str]) -> None:
    """Acyclic, with unique ids, all of it leading to the answer, every generation with an input."""
    spans, answer = trace

    chain = find_chain(spans, answer)

    if chain.problem:
        assert chain == TraceChain(problem=chain.problem)
        return
    Graph(chain.nodes)  # refuses a cycle, an id twice and an unknown input
    assert set(chain.steps) == {node.id for node in chain.nodes}
    by_id = {node.id: node for node in chain.nodes}
    reached = {chain.answer}
    for node in reversed(chain.nodes):
        assert node.id in reached
        reached.update(node.inputs)
        assert node.inputs or chain.steps[node.id].kind != "LLM"
    assert chain.steps[chain.answer].span_id == answer
    assert by_id[chain.answer].text == "the end"


@given(traces())
@settings(max_examples=100, deadline=None)
def test_every_edge_goes_forward_in_time(trace: tuple[list[SpanRecord], str]) -> None:
    """A text is ready before a generation that read it began, and before any step ended."""
    spans, answer = trace
    chain = find_chain(spans, answer)
    times = {one.span_id: (one.start_ns, max(one.start_ns, one.end_ns)) for one in spans}
    parents = {one.span_id: one.parent_span_id for one in spans}
    around = set(parents.values())

    for node in chain.nodes:
        step = chain.steps[node.id]
        start, end = times[step.span_id]
        is_plain = step.kind == "LLM" and step.span_id not in around
        for name in node.inputs:
            source = chain.steps[name]
            if source.kind != "PROMPT":
                assert times[source.span_id][1] <= (start if is_plain else end)


@given(traces(), st.integers(0, 20), st.booleans())
@settings(max_examples=100, deadline=None)
def test_an_unrelated_span_changes_no_edge(
    trace: tuple[list[SpanRecord], str], at: int, is_first: bool
) -> None:
    """A span in a turn of its own, whose text nobody read, in any place of the list."""
    spans, answer = trace
    other = Steps(trace="c" * 32)
    other.generate("other", "", "Something quite different was written here by no one.", "Why?")
    other.search("", "Pigeons fly over the roofs of an old harbour town in autumn.")
    extra = [
        replace(one, start_ns=at, end_ns=at + 1, trace_id=spans[0].trace_id) for one in other.spans
    ]

    with_extra = [*extra, *spans] if is_first else [*spans, *extra]

    assert shape(find_chain(with_extra, answer)) == shape(find_chain(spans, answer))


@given(traces(), st.randoms())
@settings(max_examples=100, deadline=None)
def test_the_order_of_arrival_does_not_matter(
    trace: tuple[list[SpanRecord], str], random: object
) -> None:
    """Spans come in any order, and some of them twice."""
    spans, answer = trace
    shuffled = [*spans, *spans[:2]]
    random.shuffle(shuffled)  # type: ignore[attr-defined]

    assert find_chain(shuffled, answer) == find_chain(spans, answer)


def wide(pages: int) -> tuple[list[SpanRecord], str]:
    """A map over so many pages with texts that are nearly the same, merged by tens."""
    steps = Steps()
    root = steps.chain(question="What do the pages say?")
    texts = [
        f"Page {n} of the long report says that item {n * 7} of the list was bought in year {n} "
        f"by the company number {n * 3} for its works in the city of Turin."
        for n in range(pages)
    ]
    steps.search(root, *texts)
    level = [
        steps.generate(
            "summarise", root, f"In brief, item {n * 7} was bought, says page {n}.", text
        )
        for n, text in enumerate(texts)
    ]
    while len(level) > 1:
        outputs = {
            one.span_id: str(one.attributes["llm.output_messages.0.message.content"])
            for one in steps.spans[2:]
        }
        level = [
            steps.generate(
                "merge",
                root,
                f"Group {level[n]} has {len(level[n : n + 10])} parts from {level[n]} on.",
                "\n\n".join(outputs[one] for one in level[n : n + 10]),
            )
            for n in range(0, len(level), 10)
        ]
    return steps.spans, level[0]


def work(spans: list[SpanRecord], answer: str) -> tuple[int, int]:
    """The words compared for a whole chain, and its nodes."""
    tree = SpanTree(spans)
    view = tree.get(answer)
    assert view is not None
    finder = InputFinder(tree, view, with_question=False)
    seen = {finder.answer}
    waiting = [finder.answer]
    while waiting:
        found = [one for one in finder.inputs_of(waiting.pop()) if one not in seen]
        seen.update(found)
        waiting += found
    return finder.work, len(seen)


@pytest.mark.parametrize("pages", [90, 900, 9000])
def test_the_work_grows_with_the_words_alone(pages: int) -> None:
    """Ten thousand spans with texts that differ in a few numbers: so many words each, not pairs."""
    spans, answer = wide(pages)

    compared, nodes = work(spans, answer)

    assert (
        nodes
        == 1
        + pages
        + pages
        + sum(pages // 10**k + bool(pages % 10**k) for k in (1, 2, 3, 4) if pages > 10 ** (k - 1))
        - 1
    )
    assert compared < 1500 * pages
