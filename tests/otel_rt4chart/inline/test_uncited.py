"""An answer that cites nothing is told without reading its trace, as reading would tell it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from otel_rt4chart.inline.answer_decider import AnswerDecider
from otel_rt4chart.inline.answer_gatherer import AnswerGatherer
from otel_rt4chart.inline.held_traces import Need
from otel_rt4chart.inline.uncited import uncited_routes
from otel_rt4chart.redaction import Redactor
from otel_rt4chart.sampling import Policy, Sampler
from otel_rt4chart.spans.model.record import SpanEvent, SpanRecord
from otel_rt4chart.verify import RulesJudge, Verifier
from tests.otel_rt4chart.inline.readable import readable_spans
from tests.otel_rt4chart.spans.conventions.golden.all import GOLDEN
from tests.otel_rt4chart.spans.model.made import (
    CHAIN,
    LLM,
    SEARCH,
    STORE,
    generation,
    made,
    reranker,
    retriever,
    span,
    tool,
)

CITED = "It lasts 14 days [1]. Refunds take 5 days [doc-9], “as nobody ever wrote down”."
PLAIN = "It lasts 14 days as of now in Berlin, per month (see below), for the “Pro” plan."
Counted = Counter[tuple[object, ...]]


def counted(spans: Sequence[SpanRecord], need: Need) -> Counted:
    """What the metrics count of a trace outside the sample: route, decision, citations, errors."""
    gatherer = AnswerGatherer(route=None, complete=lambda one: one, need_of=lambda _: need)
    decider = AnswerDecider(
        sampler=Sampler(Policy(rate=0.0)),
        build_verifier=lambda: Verifier(RulesJudge()),
        redactor=Redactor(),
        clock=lambda: 1,
    )
    gatherer.add(readable_spans(spans), 1)
    verdicts = map(decider.decide, gatherer.close_all())
    return Counter(
        (one.candidate.route, one.decision, one.citations, one.citation_errors) for one in verdicts
    )


def is_read(*spans: SpanRecord) -> bool:
    """True if the trace must be read to know what is counted of it."""
    return uncited_routes(readable_spans(spans)) is None


def returning(text: str) -> SpanRecord:
    """The chain, which returned this part of what was generated."""
    return replace(CHAIN, attributes={**CHAIN.attributes, "output.value": text})


QUOTE = '"the trial lasts for thirty days", they say'
OTHER = made(9, 1, {"http.request.method": "GET", "url.full": "https://example.org/[1]"})


@pytest.mark.parametrize(
    "trace",
    [
        (CHAIN, SEARCH, LLM),
        (CHAIN, SEARCH, LLM, OTHER),
        (CHAIN, SEARCH, generation(3, 1, PLAIN)),
        (CHAIN, retriever(2, 1, CITED), LLM),
        (CHAIN, SEARCH, generation(3, 1, "30 days.", ("user", CITED))),
        (CHAIN, SEARCH, reranker(4, 1, ("Free.",), ("14 days.", "Free.")), generation(5, 1, "No.")),
        (CHAIN, SEARCH, span(4, "LLM", 1, gen_ai__completion__0__tool_calls__0__name="f"), LLM),
        (returning(PLAIN), SEARCH, generation(3, 1, f"<think>{CITED}</think>{PLAIN}")),
        (CHAIN, generation(4, 1, CITED), SEARCH, generation(5, 1, "14 days.")),
        (CHAIN, SEARCH, generation(3, 1, ""), generation(4, 1, "14 days.")),
        (CHAIN, SEARCH, retriever(4, 2), LLM),
        (CHAIN, OTHER),
        (OTHER,),
    ],
    ids=[
        "an answer without citations",
        "beside another service",
        "with parentheses and a title",
        "from passages that cite",
        "after a question that cites",
        "from a reranker",
        "after a call of a tool",
        "with removed reasoning that cites",
        "after another generation",
        "after one without text",
        "with a step of the retrieval that has no documents",
        "no answer",
        "another application",
    ],
)
def test_a_trace_is_not_read(trace: Sequence[SpanRecord]) -> None:
    """Where no answer cites, and reading would find nothing that prevents the verification."""
    assert not is_read(*trace)
    assert counted(trace, Need.CITATIONS) == counted(trace, Need.VERDICT)


@pytest.mark.parametrize(
    "trace",
    [
        (CHAIN, SEARCH, generation(3, 1, CITED)),
        (CHAIN, SEARCH, generation(3, 1, "“The trial lasts for thirty days.”")),
        (CHAIN, SEARCH, generation(3, 1, "See https://example.org for the trial.")),
        (returning(QUOTE), SEARCH, generation(3, 1, f"A{QUOTE}")),
        (CHAIN, generation(4, 1, "How long?"), SEARCH, generation(5, 1, CITED)),
        (CHAIN, LLM),
        (CHAIN, retriever(2, 1), LLM),
        (CHAIN, retriever(2, 1, "14 days.", "__REDACTED__"), LLM),
        (CHAIN, replace(SEARCH, dropped_attributes=1), LLM),
        (CHAIN, SEARCH, generation(3, 1, "")),
        (CHAIN, SEARCH, tool(4, 1, "14 days.", **STORE), LLM),
        (CHAIN, retriever(99, 1, "14 days."), LLM),
        (returning("14 days."), SEARCH),
        (CHAIN, SEARCH, *(generation(number, 1, "No.") for number in range(3, 30))),
        (
            *(span(number, "CHAIN", number - 1) for number in range(1, 300)),
            generation(300, 299, "No."),
        ),
    ],
    ids=[
        "it cites",
        "it quotes",
        "it links",
        "what was returned of it quotes",
        "the last generation cites",
        "no retrieval",
        "no documents",
        "a redacted document",
        "a lost attribute",
        "no text",
        "a tool on a data store",
        "a retrieval after the answer",
        "the answer is the chain's",
        "a batch",
        "a deep trace",
    ],
)
def test_a_trace_is_read(trace: Sequence[SpanRecord]) -> None:
    """Where the answer may cite, or it is not certain what reading would find."""
    assert is_read(*trace)
    assert counted(trace, Need.CITATIONS) == counted(trace, Need.VERDICT)


SIMPLE = [CHAIN, CHAIN, SEARCH, SEARCH, LLM, LLM, OTHER, generation(3, 1, CITED)]
ANY = [
    *SIMPLE,
    *(golden.record for golden in GOLDEN),
    span(1, "AGENT", 0, output__value="30 days."),
    span(1, "CHAIN", 0, output__value=f"<b>{CITED}</b>"),
    span(1, "EVALUATOR", 0),
    retriever(1, 0, "14 days.", "__REDACTED__"),
    made(1, 0, {"openinference.span.kind": "RETRIEVER", "retrieval.documents": "[]"}),
    reranker(1, 0, ("14 days.",), ("14 days.", "Free.")),
    generation(1, 0, f"<think>per</think> {CITED}"),
    generation(1, 0, json.dumps({"answer": CITED})),
    generation(1, 0, ""),
    tool(1, 0, CITED, **STORE),
]
EXTRAS: list[dict[str, str]] = [
    *({}, {}, {}, {}),
    {"http.route": "/ask"},
    {"rt4chart.route": "own"},
    {"gen_ai.agent.name": "helper"},
    {"output.value": "30 days."},
]


@st.composite
def traces(draw: st.DrawFn) -> list[SpanRecord]:
    """Spans of every convention below each other, with their answers at any times."""
    spans: list[SpanRecord] = []
    base = [CHAIN, SEARCH, LLM] if draw(st.booleans()) else []
    more = draw(st.lists(st.sampled_from(ANY), min_size=0 if base else 1, max_size=5))
    for number, one in enumerate([*base, *more], 1):
        parent = draw(st.integers(0, number - 1))
        start = draw(st.integers(0, 14)) if draw(st.booleans()) else number
        events = [SpanEvent("exception", 1)] if draw(st.integers(0, 9)) == 0 else []
        spans.append(
            replace(
                one,
                trace_id="a" * 32,
                span_id=f"{number:016x}",
                parent_span_id=f"{parent:016x}" if parent else "",
                name=draw(st.sampled_from([one.name, "RunnableSequence", "ask"])),
                start_ns=10 + start,
                end_ns=20 + draw(st.integers(0, 6)),
                attributes={**one.attributes, **draw(st.sampled_from(EXTRAS))},
                events=(*one.events, *events),
                status=draw(st.sampled_from(["Unset", "Unset", "Error"])),
            )
        )
    return spans


@given(traces())
@settings(max_examples=150, deadline=None)
def test_the_same_is_counted_of_any_trace(trace: list[SpanRecord]) -> None:
    """As if it had been read: the routes, the decisions, the citations and their errors."""
    assert counted(trace, Need.CITATIONS) == counted(trace, Need.VERDICT)
