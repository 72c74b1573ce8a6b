"""The case studies of VeriTrail, live: hand-made spans of the real SDK, read and traced."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from otel_rt4chart import Passage, generator, retriever
from otel_rt4chart.spans.exchange.exchanges import find_candidates
from otel_rt4chart.spans.graph.chain import TraceChain, find_chain
from otel_rt4chart.spans.reading.sdk import record_from_readable
from otel_rt4chart.verify import LocalJudge
from otel_rt4chart.verify.core.judge import Hint
from otel_rt4chart.verify.core.model import Chunk, DraftClaim, Judgement, Label, Sentence
from otel_rt4chart.verify.decompose.rules import decompose
from otel_rt4chart.verify.trail.tracer import Tracer

MERGED, INVENTED = "Acme bought Zenit in 2019", "The purchase saved 40 jobs in Turin"
QUESTION = "What is the report on Turin about?"
SOURCES = {
    "1": f"The board met in Turin. {MERGED}, the minutes of that meeting say on the last page.",
    "2": "Zenit made valves in Turin for decades. It had 40 jobs to fill in that year.",
    "3": "Acme grew for years without a break. Its shares rose on most days of the year.",
}
# After Figure 1: extracted facts, summaries, reports, partial answers; each with its inputs.
GENERATED = {
    "4": ("extract", f"Relation: {MERGED}.", "1"),
    "5": ("extract", "Entity: Turin is an old city of valves and of their makers.", "12"),
    "6": ("extract", "Entity: Zenit is a firm that makes valves of all sizes.", "2"),
    "7": ("extract", "Entity: Acme is a company that has grown for years.", "3"),
    "8": ("extract", "Relation: the shares of Acme rose on most days.", "3"),
    "9": ("summarise", "Valves of all kinds are made in the city of Turin.", "56"),
    "10": ("summarise", "The firm Zenit is known as a maker of valves.", "6"),
    "11": ("summarise", "The company Acme is growing, as its shares show.", "78"),
    "12": ("report", "Report on Turin. A good part of all valves comes from there.", "9"),
    "13": ("report", f"Report on deals. {MERGED} for cash.", "4X"),
    "14": ("report", "Report on growth. Acme grew and has not stopped growing.", "E"),
    "15": ("map", f"Turin matters to many. {MERGED}, and jobs were discussed.", "CD"),
    "16": ("map", "Acme grew in size and its shares rose in value.", "F"),
}
LETTERS = {"X": "10", "E": "11", "C": "12", "D": "13", "F": "14"}
ANSWER = f"{MERGED}. {INVENTED}."


@pytest.fixture
def exporter(monkeypatch: pytest.MonkeyPatch) -> Iterator[InMemorySpanExporter]:
    """The spans of a provider of its own, which hand-made spans use."""
    kept = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(kept))
    monkeypatch.setattr(trace, "get_tracer", provider.get_tracer)
    yield kept
    provider.shutdown()


@dataclass(frozen=True, slots=True)
class PhraseJudge:
    """Entails a claim by a sentence that has its words in a row, and knows nothing else."""

    id: str = "phrase/1"

    def decompose(self, sentences: Sequence[Sentence]) -> Sequence[DraftClaim]:
        return decompose(sentences)

    def assess(
        self, claims: Sequence[DraftClaim], chunk: Chunk, *, question: str
    ) -> Sequence[Judgement]:
        return [_judgement(claim.text, chunk.sentences) for claim in claims]

    def resolve(
        self,
        claims: Sequence[DraftClaim],
        context: Sequence[Sentence],
        *,
        hint: Hint | None,
        question: str,
    ) -> Sequence[Judgement]:
        return [_judgement(claim.text, context) for claim in claims]


def _judgement(claim: str, sentences: Sequence[Sentence]) -> Judgement:
    found = tuple(one.index for one in sentences if claim.rstrip(".") in one.text)
    return Judgement(Label.ENTAILED if found else Label.BASELESS, found)


def ask(*, with_prompts: bool = True) -> None:
    """The application: it extracts, summarises, reports, maps and answers."""
    said = dict(SOURCES)
    with trace.get_tracer("app").start_as_current_span("ask"):
        with retriever("search", query=QUESTION) as search:
            search.documents([Passage(name, text) for name, text in SOURCES.items()])
        for name, (stage, text, inputs) in GENERATED.items():
            with generator(stage) as step:
                if with_prompts:
                    read = (said[LETTERS.get(one, one)] for one in inputs)
                    step.prompt("Do your task for this:\n" + "\n".join(f"* {one}" for one in read))
                step.answer(text)
            said[name] = text
        with generator("answer", question=QUESTION, route="reports") as last:
            if with_prompts:
                last.prompt(f"Answer from: {said['15']} {said['16']}\nQuestion: {QUESTION}")
            last.answer(ANSWER)


def chain_in(exporter: InMemorySpanExporter) -> TraceChain:
    """The chain of the answer of the exported trace."""
    spans = [record_from_readable(one) for one in exporter.get_finished_spans()]
    (found,) = find_candidates(spans)
    assert found.exchange.answer == ANSWER
    return find_chain(spans, found.span_id)


def names(chain: TraceChain) -> dict[str, str]:
    """The number in the figure by the id of a node."""
    numbers = {text: name for name, (_, text, _) in GENERATED.items()}
    numbers |= {text: name for name, text in SOURCES.items()}
    return {node.id: numbers.get(node.text, "answer") for node in chain.nodes}


def test_the_graph_of_the_figure_is_read_from_spans(exporter: InMemorySpanExporter) -> None:
    """Sixteen nodes and the answer, each with the inputs that its prompt had."""
    ask()

    chain = chain_in(exporter)

    known = names(chain)
    read = {known[node.id]: {known[one] for one in node.inputs} for node in chain.nodes}
    wanted = {
        name: {LETTERS.get(one, one) for one in inputs}
        for name, (_, _, inputs) in GENERATED.items()
    }
    assert chain.problem == ""
    assert read == wanted | {"1": set(), "2": set(), "3": set(), "answer": {"15", "16"}}
    assert list(dict.fromkeys(node.stage for node in chain.nodes)) == [
        *("search", "extract", "summarise", "report", "map", "answer")
    ]


def test_a_supported_claim_is_traced_to_its_source(exporter: InMemorySpanExporter) -> None:
    """Case study 1: sentences of nodes 15, 13, 4 and 1."""
    ask()
    chain = chain_in(exporter)

    (claim,) = Tracer(PhraseJudge()).trace(chain.nodes, chain.answer, [MERGED]).claims

    known = names(chain)
    assert [known[one.passage_id] for one in claim.path] == ["15", "13", "4", "1"]
    assert (claim.label, claim.reaches_sources) == (Label.ENTAILED, True)
    assert [[known[one] for one in step.nodes] for step in claim.steps] == [
        ["15", "16"], ["12", "13"], ["4", "10"], ["1"]
    ]  # fmt: skip


def test_an_invented_claim_is_laid_on_the_answer(exporter: InMemorySpanExporter) -> None:
    """Case study 2: with two unsupported steps allowed, nodes 12, 13 and 14 are read as well."""
    ask()
    chain = chain_in(exporter)

    trail = Tracer(PhraseJudge(), patience=2).trace(chain.nodes, chain.answer, [INVENTED])

    known = names(chain)
    (claim,) = trail.claims
    assert [[known[one] for one in step.nodes] for step in claim.steps] == [
        ["15", "16"], ["12", "13", "14"]
    ]  # fmt: skip
    assert (claim.error_nodes, claim.error_stage) == ((chain.answer,), "answer")


def test_the_local_judge_traces_a_live_chain(exporter: InMemorySpanExporter) -> None:
    """No model, no script: the claim is supported back to the minutes, the invented one is not."""
    pytest.importorskip("rt4chart_models", reason="the base install has no embedded models")
    ask()
    chain = chain_in(exporter)

    merged, invented = Tracer(LocalJudge()).trace(chain.nodes, chain.answer).claims

    assert names(chain)[merged.path[-1].passage_id] == "1"
    assert (merged.label, merged.reaches_sources) == (Label.ENTAILED, True)
    assert invented.label.is_unfaithful
    assert invented.error_stage == "answer"


def test_without_prompts_each_stage_follows_the_one_before(exporter: InMemorySpanExporter) -> None:
    """The order leaves the passages and all results of the last stage, whoever read which."""
    ask(with_prompts=False)

    chain = chain_in(exporter)

    known = names(chain)
    read = {known[node.id]: {known[one] for one in node.inputs} for node in chain.nodes}
    assert read["answer"] == {*SOURCES, "15", "16"}
    assert read["14"] == {*SOURCES, "9", "10", "11"}
    assert read["4"] == {*SOURCES}
