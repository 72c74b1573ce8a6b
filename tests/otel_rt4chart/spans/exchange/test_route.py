"""The route of an answer: the most explicit name in its trace."""

from __future__ import annotations

from dataclasses import replace

import pytest

from otel_rt4chart.spans.exchange.exchanges import find_candidates
from otel_rt4chart.spans.exchange.route import ROUTE_KEYS
from tests.otel_rt4chart.spans.model.made import CHAIN, LLM, SEARCH, made


@pytest.mark.parametrize("place", range(len(ROUTE_KEYS)))
def test_a_more_explicit_name_goes_first(place: int) -> None:
    """Whichever span it is on."""
    nearer = dict.fromkeys(ROUTE_KEYS[place + 1 :], "less explicit")
    chain = replace(CHAIN, attributes={**CHAIN.attributes, ROUTE_KEYS[place]: "this"})
    answer = replace(LLM, attributes={**LLM.attributes, **nearer})

    assert find_candidates([chain, SEARCH, answer])[0].route == "this"


def test_the_route_of_a_called_service_is_not_the_answers() -> None:
    """The retriever is a service with a server of its own inside the same trace."""
    caller = made(20, 0, {"http.route": "/ask"})
    chain = replace(CHAIN, parent_span_id=caller.span_id)
    called = made(4, 2, {"http.route": "/search"})

    assert find_candidates([caller, chain, SEARCH, called, LLM])[0].route == "/ask"
    assert find_candidates([CHAIN, SEARCH, called, LLM])[0].route == "span 1"


def test_without_any_name_the_route_is_the_roots_or_the_services() -> None:
    """A span's name may be empty."""
    nameless = replace(CHAIN, name="")

    assert find_candidates([CHAIN, SEARCH, LLM])[0].route == "span 1"
    assert find_candidates([nameless, SEARCH, LLM])[0].route == "shop"


@pytest.mark.parametrize(
    "name",
    ["RunnableSequence", "RunnableParallel<context,question>", "LangGraph",
     "RunnableLambda.workflow", "invoke_workflow RunnableSequence",
     "Crew_ad003b8a-5524-494a-8a11-d0b0c4241d45.kickoff"],
)  # fmt: skip
def test_a_chain_without_a_name_is_no_route(name: str) -> None:
    """The named chain inside or outside is the route, else the service; never the framework's."""
    unnamed = replace(CHAIN, name=name, attributes={**CHAIN.attributes, "gen_ai.agent.name": name})
    inner = replace(made(5, 1, {"openinference.span.kind": "CHAIN"}), name="refunds")
    answer = replace(LLM, parent_span_id=inner.span_id)
    outer = replace(made(20, 0, {}), name="POST /ask")
    called = replace(unnamed, parent_span_id=outer.span_id)

    assert find_candidates([unnamed, SEARCH, LLM])[0].route == "shop"
    assert find_candidates([unnamed, inner, SEARCH, answer])[0].route == "refunds"
    assert find_candidates([outer, called, SEARCH, LLM])[0].route == "POST /ask"


def test_a_route_that_the_application_sets_is_kept_as_it_is() -> None:
    """Even if it has the name of a framework's class or of a method."""
    for route in ("LangGraph", "Engine.aquery"):
        chain = replace(CHAIN, attributes={**CHAIN.attributes, "rt4chart.route": route})
        assert find_candidates([chain, SEARCH, LLM])[0].route == route


@pytest.mark.parametrize(
    ("name", "route"),
    [
        ("RetrieverQueryEngine.aquery", "RetrieverQueryEngine.query"),
        ("Support.aforward", "Support.forward"),
        ("ContextChatEngine.astream_chat", "ContextChatEngine.stream_chat"),
        ("Pipeline.run_async", "Pipeline.run"),
        ("answer", "answer"),
        ("Shop.archive", "Shop.archive"),
        ("aquery", "aquery"),
    ],
)
def test_an_asynchronous_method_has_the_route_of_the_synchronous_one(name: str, route: str) -> None:
    """Other names that begin with an `a` stay."""
    assert find_candidates([replace(CHAIN, name=name), SEARCH, LLM])[0].route == route
