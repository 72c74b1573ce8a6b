"""Writes the demo's answers into the store: spans as an application sends them, and verdicts."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from otel_rt4chart.core import semconv
from otel_rt4chart.spans.exchange.exchanges import find_candidates
from otel_rt4chart.spans.model.record import SpanRecord
from otel_rt4chart.spans.model.verdict import Decision, Verdict
from otel_rt4chart.verify.core.model import Exchange, Passage
from otel_rt4chart.verify.findings.citations import count_citations
from rt4chart_collector.demo.verdict_cache import Reports, exchange_key
from rt4chart_collector.store.answers.spans import insert_spans
from rt4chart_collector.store.answers.verdicts import insert_verdicts
from rt4chart_collector.store.engine.connect import Client

SECOND_NS = 10**9
BATCH = 1000
Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class RecordedRequest:
    """One answer that an application gave, with its time and the release that gave it."""

    answer_id: str
    service: str
    route: str
    release: str
    at_s: float
    exchange: Exchange


def load_requests(
    client: Client,
    requests: Sequence[RecordedRequest],
    judge: str,
    reports: Reports,
    progress: Progress,
) -> None:
    """Store a trace and a verdict for each request; `reports` has one for each exchange."""
    # Two services get different ids.
    ids = random.Random(requests[0].service if requests else "")  # noqa: S311 - ids, no secrets
    for start in range(0, len(requests), BATCH):
        batch = requests[start : start + BATCH]
        traces = [spans_of_request(request, ids) for request in batch]
        insert_spans(client, [span for spans in traces for span in spans])
        insert_verdicts(
            client,
            [
                _verdict(request, spans, judge, reports)
                for request, spans in zip(batch, traces, strict=True)
            ],
        )
        progress(start + len(batch), len(requests))


def _verdict(
    request: RecordedRequest, spans: Sequence[SpanRecord], judge: str, reports: Reports
) -> Verdict:
    (candidate,) = find_candidates(spans)
    exchange = request.exchange
    return Verdict(
        candidate=candidate,
        decision=Decision.VERIFIED,
        verifier=judge,
        sample_rate=1.0,
        decided_ns=max(span.end_ns for span in spans) + SECOND_NS,
        report=reports[exchange_key(exchange)],
        citations=count_citations(exchange.answer, exchange.passages),
    )


def spans_of_request(request: RecordedRequest, ids: random.Random) -> list[SpanRecord]:
    """A request of two steps, as OpenInference describes them."""
    trace = f"{ids.getrandbits(128):032x}"
    root, search, answer = (f"{ids.getrandbits(64):016x}" for _ in range(3))
    start = round(request.at_s * SECOND_NS)
    found = start + round(ids.uniform(0.02, 0.2) * SECOND_NS)
    end = found + round(ids.uniform(0.6, 2.4) * SECOND_NS)

    def span(
        span_id: str, name: str, kind: str, since: int, until: int, **attributes: str
    ) -> SpanRecord:
        given = {name.replace("__", "."): value for name, value in attributes.items()}
        return SpanRecord(
            trace_id=trace,
            span_id=span_id,
            name=name,
            start_ns=since,
            end_ns=until,
            parent_span_id="" if span_id == root else root,
            attributes={semconv.SPAN_KIND: kind, semconv.ROUTE: request.route, **given},
            resource={
                "service.name": request.service,
                "service.version": request.release,
                "deployment.environment": "demo",
            },
            scope_name="openinference.instrumentation",
        )

    question = request.exchange.question
    return [
        span(root, f"POST /{request.route}", "CHAIN", start, end, input__value=question),
        span(search, "search", "RETRIEVER", start, found, input__value=question,
             **dict(_documents(request.exchange.passages))),
        span(answer, "answer", "LLM", found, end, output__value=request.exchange.answer,
             llm__model_name="recorded", metadata=json.dumps({"answer_id": request.answer_id})),
    ]  # fmt: skip


def _documents(passages: Sequence[Passage]) -> Iterator[tuple[str, str]]:
    for number, passage in enumerate(passages):
        prefix = f"{semconv.RETRIEVAL_DOCUMENTS}.{number}"
        yield f"{prefix}.{semconv.DOCUMENT_ID}", passage.id
        yield f"{prefix}.{semconv.DOCUMENT_CONTENT}", passage.text
        if passage.metadata:
            yield f"{prefix}.{semconv.DOCUMENT_METADATA}", json.dumps(dict(passage.metadata))
