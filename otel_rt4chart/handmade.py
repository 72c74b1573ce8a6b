"""Handmade spans: `retriever()` and `generator()`, written as OpenInference attributes."""

from __future__ import annotations

import functools
import inspect
import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from itertools import islice
from types import TracebackType
from typing import Any, ParamSpec, Self, TypeVar

from opentelemetry import trace
from opentelemetry.sdk.trace import SpanLimits
from opentelemetry.trace import Span

from otel_rt4chart.core import semconv
from otel_rt4chart.core.guard import guard
from otel_rt4chart.settings.application import content_switches
from otel_rt4chart.verify.core.model import Passage

P = ParamSpec("P")
R = TypeVar("R")
DocumentLike = Passage | str | Mapping[str, Any]
TEXT_KEYS = ("text", "content", "page_content")
# Room for the other attributes of a retrieval span: its kind, its question, marks of the sampler,
# and some of the application's own.
OTHER_ATTRIBUTES = 28
# More are not read: a lazy sequence would hold the application.
MOST_DOCUMENTS = 10_000


class HandmadeSpan:
    """One span of the application's pipeline: a context manager, sync or async, or a decorator.

    Exceptions of the application pass unchanged and are recorded on the span. Our own never leave.
    """

    def __init__(self, name: str, kind: str, attributes: Mapping[str, str | None]) -> None:
        """`attributes` that are None are omitted."""
        self._name = name
        self._kind = kind
        self._attributes = {key: value for key, value in attributes.items() if value is not None}
        self._context: AbstractContextManager[Span] | None = None
        self._span: Span = trace.INVALID_SPAN

    def __enter__(self) -> Self:
        """Start the span and make it current."""
        with guard("starting a span"):
            tracer = trace.get_tracer(semconv.HANDMADE_SCOPE)
            self._context = tracer.start_as_current_span(
                self._name, attributes={semconv.SPAN_KIND: self._kind, **self._attributes}
            )
            self._span = self._context.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """End the span."""
        with guard("ending a span"):
            context, self._context = self._context, None
            if context is not None:
                _exit_context(context, kind, error, traceback)

    async def __aenter__(self) -> Self:
        """As `with`."""
        return self.__enter__()

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """As `with`."""
        self.__exit__(kind, error, traceback)

    def __call__(self, function: Callable[P, R]) -> Callable[P, R]:
        """Decorate a sync or async function: each call is a span that records the return value."""
        if inspect.iscoroutinefunction(function):

            @functools.wraps(function)
            async def call_async(*args: P.args, **kwargs: P.kwargs) -> Any:  # noqa: ANN401 the type of the function
                with self._new_call() as span:
                    result = await function(*args, **kwargs)
                    span.record_result(result)
                    return result

            return call_async  # type: ignore[return-value]

        @functools.wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            with self._new_call() as span:
                result = function(*args, **kwargs)
                span.record_result(result)
                return result

        return call

    def record_result(self, result: object) -> None:
        """Record the return value of a decorated function; subclasses say how."""

    def _new_call(self) -> HandmadeSpan:
        """A new span for one call: calls of a decorated function may run concurrently."""
        span = type(self).__new__(type(self))
        HandmadeSpan.__init__(span, self._name, self._kind, self._attributes)
        return span

    def _set(self, attributes: Mapping[str, str | float]) -> None:
        with guard("writing a span"):
            if self._span.is_recording():
                self._span.set_attributes(dict(attributes))


class Retriever(HandmadeSpan):
    """A retrieval span; `documents` records the result."""

    def documents(self, found: Sequence[DocumentLike] | DocumentLike) -> None:
        """Record the passages, or the only one, in the order in which the generator will see them.

        OpenInference has an attribute for each field of each document. The SDK keeps 128 attributes
        a span and drops the oldest: documents with more fields are one JSON attribute, the output.
        An iterator is left for the application to read; make a list of it first.
        """
        with guard("writing documents"):
            documents = [found] if isinstance(found, str | Mapping | Passage) else found
            rows = [_document_row(document) for document in _bounded(documents)]
            # The output of a retriever is the input of the generator: either switch hides it.
            if content_switches().hide_any:
                rows = [_redact_row(row) for row in rows]
            self._set(_document_attributes(rows))

    def record_result(self, result: object) -> None:
        """Record a returned list of passages, strings or mappings as the documents."""
        if isinstance(result, list | tuple):
            self.documents(result)


class Generator(HandmadeSpan):
    """A generation span; `answer` records what the user reads."""

    def question(self, text: str) -> None:
        """Record the question, if it was not known when the span started."""
        if (question := _question_text(text)) is not None:
            self._attributes[semconv.INPUT_VALUE] = question
            self._set({semconv.INPUT_VALUE: question})

    def prompt(self, text: str) -> None:
        """Record the whole text that the model received: trails follow it to what it was made of.

        Call it after the question is known: the two are the messages of the prompt.
        """
        if (prompt := _question_text(text)) is not None:
            question = self._attributes.get(semconv.INPUT_VALUE)
            messages = (
                [("user", prompt)] if question is None else [("system", prompt), ("user", question)]
            )
            for number, (role, content) in enumerate(messages):
                message = f"{semconv.LLM_INPUT_MESSAGES}.{number}"
                self._set(
                    {
                        f"{message}.{semconv.MESSAGE_ROLE}": role,
                        f"{message}.{semconv.MESSAGE_CONTENT}": content,
                    }
                )

    def answer(self, text: str) -> None:
        """Record the complete answer."""
        message = f"{semconv.LLM_OUTPUT_MESSAGES}.0"
        answer = _as_text("the answer", text)
        if answer is None:
            return
        if content_switches().hide_outputs:
            answer = semconv.REDACTED
        self._set(
            {
                f"{message}.{semconv.MESSAGE_ROLE}": "assistant",
                f"{message}.{semconv.MESSAGE_CONTENT}": answer,
                semconv.OUTPUT_VALUE: answer,
            }
        )

    def metadata(self, values: Mapping[str, object]) -> None:
        """Record your own keys, to find the answer by, as OpenInference metadata."""
        with guard("writing metadata"):
            if not content_switches().hide_any:
                self._set({semconv.METADATA: json.dumps(values, ensure_ascii=False, default=str)})

    def record_result(self, result: object) -> None:
        """Record a returned string as the answer."""
        if isinstance(result, str):
            self.answer(result)


