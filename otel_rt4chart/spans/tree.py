"""The spans of one trace as a tree: what lies above a span, and which turn it belongs to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from otel_rt4chart.spans.read import view
from otel_rt4chart.spans.record import SpanRecord
from otel_rt4chart.spans.view import View

TURN_KINDS = ("CHAIN", "AGENT")


class Tree:
    """Views of a trace's spans, in the order of time; duplicates by id count once."""

    def __init__(self, spans: Sequence[SpanRecord]) -> None:
        """Neither the order of the spans nor an unknown parent matters."""
        # Of two versions of a span the fuller one is kept, whichever came first.
        kept = sorted(spans, key=lambda span: (span.end_ns, len(span.attributes)))
        unique = {span.span_id: span for span in kept}.values()
        ordered = sorted(unique, key=lambda span: (span.start_ns, span.end_ns, span.span_id))
        self._views = {span.span_id: view(span) for span in ordered}
        self._turns = {name: self._turn(one) for name, one in self._views.items()}

    def __iter__(self) -> Iterator[View]:
        """The views, the earliest first."""
        return iter(self._views.values())

    def above(self, one: View) -> Iterator[View]:
        """The known spans above, the nearest first; a loop of parents ends where it began."""
        seen = {one.span.span_id}
        while (parent := self._views.get(one.span.parent_span_id)) and (
            parent.span.span_id not in seen
        ):
            yield parent
            seen.add(parent.span.span_id)
            one = parent

    def is_under(self, one: View, kinds: Sequence[str]) -> bool:
        """True where a span above is of one of the kinds."""
        return any(parent.kind in kinds for parent in self.above(one))

    def root(self, one: View) -> View:
        """The outermost known span above, or the span itself."""
        return [one, *self.above(one)][-1]

    def turn(self, one: View) -> View:
        """The span of the request that this one serves: the outermost chain or agent.

        One trace may hold many requests, such as those of a batch under a span of its own.
        Without a chain or agent it is the outermost known span.
        """
        return self._turns[one.span.span_id]

    def _turn(self, one: View) -> View:
        line = [one, *self.above(one)]
        return next((span for span in reversed(line) if span.kind in TURN_KINDS), line[-1])
