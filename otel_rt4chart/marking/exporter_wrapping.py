"""Wraps the exporters of a configured tracer provider, and unwraps them again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from opentelemetry.sdk.trace import SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import SpanExporter

from otel_rt4chart.core.guard import LOG
from otel_rt4chart.marking.exporter import MarkingExporter, SpanChange

MAX_DEPTH = 5
# Attributes in which processors hold their delegates. The SDK has no public access to a configured
# exporter. The names are those of SDK 1.44 and 1.45 and of common wrappers of processors.
PROCESSOR_ATTRIBUTES = ("_batch_processor", "processor", "_processor", "_delegate", "wrapped")
EXPORTER_ATTRIBUTES = ("_exporter", "span_exporter", "_span_exporter", "exporter")


class WrappedExporters:
    """The wrappers around the exporters of a provider, including exporters that are added later."""

    def __init__(
        self, provider: TracerProvider, change: SpanChange | None, *, hides: bool = False
    ) -> None:
        """Wraps nothing before `wrap_new`, and never without a `change`.

        `hides` says that `change` redacts.
        """
        self._provider = provider
        self._change = change
        self._hides = hides
        self.known_processors: tuple[SpanProcessor, ...] = ()
        self._wrapped: list[tuple[object, str, MarkingExporter]] = []

    @property
    def count(self) -> int:
        """The number of wrapped exporters."""
        return len(self._wrapped)

    def wrap_new(self) -> None:
        """Wrap the exporters of new processors; without new ones, this costs one comparison."""
        processors, known = _current_processors(self._provider), self.known_processors
        if processors is known:
            return
        for holder, name, inner in _find_exporters(processors):
            if self._change is None or isinstance(inner, MarkingExporter):
                continue
            wrapper = MarkingExporter(inner, self._change, hides=self._hides)
            setattr(holder, name, wrapper)
            self._wrapped.append((holder, name, wrapper))
        # Set last: another thread must not assume too early that the new exporters are wrapped.
        self.known_processors = processors
        if self._hides:
            _warn_of_unredacted([processor for processor in processors if processor not in known])

    def detach(self) -> None:
        """Restore the exporters; a wrapper that is still referenced elsewhere passes all spans."""
        for holder, name, wrapper in self._wrapped:
            wrapper.is_on = False
            if getattr(holder, name, None) is wrapper:
                setattr(holder, name, wrapper.inner)
        self._wrapped.clear()


def add_processor_first(provider: TracerProvider, processor: SpanProcessor) -> None:
    """Add a processor that is shut down while the exporting processors still accept spans.

    The SDK shuts processors down in the order of addition, and can only append.
    """
    provider.add_span_processor(processor)
    _reorder_processors(
        provider, lambda found: (processor, *(other for other in found if other is not processor))
    )


def remove_processor(provider: TracerProvider, processor: SpanProcessor) -> None:
    """Remove a processor, for which the SDK has no public method."""
    _reorder_processors(
        provider, lambda found: tuple(other for other in found if other is not processor)
    )


def _reorder_processors(
    provider: TracerProvider,
    change: Callable[[tuple[SpanProcessor, ...]], tuple[SpanProcessor, ...]],
) -> None:
    container = getattr(provider, "_active_span_processor", None)
    lock = getattr(container, "_lock", None)
    if container is not None and lock is not None:
        with lock:
            container._span_processors = change(_current_processors(provider))


def _current_processors(provider: TracerProvider) -> tuple[SpanProcessor, ...]:
    container = getattr(provider, "_active_span_processor", None)
    found = getattr(container, "_span_processors", ())
    return found if isinstance(found, tuple) else ()


def _find_exporters(
    holders: tuple[object, ...], depth: int = 0
) -> Iterator[tuple[object, str, SpanExporter]]:
    """Each exporter with the object and the attribute that hold it, including our wrappers."""
    for holder in holders:
        attributes = vars(holder) if hasattr(holder, "__dict__") else {}
        for name in EXPORTER_ATTRIBUTES:
            # Duck typing: an exporter need not be a subclass of the SDK's class.
            if callable(getattr(attributes.get(name), "export", None)):
                yield holder, name, attributes[name]
        inner = _inner_processors(holder)
        if depth < MAX_DEPTH and inner:
            yield from _find_exporters(inner, depth + 1)


def _inner_processors(holder: object) -> tuple[object, ...]:
    """The processors to which a processor passes its spans."""
    attributes = vars(holder) if hasattr(holder, "__dict__") else {}
    delegates = (
        attributes[name] for name in PROCESSOR_ATTRIBUTES if attributes.get(name) is not None
    )
    return (*delegates, *attributes.get("_span_processors", ()))


def _warn_of_unredacted(processors: Iterable[object], depth: int = 0) -> None:
    """Log processors that may export spans although no exporter was found in them."""
    for processor in processors:
        if inner := _inner_processors(processor):
            if depth < MAX_DEPTH:
                _warn_of_unredacted(inner, depth + 1)
        elif _may_export(processor) and not any(_find_exporters((processor,))):
            LOG.warning(
                "spans sent by %s are not redacted: expected an exporter in one of its attributes "
                "%s, found none; redact in it, or pass its spans to an SDK processor",
                type(processor).__qualname__,
                ", ".join(EXPORTER_ATTRIBUTES),
            )


def _may_export(processor: object) -> bool:
    kind = type(processor)
    takes = getattr(kind, "on_end", None) is not SpanProcessor.on_end
    return takes and kind.__module__.partition(".")[0] != __name__.partition(".")[0]
