"""Which of the documents that were retrieved came out of a trace's rerankers."""

from __future__ import annotations

from dataclasses import replace

import pytest

from otel_rt4chart.spans.exchange.exchanges import find_candidates
from otel_rt4chart.spans.model.record import SpanRecord
from tests.function_calls import count_function_calls
from tests.otel_rt4chart.spans.model.made import (
    CHAIN,
    KIND,
    STORE,
    generation,
    made,
    reranker,
    retriever,
    tool,
)

ANSWER = generation(9, 1, "30 days.", ("user", "How long?"))
SEARCH = retriever(2, 1, "One.", "Two.", "Three.")
DOCUMENT = "retrieval.documents.0.document."


def context(*spans: SpanRecord) -> list[str]:
    """The passages of the only answer."""
    (found,) = find_candidates([CHAIN, ANSWER, *spans])
    return [passage.text for passage in found.exchange.passages]


@pytest.mark.parametrize("beside", [retriever(3, 1, "Beside."), tool(3, 1, "Beside.", **STORE)])
def test_what_never_went_through_the_reranker_stays(beside: SpanRecord) -> None:
    """Two branches, of which one is reranked, though both were retrieved before."""
    ranked = reranker(4, 1, ("One.",), ("One.", "Two."))

    assert context(SEARCH, beside, ranked) == ["Beside.", "One."]


def test_a_retrieval_of_which_a_part_was_given_went_through() -> None:
    """A cut by score or a fusion stands between the two."""
    other = retriever(3, 1, "Two.", "Four.")

    assert context(SEARCH, other, reranker(4, 1, ("Two.",), ("One.", "Two."))) == ["Two."]


def test_an_extract_under_the_same_id_went_through() -> None:
    """What a compressor was given, or gave on, may be a part of the document."""
    keys = {f"{DOCUMENT}id": "a", f"{DOCUMENT}content": "One. Two."}
    search = made(2, 1, {KIND: "RETRIEVER", **keys})
    given = {"reranker.input_documents.0.document.id": "a"}
    ranked = reranker(4, 1, ("Two.",), ("Two.",))

    assert context(search, replace(ranked, attributes={**ranked.attributes, **given})) == ["Two."]


def test_the_same_number_is_not_the_same_document() -> None:
    """Each of two stores may count its rows from 1."""
    keys = {f"{DOCUMENT}id": "1", f"{DOCUMENT}content": "Beside."}
    beside = made(3, 1, {KIND: "RETRIEVER", **keys})
    ranked = reranker(4, 1, ("One.",), ("One.", "Two."))
    given = {"reranker.input_documents.0.document.id": "1"}

    found = context(beside, replace(ranked, attributes={**ranked.attributes, **given}))

    assert found == ["Beside.", "One."]


def test_where_it_is_not_known_what_a_reranker_was_given_it_was_all() -> None:
    """Not written, or evicted with other attributes: the rest may be what is gone."""
    beside = retriever(3, 1, "Beside.")
    thinned = replace(reranker(4, 1, ("One.",), ("One.", "Two.")), dropped_attributes=3)

    assert context(SEARCH, beside, reranker(4, 1, ("One.",), ())) == ["One."]
    assert context(SEARCH, beside, thinned) == ["One."]


@pytest.mark.parametrize("is_given", [True, False])
def test_of_rerankers_in_a_row_the_last_one_counts(is_given: bool) -> None:
    """A fast one before a good one: what the second dropped did not come out."""
    first = reranker(4, 1, ("Two.", "One."), ("One.", "Two.", "Three."))
    last = reranker(5, 1, ("One.",), ("Two.", "One.") if is_given else ())

    assert context(SEARCH, first, last) == ["One."]


@pytest.mark.parametrize("is_given", [True, False])
def test_rerankers_beside_each_other_count_both(is_given: bool) -> None:
    """One for each of the questions that a question was split into."""
    first = reranker(4, 1, ("One.",), ("One.", "Two.") if is_given else ())
    other = reranker(5, 1, ("Three.",), ("Three.", "Four.") if is_given else ())

    assert context(SEARCH, first, other) == ["One.", "Three."]


def test_twice_the_rerankers_are_no_more_than_thrice_the_work() -> None:
    """Each document is looked at once or twice, however many rerankers there are."""
    texts = ("The same.", *(f"Text {place}." for place in range(5)))

    def trace(size: int) -> list[SpanRecord]:
        searches = [retriever(number, 1, *texts) for number in range(2, size)]
        ranked = [reranker(number, 1, texts[:3], ()) for number in range(size, 2 * size)]
        return [CHAIN, *searches, *ranked, replace(ANSWER, start_ns=90_000, end_ns=91_000)]

    once, twice = trace(150), trace(300)
    (found,) = find_candidates(twice)

    assert len(found.exchange.passages) == 3
    assert count_function_calls(lambda: find_candidates(twice)) < 3 * count_function_calls(
        lambda: find_candidates(once)
    )
