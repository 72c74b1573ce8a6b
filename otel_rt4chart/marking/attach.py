"""Our exporter put around those of a provider that is set up, and taken off again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from opentelemetry.sdk.trace import SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import SpanExporter

from otel_rt4chart.core.guard import LOG
from otel_rt4chart.marking.exporter import Change, MarkingExporter

DEEPEST = 5
# Where processors keep what they hand spans to. The SDK has no public way to an exporter that is
# in place; these names are those of SDK 1.44 and 1.45 and of processors around processors.
PROCESSORS = ("_batch_processor", "processor", "_processor", "_delegate", "wrapped")
EXPORTERS = ("_exporter", "span_exporter", "_span_exporter", "exporter")


class Attached:
    """What stands around a provider's exporters; processors that are added later are found too."""

    def __init__(
        self, provider: TracerProvider, change: Change | None, *, hides: bool = False
    ) -> None:
        """Nothing is attached until `look`, or ever without a `change`.

        `hides` says that `change` redacts.
        """
        self._provider = provider
        self._change = change
        self._hides = hides
        self.known: tuple[SpanProcessor, ...] = ()
        self._places: list[tuple[object, str, MarkingExporter]] = []

    @property
    def count(self) -> int:
        """How many exporters ours stands around."""
        return len(self._places)

    def look(self) -> None:
        """Attach to what is new; costs a comparison where nothing is."""
        processors, known = _processors(self._provider), self.known
        if processors is known:
            return
        for holder, name, inner in _exporters(processors):
            if self._change is None or isinstance(inner, MarkingExporter):
                continue
            ours = MarkingExporter(inner, self._change, hides=self._hides)
            setattr(holder, name, ours)
            self._places.append((holder, name, ours))
        # Last: until then another thread must not take the new exporter for one of ours.
        self.known = processors
        if self._hides:
            _tell_of_hidden([one for one in processors if one not in known])

    def detach(self) -> None:
        """Put back what stood there; one that is held elsewhere too lets everything pass."""
        for holder, name, ours in self._places:
            ours.is_on = False
            if getattr(holder, name, None) is ours:
                setattr(holder, name, ours.inner)
        self._places.clear()


def put_first(provider: TracerProvider, processor: SpanProcessor) -> None:
    """Add a processor that is shut down while those that export still take spans.

    The SDK shuts them down in the order in which they were added, and adds at the end alone.
    """
    provider.add_span_processor(processor)
    _order(provider, lambda found: (processor, *(one for one in found if one is not processor)))


def remove(provider: TracerProvider, processor: SpanProcessor) -> None:
    """Take a processor out again, which the SDK has no public way for."""
    _order(provider, lambda found: tuple(one for one in found if one is not processor))


def _order(
    provider: TracerProvider,
    change: Callable[[tuple[SpanProcessor, ...]], tuple[SpanProcessor, ...]],
) -> None:
    multi = getattr(provider, "_active_span_processor", None)
    lock = getattr(multi, "_lock", None)
    if multi is not None and lock is not None:
        with lock:
            multi._span_processors = change(_processors(provider))


def _processors(provider: TracerProvider) -> tuple[SpanProcessor, ...]:
    multi = getattr(provider, "_active_span_processor", None)
    found = getattr(multi, "_span_processors", ())
    return found if isinstance(found, tuple) else ()


def _exporters(
    holders: tuple[object, ...], depth: int = 0
) -> Iterator[tuple[object, str, SpanExporter]]:
    """Each exporter with the object and the name that hold it, once; ours among them."""
    for holder in holders:
        held = vars(holder) if hasattr(holder, "__dict__") else {}
        for name in EXPORTERS:
            # By what it can do: exporters need not be of the SDK's class.
            if callable(getattr(held.get(name), "export", None)):
                yield holder, name, held[name]
        inner = _within(holder)
        if depth < DEEPEST and inner:
            yield from _exporters(inner, depth + 1)


def _within(holder: object) -> tuple[object, ...]:
    """The processors that one hands its spans to."""
    held = vars(holder) if hasattr(holder, "__dict__") else {}
    named = (held[name] for name in PROCESSORS if held.get(name) is not None)
    return (*named, *held.get("_span_processors", ()))


def _tell_of_hidden(processors: Iterable[object], depth: int = 0) -> None:
    """Name in the log those that take ended spans to where no exporter is found."""
    for one in processors:
        if inner := _within(one):
            if depth < DEEPEST:
                _tell_of_hidden(inner, depth + 1)
        elif _may_export(one) and not any(_exporters((one,))):
            LOG.warning(
                "what %s may send is not redacted: expected an exporter in one of its attributes "
                "%s, found none; redact there, or hand its spans to an SDK processor",
                type(one).__qualname__,
                ", ".join(EXPORTERS),
            )


def _may_export(processor: object) -> bool:
    kind = type(processor)
    takes = getattr(kind, "on_end", None) is not SpanProcessor.on_end
    return takes and kind.__module__.partition(".")[0] != __name__.partition(".")[0]
