"""Answers beside each other in one request: which of them were given what was retrieved for it."""

from __future__ import annotations

import pytest

from otel_rt4chart.spans.exchange.exchanges import find_candidates
from otel_rt4chart.spans.model.record import SpanRecord
from otel_rt4chart.spans.model.verdict import Candidate, Decision
from tests.otel_rt4chart.spans.model.made import KIND, generation, made, retriever

REQUEST = made(1, 0, {"http.route": "/chat"})
SEARCH = retriever(2, 1, "The trial lasts 14 days.", "Refunds take a week.")
CHAINS = [made(10, 1, {KIND: "CHAIN"}), made(20, 1, {KIND: "CHAIN"})]
SHOWN = ("user", "Context: The trial\n lasts 14 days.\nQuestion: How long?")
GIVEN = generation(11, 10, "14 days.", SHOWN)
TITLE = generation(21, 20, "About the trial", ("user", "A title for: How long is the trial?"))


def answers(*spans: SpanRecord) -> dict[str, Candidate]:
    """The answers of the request by what they say."""
    return {one.exchange.answer: one for one in find_candidates([REQUEST, SEARCH, *CHAINS, *spans])}


def test_a_title_is_not_held_against_documents_that_it_was_not_given() -> None:
    """Its prompt shows none of them, the answer's does: it has no context, and no verdict."""
    found = answers(GIVEN, TITLE)

    assert len(found["14 days."].exchange.passages) == 2
    assert found["About the trial"].blocked is Decision.NO_CONTEXT
    assert found["About the trial"].staged == ()


@pytest.mark.parametrize(
    "other",
    [
        generation(21, 20, "A week."),
        generation(21, 20, "A week.", ("user", "Refunds take a week. How long?")),
        generation(21, 20, "A week.", ("system", "Be kind."), ("user", "__REDACTED__")),
        generation(21, 20, "A week.", ("user", "Polish what was said: 14 days.")),
    ],
    ids=["no prompt", "another document", "a hidden prompt", "another answer"],
)
def test_an_answer_that_may_have_been_given_them_keeps_them(other: SpanRecord) -> None:
    """In a prompt that is not known, or by another answer that it was made of."""
    assert len(answers(GIVEN, other)["A week."].exchange.passages) == 2


def test_where_no_prompt_shows_the_documents_all_keep_them() -> None:
    """They may be laid out in a way that is not recognised."""
    plain = generation(11, 10, "14 days.", ("user", "How long?"))

    found = answers(plain, TITLE)

    assert all(len(one.exchange.passages) == 2 for one in found.values())
