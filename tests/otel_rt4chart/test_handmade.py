from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from otel_rt4chart import Passage, generator, retriever
from otel_rt4chart.core.guard import guard
from otel_rt4chart.spans.exchange.exchanges import find_candidates
from otel_rt4chart.spans.model.verdict import Candidate
from otel_rt4chart.spans.reading.reader import read_span
from otel_rt4chart.spans.reading.sdk import record_from_readable

EXPORTER = InMemorySpanExporter()


@pytest.fixture(autouse=True)
def _provider() -> Iterator[None]:
    """One SDK provider for the process: OpenTelemetry lets it be set once."""
    if not isinstance(trace.get_tracer_provider(), TracerProvider):
        trace.set_tracer_provider(TracerProvider())
    processor = SimpleSpanProcessor(EXPORTER)
    provider = trace.get_tracer_provider()
    assert isinstance(provider, TracerProvider)
    if not getattr(provider, "_handmade", False):
        provider.add_span_processor(processor)
        provider._handmade = True  # type: ignore[attr-defined]
    EXPORTER.clear()
    yield
    EXPORTER.clear()


def found() -> tuple[Candidate, ...]:
    """The candidates in the exported spans."""
    return find_candidates([record_from_readable(span) for span in EXPORTER.get_finished_spans()])


def test_hand_made_spans_are_an_exchange() -> None:
    """What is written is what is read back."""
    with trace.get_tracer("app").start_as_current_span("ask"):
        with retriever("search", query="trial?") as r:
            r.documents([Passage("p1", "14 days.", 0.8, {"page": 2}), "Free.", {"text": "New."}])
        with generator("answer", question="How long?", route="support", model="m") as g:
            g.answer("30 days.")

    (one,) = found()
    assert one.exchange.question == "How long?"
    assert [p.text for p in one.exchange.passages] == ["14 days.", "Free.", "New."]
    assert one.exchange.passages[0] == Passage("p1", "14 days.", 0.8, {"page": 2})
    assert (one.exchange.answer, one.route, one.model) == ("30 days.", "support", "m")


def test_a_recorded_prompt_changes_no_exchange() -> None:
    """Question, passages and answer are the same; the prompt is a message before the question."""
    with trace.get_tracer("app").start_as_current_span("ask"):
        with retriever("search") as r:
            r.documents([Passage("p1", "14 days.")])
        with generator("answer") as g:
            g.question("How long?")
            g.prompt("Answer from the context.\n14 days.\nHow long?")
            g.answer("30 days.")

    (one,) = found()
    view = read_span(record_from_readable(EXPORTER.get_finished_spans()[1]))
    assert (one.exchange.question, one.exchange.answer) == ("How long?", "30 days.")
    assert [(p.id, p.text) for p in one.exchange.passages] == [("p1", "14 days.")]
    assert [(m.role, m.text) for m in view.prompt] == [
        ("system", "Answer from the context.\n14 days.\nHow long?"),
        ("user", "How long?"),
    ]


def documents_of(span: ReadableSpan) -> dict[str, object]:
    """The attributes of a span's documents."""
    known = span.attributes or {}
    return {key: value for key, value in known.items() if key.startswith("retrieval.documents")}


@pytest.mark.parametrize("count", [3, 10**8])
def test_an_iterator_and_an_endless_list_are_left_alone(count: int) -> None:
    """The application reads its own, and the failure to record it is counted."""
    before = guard.swallowed
    passages: Any = iter(["Day 0.", "Day 1."]) if count == 3 else range(count)

    with retriever("search") as r:
        r.documents(passages)

    assert next(iter(passages)) in ("Day 0.", 0)
    assert documents_of(EXPORTER.get_finished_spans()[0]) == {}
    assert guard.swallowed == before + 1


def test_documents_are_written_as_openinference_specifies() -> None:
    """An attribute for each field, so that other readers show them as documents."""
    with retriever("search") as r:
        r.documents([Passage("p1", "14 days.", 0.8, {"page": 2}), "Free."])

    (span,) = EXPORTER.get_finished_spans()
    assert documents_of(span) == {
        "retrieval.documents.0.document.content": "14 days.",
        "retrieval.documents.0.document.id": "p1",
        "retrieval.documents.0.document.score": 0.8,
        "retrieval.documents.0.document.metadata": '{"page": 2}',
        "retrieval.documents.1.document.content": "Free.",
    }


@pytest.mark.parametrize("count", [0, 1, 25, 26, 60])
def test_the_key_of_documents_never_holds_a_whole_list(count: int) -> None:
    """A reader that expects a list there fails on a text; nothing found is written too."""
    with retriever("search", query="trial?") as r:
        r.documents([Passage(f"p{n}", f"Text {n}.", 0.5, {"n": n}) for n in range(count)])

    (span,) = EXPORTER.get_finished_spans()
    attributes = span.attributes or {}
    assert "retrieval.documents" not in attributes
    assert attributes["openinference.span.kind"] == "RETRIEVER"
    is_flat = 0 < count <= 25
    assert (len(documents_of(span)), "output.value" in attributes) == (
        (4 * count, False) if is_flat else (0, True)
    )


