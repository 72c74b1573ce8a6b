"""Clocks of `overhead`: the CPU in each of our callbacks, by the thread that runs them."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import ExitStack
from types import TracebackType
from typing import ParamSpec, TypeVar

from opentelemetry.sdk.trace import ReadableSpan, Span, SpanProcessor

from otel_rt4chart.inline import InlineVerifier
from otel_rt4chart.marking.exporter import MarkingExporter

P = ParamSpec("P")
T = TypeVar("T")


class Nothing(SpanProcessor):
    """Does nothing, in methods of its own."""

    def on_start(self, span: Span, parent_context: object = None) -> None:
        """Nothing."""

    def on_end(self, span: ReadableSpan) -> None:
        """Nothing."""


CALLER = ("on_start", "on_end")
BESIDE = ((MarkingExporter, "_apply_change"), (InlineVerifier, "_step"))


class Clocks:
    """Around the callbacks of processors and of what works beside them, while it is entered."""

    def __init__(self) -> None:
        """Nothing was measured."""
        # Lists, because several threads add to them.
        self._caller: list[int] = []
        self._beside: list[int] = []
        self._entered = ExitStack()

    def __enter__(self) -> Clocks:
        """Put the clocks in."""
        for kind, name in BESIDE:
            before = getattr(kind, name)
            setattr(kind, name, _clocked(before, self._beside))
            self._entered.callback(setattr, kind, name, before)
        return self

    def watch(self, processor: SpanProcessor) -> None:
        """Put clocks around what a processor does on the application's threads."""
        for name in CALLER:
            setattr(processor, name, _clocked(getattr(processor, name), self._caller))

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Take them out."""
        self._entered.close()

    def reset(self) -> None:
        """Forget what was measured."""
        self._caller.clear()
        self._beside.clear()

    def caller_us(self) -> float:
        """On the application's threads since this was asked last."""
        found, self._caller[:] = sum(self._caller), []
        return found / 1_000

    @property
    def beside_us(self) -> float:
        """In the exporter's thread and in ours."""
        return sum(self._beside) / 1_000


def _clocked(call: Callable[P, T], found: list[int]) -> Callable[P, T]:
    def clocked(*arguments: P.args, **named: P.kwargs) -> T:
        began = time.thread_time_ns()
        try:
            return call(*arguments, **named)
        finally:
            found.append(time.thread_time_ns() - began)

    return clocked
