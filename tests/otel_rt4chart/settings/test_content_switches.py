from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from otel_rt4chart import generator, retriever
from otel_rt4chart.settings.application import content_switches
from otel_rt4chart.settings.content_switches import ContentSwitches, switches_from


@pytest.fixture
def spans(monkeypatch: pytest.MonkeyPatch) -> Iterator[InMemorySpanExporter]:
    """What is exported, with switches read anew."""
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr("opentelemetry.trace._TRACER_PROVIDER", provider)
    content_switches.cache_clear()
    yield exporter
    content_switches.cache_clear()


@pytest.mark.parametrize(
    ("name", "value", "hides"),
    [
        ("OPENINFERENCE_HIDE_INPUTS", "true", (True, False)),
        ("OPENINFERENCE_HIDE_OUTPUT_TEXT", "TRUE", (False, True)),
        ("OPENINFERENCE_HIDE_INPUTS", "false", (False, False)),
        ("TRACELOOP_TRACE_CONTENT", "false", (True, True)),
        ("TRACELOOP_TRACE_CONTENT", "true", (False, False)),
        ("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", "NO_CONTENT", (True, True)),
        ("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", "SPAN_ONLY", (False, False)),
    ],
)
def test_each_switch_is_understood(name: str, value: str, hides: tuple[bool, bool]) -> None:
    """In its own spelling; the others are not touched."""
    assert switches_from({name: value}) == ContentSwitches(*hides)


def test_spans_made_by_hand_obey(
    spans: InMemorySpanExporter, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What instrumentations hide does not come out of our own spans."""
    monkeypatch.setenv("OPENINFERENCE_HIDE_INPUTS", "true")
    monkeypatch.setenv("OPENINFERENCE_HIDE_OUTPUTS", "true")

    with retriever("search", query="secret") as r:
        r.documents([{"id": "p1", "text": "secret", "metadata": {"a": "secret"}}])
    with generator("answer", question="secret") as g:
        g.question("secret")
        g.prompt("secret")
        g.answer("secret")
        g.metadata({"why": "secret"})

    said = [dict(span.attributes or {}) for span in spans.get_finished_spans()]
    assert "secret" not in json.dumps(said)
    documents = {key: said[0][key] for key in said[0] if key.startswith("retrieval.documents")}
    assert documents == {
        "retrieval.documents.0.document.id": "p1",
        "retrieval.documents.0.document.content": "__REDACTED__",
    }
    assert said[1]["output.value"] == "__REDACTED__"


def test_without_switches_everything_is_written(spans: InMemorySpanExporter) -> None:
    """As before."""
    with generator("answer", question="why?") as g:
        g.answer("because")

    (span,) = spans.get_finished_spans()
    said = dict(span.attributes or {})
    assert (said["input.value"], said["output.value"]) == ("why?", "because")
