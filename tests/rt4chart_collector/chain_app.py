"""An application of four steps, instrumented by hand: retrieve, rerank, summarise, answer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import Span, Tracer
from opentelemetry.util.types import AttributeValue

from otel_rt4chart.spans.exchange.assembly import AssembledTrace
from otel_rt4chart.spans.model.record import SpanRecord
from rt4chart_collector.ingest.otlp.decode import decode_spans

QUESTION = "What are the rules for returns?"
RETURNS = "Orders can be returned within 30 days of delivery. The item must be unused."
REFUNDS = "Refunds are paid to the original payment method within 5 working days."
STORES = "Our stores in Lyon and Turin are closed on public holidays."
PASSAGES = {"kb-1": RETURNS, "kb-2": REFUNDS, "kb-3": STORES}
SUMMARY = (
    "Orders can be returned within 30 days of delivery. "
    "Refunds are paid to the original payment method within 5 working days."
)
ANSWER = (
    "Orders can be returned within 30 days of delivery. "
    "The refund is paid to the original payment method within 5 working days."
)


@dataclass(frozen=True, slots=True)
class Made:
    """What the steps of one request write; the default is right.

    `has_prompts` is false for an application that records no prompts, `names` are those of the
    spans of the steps.
    """

    summary: str = SUMMARY
    answer: str = ANSWER
    passages: tuple[str, ...] = ("kb-1", "kb-2", "kb-3")
    kept: tuple[str, ...] = ("kb-1", "kb-2")
    names: tuple[str, str, str, str] = ("search", "rerank", "summarise", "answer")
    route: str = "research"


def run(made: Made = Made()) -> tuple[SpanRecord, ...]:
    """Run one request, and return its spans as the service receives them."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider(resource=Resource({"service.name": "shop"}))
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    _request(provider.get_tracer("shop"), made)
    return decode_spans(encode_spans(exporter.get_finished_spans()).SerializeToString()).spans


def assembled(spans: Sequence[SpanRecord]) -> AssembledTrace:
    """The whole trace."""
    return AssembledTrace(spans[0].trace_id, tuple(spans), is_whole=True)


def _request(tracer: Tracer, made: Made) -> None:
    search, rerank, summarise, answer = made.names
    inputs: dict[str, AttributeValue] = {"rt4chart.route": made.route, "input.value": QUESTION}
    with _step(tracer, "research", "CHAIN", inputs) as root:
        with _step(tracer, search, "RETRIEVER", {"input.value": QUESTION}) as span:
            _documents(span, "retrieval.documents", made.passages)
        with _step(tracer, rerank, "RERANKER", {"reranker.query": QUESTION}) as span:
            _documents(span, "reranker.input_documents", made.passages)
            _documents(span, "reranker.output_documents", made.kept)
        texts = "\n\n".join(PASSAGES[name] for name in made.kept)
        with _step(tracer, summarise, "LLM") as span:
            _generated(span, f"Summarise these texts:\n\n{texts}", made.summary)
        with _step(tracer, answer, "LLM") as span:
            prompt = f"Answer from this summary:\n\n{made.summary}\n\nQuestion: {QUESTION}"
            _generated(span, prompt, made.answer)
        root.set_attribute("output.value", made.answer)


@contextmanager
def _step(
    tracer: Tracer, name: str, kind: str, attributes: dict[str, AttributeValue] | None = None
) -> Iterator[Span]:
    with tracer.start_as_current_span(
        name, attributes={"openinference.span.kind": kind, **(attributes or {})}
    ) as span:
        yield span


def _documents(span: Span, key: str, names: Sequence[str]) -> None:
    for at, name in enumerate(names):
        span.set_attribute(f"{key}.{at}.document.id", name)
        span.set_attribute(f"{key}.{at}.document.content", PASSAGES[name])


def _generated(span: Span, prompt: str, text: str) -> None:
    span.set_attribute("llm.input_messages.0.message.role", "user")
    span.set_attribute("llm.input_messages.0.message.content", prompt)
    span.set_attribute("llm.output_messages.0.message.role", "assistant")
    span.set_attribute("llm.output_messages.0.message.content", text)
    span.set_attribute("output.value", text)