def retriever(name: str, *, query: str | None = None, route: str | None = None) -> Retriever:
    """A retrieval span: `with retriever("search", query=q) as r: r.documents(found)`."""
    attributes = {
        semconv.INPUT_VALUE: _question_text(query),
        semconv.ROUTE: _as_text("the route", route),
    }
    return Retriever(name, "RETRIEVER", attributes)


def generator(
    name: str, *, question: str | None = None, route: str | None = None, model: str | None = None
) -> Generator:
    """A generation span: `with generator("answer", route="refunds") as g: g.answer(text)`."""
    attributes = {
        semconv.INPUT_VALUE: _question_text(question),
        semconv.ROUTE: _as_text("the route", route),
        semconv.LLM_MODEL_NAME: _as_text("the model", model),
    }
    return Generator(name, "LLM", attributes)


def _question_text(text: str | None) -> str | None:
    """The question, or OpenInference's placeholder if the content switches hide inputs."""
    question = _as_text("the question", text)
    return semconv.REDACTED if question is not None and content_switches().hide_inputs else question


def _as_text(what: str, value: object) -> str | None:
    """A text or a number as text; None for anything else, which is logged.

    The SDK walks through whatever it is given, and `range(10**9)` would hold the application.
    """
    if value is None or isinstance(value, str):
        return value
    with guard(f"writing {what}"):
        if not isinstance(value, int | float):
            raise TypeError(f"expected a text, got {type(value).__name__}")
        return str(value)
    return None


def _bounded(documents: object) -> Iterator[DocumentLike]:
    """The documents of a list; TypeError for an iterator, which the application wants to read."""
    if not isinstance(documents, Collection):
        raise TypeError(f"expected a list of documents, got {type(documents).__name__}")
    if len(documents) > MOST_DOCUMENTS:
        raise ValueError(f"expected at most {MOST_DOCUMENTS} documents, got {len(documents)}")
    return islice(documents, len(documents))


def _document_attributes(rows: Sequence[Mapping[str, str | float]]) -> dict[str, str | float]:
    """The documents as OpenInference writes them, or as the span's output if they are too many."""
    limit = SpanLimits().max_span_attributes
    # An empty list is written too: that nothing was found is not the same as no documents.
    if rows and (limit is None or sum(map(len, rows)) <= limit - OTHER_ATTRIBUTES):
        return {
            f"{semconv.RETRIEVAL_DOCUMENTS}.{number}.{name}": value
            for number, row in enumerate(rows)
            for name, value in row.items()
        }
    return {
        semconv.OUTPUT_VALUE: json.dumps(rows, ensure_ascii=False),
        semconv.OUTPUT_MIME_TYPE: "application/json",
    }


def _redact_row(row: Mapping[str, str | float]) -> dict[str, str | float]:
    """The document's id and score, with a placeholder for its text and no metadata."""
    kept_keys = (semconv.DOCUMENT_ID, semconv.DOCUMENT_SCORE)
    without_text = {name: value for name, value in row.items() if name in kept_keys}
    return without_text | {semconv.DOCUMENT_CONTENT: semconv.REDACTED}


def _exit_context(
    context: AbstractContextManager[Span],
    kind: type[BaseException] | None,
    error: BaseException | None,
    traceback: TracebackType | None,
) -> None:
    """Leave the span's context. It re-raises the application's exception, which is not ours."""
    try:
        context.__exit__(kind, error, traceback)
    except BaseException as exception:  # only an exception of ours is raised, to the guard
        if exception is not error:
            raise


def _document_row(document: DocumentLike) -> dict[str, str | float]:
    """A document under OpenInference's names. No id is made up: its position is not stable."""
    if isinstance(document, str):
        return {semconv.DOCUMENT_CONTENT: document}
    if isinstance(document, Mapping):
        document = _passage_from_mapping(document)
    row: dict[str, str | float] = {semconv.DOCUMENT_CONTENT: document.text}
    if document.id:
        row[semconv.DOCUMENT_ID] = document.id
    if document.score is not None:
        row[semconv.DOCUMENT_SCORE] = float(document.score)
    if document.metadata:
        row[semconv.DOCUMENT_METADATA] = json.dumps(dict(document.metadata), default=str)
    return row


def _passage_from_mapping(document: Mapping[str, Any]) -> Passage:
    """A mapping as a passage; ValueError if no known key holds the text."""
    text = next((document[name] for name in TEXT_KEYS if document.get(name) is not None), None)
    if text is None:
        raise ValueError(f"expected one of {', '.join(TEXT_KEYS)}, got {sorted(document)}")
    name = document.get("id")
    return Passage(
        id="" if name is None else str(name),
        text=str(text),
        score=document.get("score"),
        metadata=document.get("metadata") or {},
    )
