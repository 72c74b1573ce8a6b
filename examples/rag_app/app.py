"""A small RAG application: finds a document, answers from it, and is traced.

The retriever is real (TF-IDF over the corpus). The generator replays the answers that models and
annotators gave in a public data set, so that the demo verifies text that we did not write. The
relevant lines are the few that mention `rt4chart`: the instrumentor in `tracing`,
and `retriever()` and `generator()` in `answer_question`.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult
from opentelemetry.sdk.trace.id_generator import IdGenerator
from sklearn.feature_extraction.text import TfidfVectorizer

from otel_rt4chart import Passage, RT4ChartInstrumentor, generator, retriever

PASSAGE_CHARS = 900
TITLE_WORDS = 12
FLUSH_EVERY = 40


@dataclass(frozen=True)
class Request:
    """A question on a route with its recorded answer."""

    answer_id: str
    route: str
    question: str
    answer: str


class SeededIds(IdGenerator):
    """Generates the same ids in every run, so that the same traces are sampled."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)  # noqa: S311 - ids, not secrets

    def generate_span_id(self) -> int:
        return self._random.getrandbits(64) or 1

    def generate_trace_id(self) -> int:
        return self._random.getrandbits(128) or 1


class Watched(SpanExporter):
    """Counts the spans that an exporter lost, which the SDK only logs."""

    def __init__(self, inner: SpanExporter) -> None:
        self._inner = inner
        self.lost = 0

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        result = self._inner.export(spans)
        if result is not SpanExportResult.SUCCESS:
            self.lost += len(spans)
        return result

    def shutdown(self) -> None:
        self._inner.shutdown()


class Corpus:
    """Documents cut into passages, ranked by TF-IDF."""

    def __init__(self, documents: dict[str, str]) -> None:
        self._passages = [
            Passage(id=f"{name}#{number}", text=text)
            for name, document in documents.items()
            for number, text in enumerate(cut(document), start=1)
        ]
        self._document = [passage.id.partition("#")[0] for passage in self._passages]
        self._model = TfidfVectorizer(sublinear_tf=True, ngram_range=(1, 2))
        self._matrix = self._model.fit_transform(passage.text for passage in self._passages)

    def search(self, query: str) -> list[Passage]:
        """The passages of the best document, in its order: a summary needs all of them."""
        scores = (self._matrix @ self._model.transform([query]).T).toarray().ravel()
        best = self._document[int(np.argmax(scores))]
        return [
            Passage(passage.id, passage.text, float(score), passage.metadata)
            for passage, name, score in zip(self._passages, self._document, scores, strict=True)
            if name == best
        ]


def cut(document: str) -> Iterator[str]:
    """Passages of some sentences each; no character is lost."""
    part = ""
    for sentence in re.split(r"(?<=[.!?])(?=\s)|(?<=\n)", document):
        if part and len(part) + len(sentence) > PASSAGE_CHARS:
            yield part
            part = ""
        part += sentence
    if part:
        yield part


def read(data: Path) -> tuple[Corpus, list[Request]]:
    """The corpus and the requests, from a folder in RAGTruth's two-file layout."""
    sources = {row["source_id"]: row for row in rows(data / "source_info.jsonl")}
    corpus = Corpus({name: "\n\n".join(row["contexts"]) for name, row in sources.items()})
    requests = []
    for row in rows(data / "response.jsonl"):
        source = sources[row["source_id"]]
        start = " ".join(" ".join(source["contexts"]).split()[:TITLE_WORDS])
        requests.append(
            Request(
                answer_id=row["id"],
                route=source["task_type"].rpartition("/")[2],
                question=f"Summarize the document that begins: {start}",
                answer=row["response"],
            )
        )
    return corpus, requests


def rows(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def answer_question(request: Request, corpus: Corpus) -> str:
    """One request: retrieve, then generate."""
    tracer = trace.get_tracer("rag_app")
    with tracer.start_as_current_span(
        f"POST /{request.route}",
        attributes={"openinference.span.kind": "CHAIN", "input.value": request.question},
    ):
        with retriever("search", query=request.question) as found:
            passages = corpus.search(request.question)
            found.documents(passages)
        with generator("answer", route=request.route, model="recorded") as generated:
            answer = request.answer
            generated.metadata({"answer_id": request.answer_id})
            generated.answer(answer)
    return answer


def tracing(exporter: SpanExporter) -> TracerProvider:
    """OpenTelemetry as an application sets it up, and one line of ours."""
    provider = TracerProvider(
        resource=Resource.create({"service.name": "rag-app", "deployment.environment": "demo"}),
        id_generator=SeededIds(7),
    )
    provider.add_span_processor(BatchSpanProcessor(exporter, max_queue_size=16_384))
    trace.set_tracer_provider(provider)
    RT4ChartInstrumentor().instrument(tracer_provider=provider)
    return provider


def serve(
    requests: Sequence[Request],
    corpus: Corpus,
    provider: TracerProvider,
    exporter: Watched,
) -> None:
    """Answer every request; the spans leave in time, so that none is dropped."""
    for number, request in enumerate(requests, start=1):
        answer_question(request, corpus)
        if number % FLUSH_EVERY == 0 or number == len(requests):
            if not provider.force_flush() or exporter.lost:
                sys.exit("the spans could not be exported: is `rt4chart up` running there?")
            print(f"sent {number}/{len(requests)}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="RAGTruth's two-file layout")
    parser.add_argument("--endpoint", default="http://127.0.0.1:4318", help="where OTLP goes")
    parser.add_argument("--limit", type=int, default=None, help="answer only the first N")
    options = parser.parse_args()
    corpus, requests = read(options.data)
    exporter = Watched(OTLPSpanExporter(endpoint=f"{options.endpoint}/v1/traces"))
    provider = tracing(exporter)
    serve(requests[: options.limit], corpus, provider, exporter)
    provider.shutdown()


if __name__ == "__main__":
    main()
