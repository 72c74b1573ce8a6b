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
