"""Where each passage was seen, so that what was lost can be told from what was never found."""

from __future__ import annotations

import json
import time

from hypothesis import given
from hypothesis import strategies as st

from otel_rt4chart.spans.exchange.exchanges import find_candidates
from otel_rt4chart.spans.model.record import SpanRecord
from otel_rt4chart.spans.model.verdict import Stage
from tests.otel_rt4chart.spans.model.made import (
    CHAIN,
    KIND,
    STORE,
    VARIABLES,
    generation,
    made,
    reranker,
    retriever,
    tool,
)

TEXTS = ("The trial lasts 14 days.", "Refunds take a week.", "Support answers on weekdays.")
SEARCH = retriever(2, 1, *TEXTS)
RERANK = reranker(3, 1, TEXTS[:2], TEXTS)


def stages(*spans: SpanRecord) -> dict[str, str]:
    """Each passage's stages, joined, by its text."""
    (found,) = find_candidates([CHAIN, *spans])
    return {one.passage.text: "+".join(one.stages) for one in found.staged}


def asked(*texts: str, **more: str) -> SpanRecord:
    """A generation whose prompt holds these texts."""
    return generation(9, 1, "30 days.", ("user", "\n\n".join(texts)), **more)


def test_each_passage_keeps_its_way() -> None:
    """Dropped by the reranker, cut from the prompt, or all the way through."""
    variables = json.dumps({"context": "\n".join(TEXTS[:2])})

    found = stages(SEARCH, RERANK, asked("Use:", TEXTS[0], **{VARIABLES: variables}))

    assert found == {
        TEXTS[0]: "retrieved+reranked+template+prompt",
        TEXTS[1]: "retrieved+reranked+template",
        TEXTS[2]: "retrieved",
    }


def test_the_context_comes_first_and_the_lost_ones_behind_it() -> None:
    """What is staged and not in the exchange did not reach the answer."""
    (found,) = find_candidates([CHAIN, SEARCH, RERANK, asked("How long?")])

    assert [one.text for one in found.exchange.passages] == list(TEXTS[:2])
    assert [one.passage.text for one in found.staged] == list(TEXTS)
    assert all(Stage.PROMPT not in one.stages for one in found.staged)


def test_what_a_reranker_was_given_was_retrieved() -> None:
    """Its retriever may not be traced."""
    assert stages(RERANK, asked("How long?"))[TEXTS[2]] == "retrieved"


def test_a_passage_is_found_in_a_prompt_however_it_is_laid_out() -> None:
    """White space and JSON's escapes differ between the store and the prompt."""
    text = 'The trial\n\n  lasts “14” days,\tno "more".' + " It is free." * 50
    shown = json.dumps({"docs": [text]}, ensure_ascii=False)

    assert stages(retriever(2, 1, text), asked(shown)) == {text: "retrieved+prompt"}


def test_a_part_of_a_document_came_from_it() -> None:
    """A compressing reranker keeps an extract under the document's id."""
    key = "document.content"
    search = {"retrieval.documents.0.document.id": "a", f"retrieval.documents.0.{key}": TEXTS[0]}
    kept = {"reranker.output_documents.0.document.id": "a",
            f"reranker.output_documents.0.{key}": "lasts 14 days"}  # fmt: skip
    spans = [made(2, 1, {KIND: "RETRIEVER", **search}), made(3, 1, {KIND: "RERANKER", **kept})]

    assert stages(*spans, asked("How long?")) == {
        "lasts 14 days": "retrieved+reranked",
        TEXTS[0]: "retrieved",
    }


def test_tools_results_have_their_stage() -> None:
    """Of a tool around a retriever it is said by the passages in it."""
    inside = retriever(4, 3, *TEXTS[:2])
    around = tool(3, 1, "\n".join(TEXTS[:1]), **STORE)

    assert stages(around, inside, asked("How long?")) == {
        TEXTS[0]: "retrieved+tool",
        TEXTS[1]: "retrieved",
    }
    assert stages(tool(3, 1, "Called."), asked("How long?")) == {"Called.": "tool"}


def test_a_section_of_the_prompt_was_seen_there() -> None:
    """And nowhere else."""
    assert stages(asked("Context: One.", "Question: How long?")) == {"One.": "prompt"}


def test_hundreds_of_passages_in_a_long_prompt_are_cheap() -> None:
    """Well under what verifying them takes."""
    texts = [f"Passage {number}: " + "it says so. " * 80 for number in range(100)]
    span = asked(*texts[:90], "x" * 10_000)
    search = retriever(2, 1, *texts)
    start = time.process_time()

    found = stages(search, span)

    assert time.process_time() - start < 1
    assert sum("prompt" in one for one in found.values()) == 90


@given(
    st.lists(st.sampled_from([*TEXTS, "It is.", "It is. It is not."]), max_size=6),
    st.lists(st.sampled_from([*TEXTS, "It is."]), max_size=4),
    st.lists(st.sampled_from([*TEXTS, "Context: It is."]), max_size=3),
)
def test_every_passage_of_the_context_is_staged(
    found: list[str], kept: list[str], prompt: list[str]
) -> None:
    """Whatever evidence names can be looked up, with at least one stage, under one id."""
    spans = [CHAIN, asked(*prompt, "How long?")]
    spans += [retriever(2, 1, *found)] if found else []
    spans += [reranker(3, 1, tuple(kept), tuple(found))] if kept else []

    (candidate,) = find_candidates(spans)

    staged = {one.passage.id: one for one in candidate.staged}
    assert len(staged) == len(candidate.staged)
    assert all(staged[one.id].passage == one for one in candidate.exchange.passages)
    assert all(one.stages for one in candidate.staged)
