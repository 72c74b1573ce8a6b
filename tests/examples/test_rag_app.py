from __future__ import annotations

import importlib.util
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.util._once import Once

from otel_rt4chart import RT4ChartInstrumentor
from otel_rt4chart.spans.exchange.exchanges import find_candidates
from otel_rt4chart.spans.reading.sdk import record_from_readable

ROOT = Path(__file__).parents[2]
DATA = ROOT / "collector/rt4chart_collector/demo/data"


@pytest.fixture(scope="module")
def app() -> ModuleType:
    """The example, loaded from its file as a script."""
    spec = importlib.util.spec_from_file_location("rag_app", ROOT / "examples/rag_app/app.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    # Dataclasses look their module up by name.
    sys.modules["rag_app"] = module
    spec.loader.exec_module(module)
    return module


def test_every_question_finds_the_document_it_is_about(app: ModuleType) -> None:
    """The labels were made against the whole document, so retrieval must bring that one."""
    corpus, requests = app.read(DATA)
    with (DATA / "response.jsonl").open() as lines:
        sources = {row["id"]: row["source_id"] for row in map(json.loads, lines)}

    found = [corpus.search(request.question) for request in requests]

    assert [passages[0].id.partition("#")[0] for passages in found] == [
        sources[request.answer_id] for request in requests
    ]


def test_passages_are_the_document_without_a_character_lost(app: ModuleType) -> None:
    """What is cut can be joined again, and no passage is long."""
    document = "One sentence. " * 200 + "\n\nAnother paragraph.\n- an item"

    parts = list(app.cut(document))

    assert "".join(parts) == document
    assert max(map(len, parts)) <= app.PASSAGE_CHARS


class Refused(SpanExporter):
    """An exporter whose service does not answer."""

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        return SpanExportResult.FAILURE


@pytest.fixture
def _no_provider(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process without a tracer provider: OpenTelemetry lets it be set once."""
    monkeypatch.setattr(trace, "_TRACER_PROVIDER", None)
    monkeypatch.setattr(trace, "_TRACER_PROVIDER_SET_ONCE", Once())


@pytest.mark.usefixtures("_no_provider")
def test_spans_that_were_lost_end_the_run(app: ModuleType) -> None:
    """The SDK logs a failed export and goes on; the demo's figures would be of a part."""
    corpus, requests = app.read(DATA)
    exporter = app.Watched(Refused())
    provider: TracerProvider = app.tracing(exporter)

    try:
        with pytest.raises(SystemExit, match="could not be exported"):
            app.serve(requests[:1], corpus, provider, exporter)
    finally:
        RT4ChartInstrumentor().uninstrument()
        provider.shutdown()


@pytest.mark.usefixtures("_no_provider")
def test_a_request_is_traced_as_one_marked_exchange(app: ModuleType) -> None:
    """Question, passages, answer, route and the answer's id are in the spans."""
    exporter = InMemorySpanExporter()
    corpus, requests = app.read(DATA)
    provider = app.tracing(exporter)

    try:
        app.answer_question(requests[0], corpus)
        provider.force_flush()
    finally:
        RT4ChartInstrumentor().uninstrument()
        provider.shutdown()

    (found,) = find_candidates([record_from_readable(s) for s in exporter.get_finished_spans()])
    assert found.exchange.question == requests[0].question
    assert found.exchange.answer == requests[0].answer
    assert (found.route, found.service, found.sampled) == (requests[0].route, "rag-app", True)
    assert found.exchange.passages == tuple(corpus.search(requests[0].question))
