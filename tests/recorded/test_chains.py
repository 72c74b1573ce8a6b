"""Real instrumentation packages, recorded: each answer's chain leads to what was retrieved."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import pytest

from otel_rt4chart.spans.exchange.exchanges import find_candidates
from otel_rt4chart.spans.graph.chain import TraceChain, find_chain
from otel_rt4chart.spans.model.record import SpanRecord
from otel_rt4chart.verify.trail.graph import Graph
from rt4chart_collector.ingest.otlp.decode_json import decode_json
from tests.recorded.shelf import SUMMARIES, TEXTS

FILES = sorted((Path(__file__).parent / "spans").glob("*.json"))
# How many texts are generated on the way to the answer, itself included; else it is one.
GENERATED = {
    "openinference_llama_index-agent": 3,
    "traceloop_llama_index-agent": 2,
    "openinference_openai_agents-steps": 2,
}
STEPS = [path for path in FILES if "langchain-steps" in path.stem]
# What was retrieved is not recorded: the texts are in the prompts of the summaries.
IN_PROMPTS = "otel_genai_langchain-steps"
# The exchange has the answer of the inner agent as its passage, the chain goes on to the texts.
OF_AGENTS = "openinference_openai_agents-steps"


def chain_of(path: Path) -> TraceChain:
    """The chain of the only answer of a file."""
    traces: defaultdict[str, list[SpanRecord]] = defaultdict(list)
    for span in decode_json(path.read_bytes()).spans:
        traces[span.trace_id].append(span)
    (chain,) = (
        find_chain(spans, found.span_id)
        for spans in traces.values()
        for found in find_candidates(spans)
    )
    return chain


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_the_chain_of_a_real_application_leads_to_its_passages(path: Path) -> None:
    """The sources are the passages of the exchange, and every other text is a step."""
    traces: defaultdict[str, list[SpanRecord]] = defaultdict(list)
    for span in decode_json(path.read_bytes()).spans:
        traces[span.trace_id].append(span)
    (found,) = (one for spans in traces.values() for one in find_candidates(spans))

    chain = chain_of(path)

    if not found.exchange.answer:
        assert chain == TraceChain(problem="The answer has no text.")
        return
    graph = Graph(chain.nodes)
    assert chain.problem == ""
    assert found.exchange.answer in graph.node(chain.answer).text
    assert chain.steps[chain.answer].span_id == found.span_id
    sources = {node.text for node in chain.nodes if graph.is_source(node.id)}
    if path.stem == OF_AGENTS:
        assert sources == {one.text for one in TEXTS[:2]}
    elif path.stem != IN_PROMPTS:
        assert sources == {one.text for one in found.exchange.passages}
    generated = [node for node in chain.nodes if not graph.is_source(node.id)]
    assert len(generated) == GENERATED.get(path.stem, 3 if path in STEPS else 1)


@pytest.mark.parametrize("path", STEPS, ids=lambda path: path.stem)
def test_a_graph_with_branches_is_read_as_it_ran(path: Path) -> None:
    """Each branch summarises one text, and the answer is made from the two summaries alone."""
    chain = chain_of(path)

    texts = {node.id: node.text for node in chain.nodes}
    about = {SUMMARIES[one.id]: one.text for one in TEXTS if one.id in SUMMARIES}
    stages = ("generate", "generate") if path.stem == IN_PROMPTS else ("summarise", "answer")
    for node in chain.nodes:
        if node.text in about:
            (source,) = node.inputs
            assert texts[source].endswith(about[node.text])
            assert node.stage == stages[0]
    (answer,) = (node for node in chain.nodes if node.id == chain.answer)
    assert {texts[name] for name in answer.inputs} == set(SUMMARIES.values())
    assert answer.stage == stages[1]