def test_sixty_documents_are_all_kept() -> None:
    """The SDK's limit of 128 attributes a span costs no document."""
    with trace.get_tracer("app").start_as_current_span("ask"):
        with retriever("search") as r:
            r.documents([Passage(f"p{n}", f"Text {n}.", 0.5, {"n": n}) for n in range(60)])
        with generator("answer") as g:
            g.answer("Text 3.")

    (one,) = found()
    assert [p.id for p in one.exchange.passages] == [f"p{n}" for n in range(60)]
    assert one.blocked is None


def test_decorated_functions_are_recorded_sync_and_async() -> None:
    """A retriever's list and a generator's string are what was found and said."""

    @retriever("search")
    def search(query: str) -> list[str]:
        return [f"{query} lasts 14 days."]

    @generator("answer", route="r")
    async def answer(passages: list[str]) -> str:
        return passages[0]

    with trace.get_tracer("app").start_as_current_span("ask"):
        said = asyncio.run(answer(search("The trial")))

    assert said == "The trial lasts 14 days."
    (one,) = found()
    assert one.exchange.passages[0].text == one.exchange.answer == said
    assert search.__name__ == "search"


def test_async_with_works() -> None:
    """The same spans in asynchronous code."""

    async def run() -> None:
        async with generator("answer") as g:
            g.answer("Said.")

    asyncio.run(run())

    assert found()[0].exchange.answer == "Said."


def test_the_applications_exception_passes_untouched_and_is_recorded() -> None:
    """Promise 1: we neither swallow nor change what the application raises."""
    error = RuntimeError("out of stock")

    with pytest.raises(RuntimeError) as caught, generator("answer"):
        raise error

    assert caught.value is error
    (span,) = EXPORTER.get_finished_spans()
    assert [event.name for event in span.events] == ["exception"]


def test_our_own_exception_never_reaches_the_application() -> None:
    """Documents that cannot be written cost the documents, not the request."""

    class Hostile(dict[str, object]):
        def get(self, *_: object) -> object:
            raise ValueError("no")

    before = guard.swallowed
    with retriever("search") as r:
        r.documents([Hostile(text="x")])

    assert guard.swallowed == before + 1
    assert len(EXPORTER.get_finished_spans()) == 1


@pytest.mark.parametrize("value", [range(10**9), object(), b"bytes", ["a", "b"]], ids=type)
def test_a_value_that_is_no_text_is_left_out_at_once(value: object) -> None:
    """The SDK would walk through a long sequence in the application's thread."""
    before = guard.swallowed

    with retriever("search", query=value, route=value) as r:  # type: ignore[arg-type]
        r.documents(["One."])
    with generator("answer", question=value, model=value) as g:  # type: ignore[arg-type]
        g.question(value)  # type: ignore[arg-type]
        g.answer(value)  # type: ignore[arg-type]

    assert guard.swallowed == before + 6
    for span in EXPORTER.get_finished_spans():
        assert not {"input.value", "output.value", "rt4chart.route"} & set(span.attributes or {})


def test_a_number_is_written_as_text() -> None:
    """Nothing is lost because an id or a year came as a number."""
    with generator("answer", question=2026) as g:  # type: ignore[arg-type]
        g.answer(14)  # type: ignore[arg-type]

    (span,) = EXPORTER.get_finished_spans()
    assert (span.attributes or {})["input.value"] == "2026"
    assert (span.attributes or {})["output.value"] == "14"


@pytest.mark.parametrize("found", ["One.", {"text": "One."}, Passage("", "One.")], ids=type)
def test_a_single_document_is_one_passage(found: str | dict[str, str] | Passage) -> None:
    """A string is not a list of characters."""
    with retriever("search") as r:
        r.documents(found)

    (span,) = EXPORTER.get_finished_spans()
    assert documents_of(span) == {"retrieval.documents.0.document.content": "One."}


def test_documents_of_other_tools_are_read_as_they_name_their_text() -> None:
    """An id that is None is none, so that two documents do not share it."""
    with retriever("search") as r:
        r.documents([{"id": None, "page_content": "One."}, {"id": None, "content": "Two."}])
    with generator("answer") as g:
        g.answer("Said.")

    (span, _) = EXPORTER.get_finished_spans()
    assert documents_of(span) == {
        "retrieval.documents.0.document.content": "One.",
        "retrieval.documents.1.document.content": "Two.",
    }


def test_metadata_is_json() -> None:
    """Whatever the application needs to find the answer again."""
    with generator("answer") as g:
        g.metadata({"answer_id": 7})

    (span,) = EXPORTER.get_finished_spans()
    assert span.attributes is not None
    assert json.loads(str(span.attributes["metadata"])) == {"answer_id": 7}
