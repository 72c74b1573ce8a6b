"""An application with the SDK's providers and in-memory exporters, verified inline."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from opentelemetry.sdk._logs import LoggerProvider, ReadableLogRecord
from opentelemetry.sdk._logs.export import InMemoryLogRecordExporter, SimpleLogRecordProcessor
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, SpanLimits, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.sdk.trace.sampling import ALWAYS_ON, Sampler

from otel_rt4chart.core.semconv import CarrierPlace
from otel_rt4chart.emit import Emitter
from otel_rt4chart.inline import InlineVerifier
from otel_rt4chart.marking.exporter_wrapping import add_processor_first
from otel_rt4chart.redaction import Redactor
from otel_rt4chart.sampling import Policy
from otel_rt4chart.sampling import Sampler as Choosing
from otel_rt4chart.settings.content_switches import ContentSwitches
from otel_rt4chart.verify import RulesJudge, Verifier

KIND = "openinference.span.kind"
PASSAGE = "The trial lasts 14 days. Refunds are paid within 5 days."
WRONG = "The trial lasts 30 days."


def rules() -> Verifier:
    """The judge that needs nothing."""
    return Verifier(RulesJudge())


class App:
    """A request is `ask`; what was emitted is in `carriers`, `events` and `metrics`."""

    def __init__(
        self,
        *,
        kinds: Sequence[str] = ("carrier", "event", "metrics"),
        build: Callable[[], Verifier] = rules,
        policy: Policy | None = None,
        redactor: Redactor | None = None,
        switches: ContentSwitches | None = None,
        sampler: Sampler = ALWAYS_ON,
        limits: SpanLimits | None = None,
        carrier: CarrierPlace = CarrierPlace.TRACE,
        **others: Any,  # noqa: ANN401 what the verifier takes
    ) -> None:
        self.spans = InMemorySpanExporter()
        self.logs = InMemoryLogRecordExporter()  # type: ignore[no-untyped-call] # the SDK has no type here
        self.reader = InMemoryMetricReader()
        resource = Resource({"service.name": "shop"})
        self.provider = TracerProvider(
            sampler=sampler, resource=resource, span_limits=limits, shutdown_on_exit=False
        )
        self.provider.add_span_processor(SimpleSpanProcessor(self.spans))
        self.logger_provider = LoggerProvider(resource, shutdown_on_exit=False)
        self.logger_provider.add_log_record_processor(SimpleLogRecordProcessor(self.logs))
        self.meter_provider = MeterProvider([self.reader], resource, shutdown_on_exit=False)
        self.emitter = Emitter(
            kinds,
            tracer_provider=self.provider,
            logger_provider=self.logger_provider,
            meter_provider=self.meter_provider,
            redactor=redactor or Redactor(),
            version="1.0",
            switches=switches or ContentSwitches(),
            carrier=carrier,
        )
        self.inline = InlineVerifier(
            sampler=Choosing(policy or Policy(rate=1.0)),
            build_verifier=build,
            emitter=self.emitter,
            **others,
        )
        add_processor_first(self.provider, self.inline)

    def ask(self, answer: str = WRONG, passage: str = PASSAGE, name: str = "ask") -> None:
        """One request: a root, a retrieval, a generation."""
        tracer = self.provider.get_tracer("app")
        with tracer.start_as_current_span(name, attributes={"http.route": "/ask"}):
            documents = json.dumps([{"document.id": "p1", "document.content": passage}])
            with tracer.start_as_current_span("search", attributes={KIND: "RETRIEVER"}) as span:
                span.set_attributes({"input.value": "How long?", "retrieval.documents": documents})
            with tracer.start_as_current_span("answer", attributes={KIND: "LLM"}) as span:
                span.set_attribute("output.value", answer)

    def flush(self) -> bool:
        """Wait for the verdicts."""
        return self.inline.force_flush(20_000)

    def close(self) -> None:
        """Stop everything."""
        self.provider.shutdown()
        self.logger_provider.shutdown()
        self.meter_provider.shutdown()

    @property
    def own(self) -> list[ReadableSpan]:
        """The application's spans as exported."""
        return [span for span in self.spans.get_finished_spans() if span not in self.carriers]

    @property
    def carriers(self) -> list[ReadableSpan]:
        """The carrier spans as exported."""
        return [s for s in self.spans.get_finished_spans() if s.name == "rt4chart.verify"]

    @property
    def events(self) -> list[ReadableLogRecord]:
        """The events as exported."""
        return list(self.logs.get_finished_logs())

    @property
    def metrics(self) -> dict[str, list[tuple[dict[str, Any], float]]]:
        """Points by the name of their metric: the attributes, and the value or the count."""
        data = self.reader.get_metrics_data()
        found: dict[str, list[tuple[dict[str, Any], float]]] = {}
        for resource in data.resource_metrics if data else ():
            for metric in (metric for scope in resource.scope_metrics for metric in scope.metrics):
                found[metric.name] = [
                    (dict(point.attributes or {}), _value(point))
                    for point in metric.data.data_points
                ]
        return found

    @property
    def decisions(self) -> dict[str, int]:
        """How often each decision was made."""
        found = self.inline.counts.items()
        return {k.removeprefix("decisions."): v for k, v in found if k.startswith("decisions.")}


def _value(point: object) -> float:
    """A sum's value, or how often a histogram was written."""
    return float(getattr(point, "value", getattr(point, "count", 0)))
