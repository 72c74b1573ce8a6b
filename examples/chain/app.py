"""A chain of three steps whose summary invents a number; the service says that it was the summary.

    rt4chart up &
    OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:4318 python examples/chain/app.py

It prints the command that shows the trail, some seconds later. The steps write fixed texts in the
place of a model, so that no key is needed.
"""

from __future__ import annotations

from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor

from otel_rt4chart import generator, retriever

QUESTION = "How long can I return an order?"
PAGE = "Orders can be returned within 30 days of delivery. The item must be unused."
SUMMARY = "Orders can be returned within 60 days of delivery, if the item is unused."
ANSWER = "You can return an order within 60 days of delivery. The item must be unused."

provider = TracerProvider(resource=Resource({"service.name": "shop"}))
provider.add_span_processor(SimpleSpanProcessor(OTLPSpanExporter()))
trace.set_tracer_provider(provider)
with trace.get_tracer("shop").start_as_current_span("research") as span:
    with retriever("search", query=QUESTION) as found:
        found.documents([{"id": "returns.md", "text": PAGE}])
    with generator("summarise") as step:
        step.prompt(f"Summarise this page:\n\n{PAGE}")
        step.answer(SUMMARY)
    with generator("answer", question=QUESTION, route="research") as step:
        step.prompt(f"Answer from this summary:\n\n{SUMMARY}")
        step.answer(ANSWER)
provider.shutdown()
print(f"rt4chart trail {trace.format_trace_id(span.get_span_context().trace_id)}")
