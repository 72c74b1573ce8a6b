"""Spans made by hand: `retriever()` and `generator()`, written as OpenInference attributes."""

from __future__ import annotations

import functools
import inspect
import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from types import TracebackType
from typing import Any, ParamSpec, Self, TypeVar

from opentelemetry import trace
from opentelemetry.trace import Span

from otel_rt4chart.core import semconv
from otel_rt4chart.core.guard import guard
from otel_rt4chart.settings.application import content_switches
from otel_rt4chart.verify.core.model import Passage

P = ParamSpec("P")
R = TypeVar("R")
Document = Passage | str | Mapping[str, Any]
TEXT_NAMES = ("text", "content", "page_content")


class Step:
    """One span of the application's pipeline, as a (sync or async) context or a decorator.

    The application's own exceptions pass untouched and are recorded on the span; ours never leave.
    """

    def __init__(self, name: str, kind: str, attributes: Mapping[str, str | None]) -> None:
        """`attributes` that are None are left out."""
        self._name = name
        self._kind = kind
        self._attributes = {key: value for key, value in attributes.items() if value is not None}
        self._context: AbstractContextManager[Span] | None = None
        self._span: Span = trace.INVALID_SPAN

    def __enter__(self) -> Self:
        """Start the span and make it the current one."""
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
                _leave(context, kind, error, traceback)

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
        """Wrap a function, sync or async: each call is a span, and what it returns is recorded."""
        if inspect.iscoroutinefunction(function):

            @functools.wraps(function)
            async def awaited(*args: P.args, **kwargs: P.kwargs) -> Any:  # noqa: ANN401 the function's own
                with self._again() as step:
                    result = await function(*args, **kwargs)
                    step.returned(result)
                    return result

            return awaited  # type: ignore[return-value]

        @functools.wraps(function)
        def called(*args: P.args, **kwargs: P.kwargs) -> R:
            with self._again() as step:
                result = function(*args, **kwargs)
                step.returned(result)
                return result

        return called

    def returned(self, result: object) -> None:
        """Record what a decorated function returned; another kind of step says how."""

    def _again(self) -> Step:
        """A fresh step for one call: calls may run at the same time."""
        fresh = type(self).__new__(type(self))
        Step.__init__(fresh, self._name, self._kind, self._attributes)
        return fresh

    def _set(self, attributes: Mapping[str, str | float]) -> None:
        with guard("writing a span"):
            if self._span.is_recording():
                self._span.set_attributes(dict(attributes))


class Retriever(Step):
    """A retrieval; `documents` says what was found."""

    def documents(self, found: Sequence[Document]) -> None:
        """The passages as the generator will see them, in order.

        They are written as one JSON attribute, not one attribute a field: the SDK keeps 128
        attributes a span and drops the oldest, so that fifty documents would lose the first ones.
        """
        with guard("writing documents"):
            rows = [_row(document) for document in found]
            # A retriever's output is the generator's input: either switch hides it.
            if content_switches().hide_any:
                rows = [_hidden(row) for row in rows]
            self._set({semconv.RETRIEVAL_DOCUMENTS: json.dumps(rows, ensure_ascii=False)})

    def returned(self, result: object) -> None:
        """A list of passages, strings or mappings with a text is what was found."""
        if isinstance(result, list | tuple):
            self.documents(result)


class Generator(Step):
    """A generation; `answer` says what the user reads."""

    def question(self, text: str) -> None:
        """What was asked, where it was not known when the span began."""
        self._set({semconv.INPUT_VALUE: str(_asked(text))})

    def answer(self, text: str) -> None:
        """The answer, whole."""
        message = f"{semconv.LLM_OUTPUT_MESSAGES}.0"
        if content_switches().hide_outputs:
            text = semconv.REDACTED
        self._set(
            {
                f"{message}.{semconv.MESSAGE_ROLE}": "assistant",
                f"{message}.{semconv.MESSAGE_CONTENT}": text,
                semconv.OUTPUT_VALUE: text,
            }
        )

    def metadata(self, values: Mapping[str, object]) -> None:
        """Anything of one's own to find the answer by: written as OpenInference metadata."""
        with guard("writing metadata"):
            if not content_switches().hide_any:
                self._set({semconv.METADATA: json.dumps(values, ensure_ascii=False, default=str)})

    def returned(self, result: object) -> None:
        """A string is the answer."""
        if isinstance(result, str):
            self.answer(result)


def retriever(name: str, *, query: str | None = None, route: str | None = None) -> Retriever:
    """A retrieval step: `with retriever("search", query=q) as r: r.documents(found)`."""
    attributes = {semconv.INPUT_VALUE: _asked(query), semconv.ROUTE: route}
    return Retriever(name, "RETRIEVER", attributes)


def generator(
    name: str, *, question: str | None = None, route: str | None = None, model: str | None = None
) -> Generator:
    """A generation step: `with generator("answer", route="refunds") as g: g.answer(text)`."""
    attributes = {
        semconv.INPUT_VALUE: _asked(question),
        semconv.ROUTE: route,
        semconv.LLM_MODEL_NAME: model,
    }
    return Generator(name, "LLM", attributes)


def _asked(text: str | None) -> str | None:
    """A question, or OpenInference's mark for one that must not be written."""
    return semconv.REDACTED if text is not None and content_switches().hide_inputs else text


def _hidden(row: dict[str, object]) -> dict[str, object]:
    """A document without its text and what is told of it; its id and score stay."""
    kept = (semconv.DOCUMENT_ID, semconv.DOCUMENT_SCORE)
    bare = {name: value for name, value in row.items() if name in kept}
    return bare | {semconv.DOCUMENT_CONTENT: semconv.REDACTED}


def _leave(
    context: AbstractContextManager[Span],
    kind: type[BaseException] | None,
    error: BaseException | None,
    traceback: TracebackType | None,
) -> None:
    """Leave a span's context; the application's exception comes back out of it and is not ours."""
    try:
        context.__exit__(kind, error, traceback)
    except BaseException as raised:  # told apart at once: only ours goes on
        if raised is not error:
            raise


def _row(document: Document) -> dict[str, object]:
    """A document under OpenInference's names; without an id its position would not be stable."""
    if isinstance(document, str):
        return {semconv.DOCUMENT_CONTENT: document}
    if isinstance(document, Mapping):
        document = _passage(document)
    row: dict[str, object] = {semconv.DOCUMENT_CONTENT: document.text}
    if document.id:
        row[semconv.DOCUMENT_ID] = document.id
    if document.score is not None:
        row[semconv.DOCUMENT_SCORE] = float(document.score)
    if document.metadata:
        row[semconv.DOCUMENT_METADATA] = json.dumps(dict(document.metadata), default=str)
    return row


def _passage(document: Mapping[str, Any]) -> Passage:
    """A mapping as a passage; ValueError where it has no text under a name that we know."""
    text = next((document[name] for name in TEXT_NAMES if document.get(name) is not None), None)
    if text is None:
        raise ValueError(f"expected one of {', '.join(TEXT_NAMES)}, got {sorted(document)}")
    name = document.get("id")
    return Passage(
        id="" if name is None else str(name),
        text=str(text),
        score=document.get("score"),
        metadata=document.get("metadata") or {},
    )
